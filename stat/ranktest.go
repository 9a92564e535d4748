package stat

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

const (
	exactSignedRank = 200 // values up to which the signed-rank distribution is computed exactly
	exactSignFlip   = 16  // values up to which all sign patterns are tried
	exactSplits     = 20000
)

// SignedRank gives Wilcoxon's signed-rank test of "the values are symmetric
// around 0"; the statistic is the sum of the ranks of the positive values
// (Wilcoxon (1945), "Individual Comparisons by Ranking Methods"). Zeros are
// dropped as Wilcoxon did; ties get mid-ranks. Up to 200 values the p is exact,
// with ties too: the distribution over all sign patterns of the ranks at hand.
// Above, the normal approximation with tie and continuity correction.
func SignedRank(x []float64, level float64) Test {
	const assumption = "independent values, symmetric distribution"
	values, warnings := finiteOrWarn(x)
	kept := slices.DeleteFunc(values, func(v float64) bool { return v == 0 })
	if len(kept) < len(values) {
		warnings = append(warnings, warnZeros)
	}
	n := len(kept)
	test := Test{P: 1, MinP: 1, Level: level, N: n, Exact: true, Assumption: assumption, Warnings: warnings}
	if n == 0 {
		test.Statistic = math.NaN()
		test.Warnings = append(test.Warnings, warnNone)
		return test
	}
	doubled, ties := midRanks(kept)
	observed := 0
	for i, rank := range doubled {
		if kept[i] > 0 {
			observed += rank
		}
	}
	test.Statistic = float64(observed) / 2
	if ties > 0 {
		test.Warnings = append(test.Warnings, warnTies)
	}
	if n <= exactSignedRank {
		probabilities := subsetSums(doubled)
		test.P = twoSided(probabilities, observed)
		test.MinP = min(1, 2*probabilities[0])
	} else {
		size := float64(n)
		test.Exact = false
		sd := math.Sqrt(size*(size+1)*(2*size+1)/24 - ties/48)
		distance := max(0, math.Abs(test.Statistic-size*(size+1)/4)-0.5)
		test.P = min(1, 2*distuv.UnitNormal.Survival(distance/sd))
		test.MinP = 0
	}
	return warnMinP(test)
}

func warnMinP(test Test) Test {
	if !validLevel(test.Level) {
		test.Warnings = append(test.Warnings, warnLevel)
	} else if test.MinP > 1-test.Level {
		test.Warnings = append(test.Warnings, warnMinimumP)
	}
	return test
}

// midRanks gives twice the mid-rank of every |value|, which is an integer, and
// the sum of t^3-t over groups of t ties.
func midRanks(values []float64) (doubled []int, ties float64) {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch x, y := math.Abs(values[a]), math.Abs(values[b]); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	doubled = make([]int, len(values))
	for start := 0; start < len(order); {
		end := start + 1
		for end < len(order) && math.Abs(values[order[end]]) == math.Abs(values[order[start]]) {
			end++
		}
		for _, i := range order[start:end] {
			doubled[i] = start + 1 + end
		}
		size := float64(end - start)
		ties += size*size*size - size
		start = end
	}
	return doubled, ties
}

// subsetSums gives the probability of each sum when every part is taken or left
// with probability 1/2.
func subsetSums(parts []int) []float64 {
	total := 0
	for _, part := range parts {
		total += part
	}
	probabilities := make([]float64, total+1)
	probabilities[0] = 1
	reached := 0
	for _, part := range parts {
		reached += part
		for sum := reached; sum >= 0; sum-- {
			probability := probabilities[sum] / 2
			if sum >= part {
				probability += probabilities[sum-part] / 2
			}
			probabilities[sum] = probability
		}
	}
	return probabilities
}

func twoSided(probabilities []float64, observed int) float64 {
	below, above := 0.0, 0.0
	for sum, probability := range probabilities {
		if sum <= observed {
			below += probability
		}
		if sum >= observed {
			above += probability
		}
	}
	return min(1, 2*min(below, above))
}

