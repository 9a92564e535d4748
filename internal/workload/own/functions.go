package own

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/workload/draw"
)

// function is one of pgbench's.
type function struct {
	least, most int // arguments
	kind        func(args []kind) kind
	apply       func(s *session, args []value) (value, error)
}

func (f function) count() string {
	switch {
	case f.least == 1 && f.most == 1:
		return "1 argument"
	case f.least == f.most:
		return fmt.Sprintf("%d arguments", f.least)
	case f.most == manyArguments:
		return fmt.Sprintf("%d arguments or more", f.least)
	}
	return fmt.Sprintf("%d to %d arguments", f.least, f.most)
}

const manyArguments = 16

func didYouMean[T any](name string, of map[string]T) string {
	return dbcanary.DidYouMean(name, slices.Sorted(maps.Keys(of)))
}

func always(k kind) func([]kind) kind { return func([]kind) kind { return k } }

func sameAs(args []kind) kind {
	k := args[0]
	for _, arg := range args[1:] {
		k = arithmeticKind(k, arg)
	}
	return k
}

// functions are pgbench's functions by name.
func functions() map[string]function {
	ofDouble := func(f func(float64) float64) function {
		return function{1, 1, always(double), func(_ *session, args []value) (value, error) {
			x, err := args[0].number()
			return doubleValue(f(x)), err
		}}
	}
	power := function{2, 2, always(double), func(_ *session, args []value) (value, error) {
		x, err := args[0].number()
		if err != nil {
			return value{}, err
		}
		y, err := args[1].number()
		return doubleValue(math.Pow(x, y)), err
	}}
	murmur := hashFunction(murmur2)
	return map[string]function{
		"abs": {1, 1, sameAs, func(_ *session, args []value) (value, error) {
			if args[0].kind == integer {
				return integerValue(max(args[0].integer, -args[0].integer)), nil
			}
			x, err := args[0].number()
			return doubleValue(math.Abs(x)), err
		}},
		"debug": {1, 1, sameAs, func(_ *session, args []value) (value, error) { return args[0], nil }},
		"double": {1, 1, always(double), func(_ *session, args []value) (value, error) {
			x, err := args[0].number()
			return doubleValue(x), err
		}},
		"int": {1, 1, always(integer), func(_ *session, args []value) (value, error) {
			n, err := args[0].whole()
			return integerValue(n), err
		}},
		"exp": ofDouble(math.Exp), "ln": ofDouble(math.Log), "sqrt": ofDouble(math.Sqrt),
		"pi":    {0, 0, always(double), func(*session, []value) (value, error) { return doubleValue(math.Pi), nil }},
		"pow":   power,
		"power": power,
		"mod": {2, 2, always(integer), func(_ *session, args []value) (value, error) {
			return arithmetic("%", args[0], args[1])
		}},
		"greatest": {1, manyArguments, sameAs, extreme(">")}, "least": {1, manyArguments, sameAs, extreme("<")},
		"hash": murmur, "hash_murmur2": murmur, "hash_fnv1a": hashFunction(fnv1a),
		"permute":            {2, 3, always(integer), permute},
		"random":             {2, 2, always(integer), randomUniform},
		"random_gaussian":    {3, 3, always(integer), randomGaussian},
		"random_exponential": {3, 3, always(integer), randomExponential},
		"random_zipfian":     {3, 3, always(integer), randomZipfian},
	}
}

func extreme(operator string) func(*session, []value) (value, error) {
	return func(_ *session, args []value) (value, error) {
		best := args[0]
		for _, arg := range args[1:] {
			better, err := compare(operator, arg, best)
			if err != nil {
				return best, err
			}
			if better.integer != 0 {
				best = arg
			}
		}
		if slices.ContainsFunc(args, func(v value) bool { return v.kind == double }) && best.kind == integer {
			best = doubleValue(float64(best.integer))
		}
		return best, nil
	}
}

func hashFunction(hash func(n, seed uint64) uint64) function {
	return function{1, 2, always(integer), func(s *session, args []value) (value, error) {
		n, err := args[0].whole()
		if err != nil {
			return value{}, err
		}
		seed, err := s.seedOf(args[1:])
		return integerValue(int64(hash(uint64(n), seed))), err
	}}
}

// seedOf is the seed that is given, or :default_seed.
func (s *session) seedOf(args []value) (uint64, error) {
	if len(args) == 0 {
		return uint64(s.vars[s.program.slots["default_seed"]].integer), nil
	}
	seed, err := args[0].whole()
	return uint64(seed), err
}

