package workload

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// random is the source of the keys of one session: PCG-DXSM, whose output for a
// seed is fixed by its definition. Not safe for concurrent use.
type random struct{ pcg rand.PCG }

func (r *random) reseed(seed uint64) { r.pcg.Seed(seed, mix(seed)) }

// upTo gives a uniform integer in 1..n. Taking the high word of a product is off
// by at most n/2^64, which no test of any length could see.
func (r *random) upTo(n uint64) int64 {
	high, _ := bits.Mul64(r.pcg.Uint64(), n)
	return int64(high) + 1
}

// unit gives a uniform number in [0, 1).
func (r *random) unit() float64 { return float64(r.pcg.Uint64()>>11) * 0x1p-53 }

// distribution draws from 1..n.
type distribution func(r *random) int64

// newDistribution gives that of keys over 1..n; uniform for those that are none.
// Gaussian, Pareto and Special are sysbench's, with its default parameters
// (src/sb_rand.c of version 1.0.20).
func newDistribution(keys Keys, n int) distribution {
	size := float64(n)
	switch keys {
	case First:
		return func(*random) int64 { return 1 }
	case Zipf:
		z := newZipf(n)
		return z.draw
	case Gaussian:
		return func(r *random) int64 { return 1 + int64(r.gaussian()*size) }
	case Pareto:
		// h of all draws lie in the upper 1-h of the range, h = 0.2.
		power := math.Log(0.2) / math.Log(0.8)
		return func(r *random) int64 { return 1 + int64(math.Pow(r.unit(), power)*size) }
	case Special:
		return func(r *random) int64 { return 1 + int64(r.special(size-1)) }
	default:
		return func(r *random) int64 { return r.upTo(uint64(n)) }
	}
}

// gaussian gives the mean of 12 uniform numbers in [0, 1).
func (r *random) gaussian() float64 {
	sum := 0.0
	for range 12 {
		sum += r.unit()
	}
	return sum / 12
}

// special gives a number in [0, width]: gaussian in a quarter of all draws. In the
// others the same uniform number is mapped to the hundredth in the middle, of which
// it never reaches the lowest quarter.
func (r *random) special(width float64) float64 {
	const gaussians, middle = 0.25, 0.01
	u := r.unit()
	if u < gaussians {
		return r.gaussian() * width
	}
	return math.Floor(u*(width*middle+1) + width*(1-middle)/2)
}

// zipfTheta is the exponent of the published update-zipf.
const zipfTheta = 0.8

// zipf draws from 1..n with probability proportional to x^-theta, 0 < theta < 1,
// by rejection-inversion: W. Hörmann and G. Derflinger, "Rejection-inversion to
// generate variates from monotone discrete distributions", ACM TOMACS 6(3), 1996.
// The names are those of the paper: h(x) = x^-theta, H its antiderivative.
type zipf struct {
	n           int64
	exponent    float64 // 1 - theta
	first, last float64 // H(1.5) - h(1), H(n + 0.5)
	shortcut    float64 // x this near above k is accepted without computing H
}

func newZipf(n int) zipf {
	z := zipf{n: int64(n), exponent: 1 - zipfTheta}
	z.first = z.antiderivative(1.5) - 1
	z.last = z.antiderivative(float64(n) + 0.5)
	z.shortcut = 2 - z.inverse(z.antiderivative(2.5)-math.Pow(2, -zipfTheta))
	return z
}

func (z *zipf) antiderivative(x float64) float64 { return math.Pow(x, z.exponent) / z.exponent }

// inverse is the inverse function of antiderivative.
func (z *zipf) inverse(y float64) float64 { return math.Pow(y*z.exponent, 1/z.exponent) }

func (z *zipf) draw(r *random) int64 {
	for {
		u := z.last + r.unit()*(z.first-z.last)
		x := z.inverse(u)
		k := min(max(int64(x+0.5), 1), z.n)
		if float64(k)-x <= z.shortcut {
			return k
		}
		if u >= z.antiderivative(float64(k)+0.5)-math.Pow(float64(k), -zipfTheta) {
			return k
		}
	}
}

// permutation is a random order of 0..n-1 that needs no memory: a Feistel network
// of four rounds over the next even number of bits, walked until it is below n
// (J. Black and P. Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002).
type permutation struct {
	n    uint64
	half uint   // bits of a half
	mask uint64 // of a half
	keys [4]uint64
}

func newPermutation(n, seed uint64) permutation {
	half := uint(max(1, (bits.Len64(n-1)+1)/2))
	p := permutation{n: n, half: half, mask: 1<<half - 1}
	for round := range p.keys {
		p.keys[round] = mix(seed + uint64(round+1)*golden)
	}
	return p
}

func (p *permutation) at(i uint64) uint64 {
	for {
		left, right := i>>p.half, i&p.mask
		for _, key := range p.keys {
			left, right = right, left^(mix(right^key)&p.mask)
		}
		i = left<<p.half | right
		if i < p.n {
			return i
		}
	}
}

// golden is 2^64 divided by the golden ratio, the increment of SplitMix64.
const golden = 0x9e3779b97f4a7c15

// mix is the output function of SplitMix64: G. L. Steele, D. Lea, C. H. Flood,
// "Fast splittable pseudorandom number generators", OOPSLA 2014.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
