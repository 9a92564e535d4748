// Package draw holds the random choices of benchmarks: a source whose numbers
// are fixed by its seed, distributions over 1..n, and orders of all of 1..n. The
// same seed gives the same choices on every target and machine.
package draw

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// Source is the source of the choices of one session: PCG-DXSM, whose output for
// a seed is fixed by its definition. Not safe for concurrent use.
type Source struct{ pcg rand.PCG }

// Reseed starts the sequence that belongs to seed.
func (r *Source) Reseed(seed uint64) { r.pcg.Seed(seed, Mix(seed)) }

// Uint64 gives a uniform word.
func (r *Source) Uint64() uint64 { return r.pcg.Uint64() }

// UpTo gives a uniform integer in 1..n. Taking the high word of a product is off
// by at most n/2^64, which no test of any length could see.
func (r *Source) UpTo(n uint64) int64 {
	high, _ := bits.Mul64(r.pcg.Uint64(), n)
	return int64(high) + 1
}

// Unit gives a uniform number in [0, 1).
func (r *Source) Unit() float64 { return float64(r.pcg.Uint64()>>11) * 0x1p-53 }

// Distribution draws from 1..n.
type Distribution func(r *Source) int64

// Uniform draws each of 1..n alike.
func Uniform(n int) Distribution {
	return func(r *Source) int64 { return r.UpTo(uint64(n)) }
}

// Gaussian draws around the middle: the mean of 12 uniform draws. It, Pareto and
// Special are sysbench's (src/sb_rand.c of version 1.0.20).
func Gaussian(n int) Distribution {
	return func(r *Source) int64 { return 1 + int64(r.gaussian()*float64(n)) }
}

// Pareto has 1-h of all draws in the lowest h of the range, and so on within that,
// 0 < h < 1; sysbench's h is 0.2.
func Pareto(n int, h float64) Distribution {
	power := math.Log(h) / math.Log(1-h)
	return func(r *Source) int64 { return 1 + int64(math.Pow(r.Unit(), power)*float64(n)) }
}

// Special has three quarters of all draws in the middle hundredth, the rest gaussian.
func Special(n int) Distribution {
	return func(r *Source) int64 { return 1 + int64(r.special(float64(n-1))) }
}

// Zipf draws x with probability proportional to x^-theta, theta > 0.
func Zipf(n int, theta float64) Distribution {
	z := newZipf(n, theta)
	return z.draw
}

// gaussian gives the mean of 12 uniform numbers in [0, 1).
func (r *Source) gaussian() float64 {
	sum := 0.0
	for range 12 {
		sum += r.Unit()
	}
	return sum / 12
}

// special gives a number in [0, width]: gaussian in a quarter of all draws. In the
// others the same uniform number is mapped to the hundredth in the middle, of which
// it never reaches the lowest quarter.
func (r *Source) special(width float64) float64 {
	const gaussians, middle = 0.25, 0.01
	u := r.Unit()
	if u < gaussians {
		return r.gaussian() * width
	}
	return math.Floor(u*(width*middle+1) + width*(1-middle)/2)
}

// zipf draws from 1..n with probability proportional to x^-theta by
// rejection-inversion: W. Hörmann and G. Derflinger, "Rejection-inversion to
// generate variates from monotone discrete distributions", ACM TOMACS 6(3), 1996.
// The names are those of the paper: h(x) = x^-theta, H its antiderivative.
type zipf struct {
	n           int64
	theta       float64
	exponent    float64 // 1 - theta
	power       int     // 1/exponent where that is a small whole number, as for 0.8 and 0.5; else 0
	first, last float64 // H(1.5) - h(1), H(n + 0.5)
	shortcut    float64 // x this near above k is accepted without computing H
}

// nearOne is how near to 1 theta may be before powers of 1-theta lose their digits;
// the logarithm that they tend to is then nearer.
const nearOne = 1e-7

func newZipf(n int, theta float64) zipf {
	if math.Abs(theta-1) < nearOne {
		theta = 1
	}
	z := zipf{n: int64(n), theta: theta, exponent: 1 - theta}
	if power := math.Round(1 / z.exponent); power >= 1 && power <= 8 && math.Abs(power*z.exponent-1) < 1e-12 {
		z.power = int(power)
	}
	z.first = z.antiderivative(1.5) - 1
	z.last = z.antiderivative(float64(n) + 0.5)
	z.shortcut = 2 - z.inverse(z.antiderivative(2.5)-math.Pow(2, -theta))
	return z
}

func (z *zipf) antiderivative(x float64) float64 {
	if z.exponent == 0 {
		return math.Log(x)
	}
	return math.Pow(x, z.exponent) / z.exponent
}

// inverse is the inverse function of antiderivative.
func (z *zipf) inverse(y float64) float64 {
	if z.exponent == 0 {
		return math.Exp(y)
	}
	base := y * z.exponent
	if z.power == 0 {
		return math.Pow(base, 1/z.exponent)
	}
	x := base
	for range z.power - 1 { // a quarter of the time of math.Pow
		x *= base
	}
	return x
}

func (z *zipf) draw(r *Source) int64 {
	for {
		u := z.last + r.Unit()*(z.first-z.last)
		x := z.inverse(u)
		k := min(max(int64(x+0.5), 1), z.n)
		if float64(k)-x <= z.shortcut {
			return k
		}
		if u >= z.antiderivative(float64(k)+0.5)-math.Pow(float64(k), -z.theta) {
			return k
		}
	}
}

// Permutation is a random order of 0..n-1 that needs no memory: a Feistel network
// of four rounds over the next even number of bits, walked until it is below n
// (J. Black and P. Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002).
type Permutation struct {
	n    uint64
	half uint   // bits of a half
	mask uint64 // of a half
	keys [4]uint64
}

// NewPermutation gives the order of 0..n-1 that belongs to seed; n is at least 1.
func NewPermutation(n, seed uint64) Permutation {
	half := uint(max(1, (bits.Len64(n-1)+1)/2))
	p := Permutation{n: n, half: half, mask: 1<<half - 1}
	for round := range p.keys {
		p.keys[round] = Mix(seed + uint64(round+1)*Golden)
	}
	return p
}

// Len is n.
func (p *Permutation) Len() uint64 { return p.n }

// At gives the i-th of the order, i < Len.
func (p *Permutation) At(i uint64) uint64 {
	for {
		left, right := i>>p.half, i&p.mask
		for _, key := range p.keys {
			left, right = right, left^(Mix(right^key)&p.mask)
		}
		i = left<<p.half | right
		if i < p.n {
			return i
		}
	}
}

// Golden is 2^64 divided by the golden ratio, the increment of SplitMix64.
const Golden = 0x9e3779b97f4a7c15

// Mix is the output function of SplitMix64: G. L. Steele, D. Lea, C. H. Flood,
// "Fast splittable pseudorandom number generators", OOPSLA 2014.
func Mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