// fnv1a is FNV-1a over the bytes of n, the lowest first.
func fnv1a(n, seed uint64) uint64 {
	const offset, prime = 0xcbf29ce484222325, 0x100000001b3
	hash := uint64(offset) ^ seed
	for range 8 {
		hash = (hash ^ n&0xff) * prime
		n >>= 8
	}
	return hash
}

// murmur2 is A. Appleby's MurmurHash64A of the 8 bytes of n.
func murmur2(n, seed uint64) uint64 {
	const multiplier, shift = uint64(0xc6a4a7935bd1e995), 47
	size := uint64(8)
	n *= multiplier
	n ^= n >> shift
	n *= multiplier
	hash := seed ^ size*multiplier ^ n
	hash *= multiplier
	hash ^= hash >> shift
	hash *= multiplier
	return hash ^ hash>>shift
}

// permute gives a place in a random order of 0..size-1 that belongs to the seed; the
// order is another one than pgbench's.
func permute(s *session, args []value) (value, error) {
	n, err := args[0].whole()
	if err != nil {
		return value{}, err
	}
	size, err := args[1].whole()
	if err != nil {
		return value{}, err
	}
	if size < 1 {
		return value{}, fmt.Errorf("permute: the size %d is not above 0", size)
	}
	seed, err := s.seedOf(args[2:])
	order := draw.NewPermutation(uint64(size), seed)
	return integerValue(int64(order.At(uint64((n%size + size) % size)))), err
}

// span reads the bounds of a random function.
func span(args []value) (low int64, width uint64, err error) {
	low, err = args[0].whole()
	if err != nil {
		return 0, 0, err
	}
	high, err := args[1].whole()
	if err == nil && low > high {
		err = fmt.Errorf("random: the lower bound %d is above the upper one, %d", low, high)
	}
	width = uint64(high) - uint64(low) + 1
	if err == nil && (width == 0 || width > math.MaxInt64) {
		err = fmt.Errorf("random: the bounds %d and %d are too far apart", low, high)
	}
	return low, width, err
}

func randomUniform(s *session, args []value) (value, error) {
	low, width, err := span(args)
	if err != nil {
		return value{}, err
	}
	return integerValue(low - 1 + s.random.UpTo(width)), nil
}

// parameter reads the third argument of a random function.
func parameter(name string, args []value, least float64) (float64, error) {
	p, err := args[2].number()
	if err == nil && (!(p >= least) || math.IsInf(p, 0)) {
		err = fmt.Errorf("%s: the parameter %g is below %g, or endless", name, p, least)
	}
	return p, err
}

// randomGaussian draws around the middle of the span; the parameter is how many
// standard deviations lie between the middle and the ends.
func randomGaussian(s *session, args []value) (value, error) {
	low, width, err := span(args)
	if err != nil {
		return value{}, err
	}
	p, err := parameter("random_gaussian", args, 2)
	if err != nil {
		return value{}, err
	}
	deviation := p
	for !(deviation >= -p && deviation < p) { // Box-Muller
		deviation = math.Sqrt(-2*math.Log(1-s.random.Unit())) * math.Sin(2*math.Pi*s.random.Unit())
	}
	return integerValue(low + part((deviation+p)/(2*p), width)), nil
}

// part is the place in a span of a fraction of it.
func part(fraction float64, width uint64) int64 {
	return min(int64(fraction*float64(width)), int64(width-1))
}

// randomExponential draws low numbers more often, cut off where the density has
// fallen to e to the minus parameter.
func randomExponential(s *session, args []value) (value, error) {
	low, width, err := span(args)
	if err != nil {
		return value{}, err
	}
	p, err := parameter("random_exponential", args, math.SmallestNonzeroFloat64)
	if err != nil {
		return value{}, err
	}
	cut := math.Exp(-p)
	fraction := -math.Log(cut+(1-cut)*(1-s.random.Unit())) / p
	return integerValue(low + part(fraction, width)), nil
}

type zipfKey struct {
	width uint64
	theta float64
}

// randomZipfian draws the n-th number of the span in proportion to n to the minus parameter.
func randomZipfian(s *session, args []value) (value, error) {
	low, width, err := span(args)
	if err != nil {
		return value{}, err
	}
	p, err := parameter("random_zipfian", args, 1.001)
	if err == nil && p > 1000 {
		err = fmt.Errorf("random_zipfian: the parameter %g is above 1000", p)
	}
	if err != nil {
		return value{}, err
	}
	key := zipfKey{width, p}
	distribution, ok := s.zipf[key]
	if !ok {
		distribution = draw.Zipf(int(width), p)
		s.zipf[key] = distribution
	}
	return integerValue(low - 1 + distribution(&s.random)), nil
}