// SignFlip gives the permutation test of "the values are symmetric around 0" on
// the mean: how many of the 2^n patterns of signs give a mean at least as far
// from 0 (Fisher (1935), "The Design of Experiments", section 21). Up to 16
// values all patterns are tried; above, as many random ones as given (10,000
// for fewer than one), with p = (hits+1)/(patterns+1) of Phipson and Smyth
// (2010), "Permutation P-values Should Never Be Zero".
func SignFlip(x []float64, level float64, patterns int, seed uint64) Test {
	const assumption = "independent values, symmetric distribution"
	values, warnings := finiteOrWarn(x)
	n := len(values)
	test := Test{Statistic: Mean(values), P: 1, MinP: 1, Level: level, N: n, Exact: true, Assumption: assumption, Warnings: warnings}
	if n == 0 {
		test.Warnings = append(test.Warnings, warnNone)
		return test
	}
	observed := math.Abs(sumOf(values)) * (1 - 1e-12)
	hits, tried := 0, 1<<min(n, exactSignFlip)
	if n <= exactSignFlip {
		for pattern := range tried {
			sum := 0.0
			for i, value := range values {
				if pattern>>i&1 == 1 {
					value = -value
				}
				sum += value
			}
			if math.Abs(sum) >= observed {
				hits++
			}
		}
		test.P, test.MinP = float64(hits)/float64(tried), min(1, 2/float64(tried))
		return warnMinP(test)
	}
	if patterns < 1 {
		patterns = 10000
	}
	random := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	for range patterns {
		sum, bits := 0.0, uint64(0)
		for i, value := range values {
			if i%64 == 0 {
				bits = random.Uint64()
			}
			if bits>>(i%64)&1 == 1 {
				value = -value
			}
			sum += value
		}
		if math.Abs(sum) >= observed {
			hits++
		}
	}
	test.Exact = false
	test.P, test.MinP = float64(hits+1)/float64(patterns+1), 1/float64(patterns+1)
	return warnMinP(test)
}

func sumOf(values []float64) float64 {
	sum := 0.0
	for _, value := range values {
		sum += value
	}
	return sum
}

// Permutation gives the two-sample permutation test of "x and y come from one
// distribution" on the difference of the means, mean(x)-mean(y). All splits are
// tried if there are at most 20,000, else as many random ones as given (10,000
// for fewer than one) with p = (hits+1)/(splits+1). N counts both samples. An
// empty sample gives p = 1.
func Permutation(x, y []float64, level float64, splits int, seed uint64) Test {
	const assumption = "exchangeable values"
	first, warnings := finiteOrWarn(x)
	second, more := finiteOrWarn(y)
	if len(warnings) == 0 {
		warnings = more
	}
	all := slices.Concat(first, second)
	n, k := len(all), len(first)
	test := Test{
		Statistic: Mean(first) - Mean(second), P: 1, MinP: 1, Level: level,
		N: n, Exact: true, Assumption: assumption, Warnings: warnings,
	}
	if k == 0 || k == n {
		test.Warnings = append(test.Warnings, warnNone)
		return test
	}
	total := sumOf(all)
	// The mean difference is a rising function of the sum of the first sample.
	center := total * float64(k) / float64(n)
	observed := math.Abs(sumOf(first)-center)*(1-1e-12) - 1e-300
	if count := combinations(n, k); count <= exactSplits {
		hits := 0
		visitSums(all, k, 0, func(sum float64) {
			if math.Abs(sum-center) >= observed {
				hits++
			}
		})
		test.P, test.MinP = float64(hits)/float64(count), 1/float64(count)
		if 2*k == n {
			test.MinP *= 2
		}
		return warnMinP(test)
	}
	if splits < 1 {
		splits = 10000
	}
	random, hits := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)), 0
	for range splits {
		sum := 0.0
		for i := range k {
			j := i + random.IntN(n-i)
			all[i], all[j] = all[j], all[i]
			sum += all[i]
		}
		if math.Abs(sum-center) >= observed {
			hits++
		}
	}
	test.Exact = false
	test.P, test.MinP = float64(hits+1)/float64(splits+1), 1/float64(splits+1)
	return warnMinP(test)
}

// combinations gives n over k, or a number above exactSplits if it is large.
func combinations(n, k int) int {
	count := 1
	for i := 1; i <= min(k, n-k); i++ {
		count = count * (n - i + 1) / i
		if count > exactSplits {
			return exactSplits + 1
		}
	}
	return count
}

// visitSums calls visit with the sum of every subset of k values.
func visitSums(values []float64, k int, sum float64, visit func(float64)) {
	if k == 0 {
		visit(sum)
		return
	}
	for i := 0; i+k <= len(values); i++ {
		visitSums(values[i+1:], k-1, sum+values[i], visit)
	}
}
