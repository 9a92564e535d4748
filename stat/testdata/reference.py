#!/usr/bin/env python3
"""Makes reference.json: what SciPy gives for the same input.

    apt-get install python3-scipy
    /usr/bin/python3 reference.py > reference.json
"""
import itertools, json, math
import numpy as np, scipy
from scipy import stats

X = {
    "small": [0.011, -0.004, 0.023, 0.017, 0.002, 0.031, -0.009, 0.014],
    "five": [-0.031, -0.012, -0.044, -0.020, -0.007],
    "ties": [1.0, -1.0, 2.0, 2.0, 3.0, -2.0, 4.0, 4.0, 0.0],
    "twelve": [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30, -0.34, -1.2, 0.77],
}
Y = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
out = {"scipy": scipy.__version__, "numpy": np.__version__, "samples": X, "other": Y, "one": {}}

def signed_rank(x):
    """Exact two-sided p over all sign patterns of the mid-ranks, zeros dropped."""
    x = [v for v in x if v != 0]
    r = stats.rankdata(np.abs(x))
    w = sum(r[i] for i in range(len(x)) if x[i] > 0)
    sums = [sum(r[i] for i in range(len(x)) if s[i]) for s in itertools.product((0, 1), repeat=len(x))]
    lo = np.mean([s <= w + 1e-9 for s in sums]); hi = np.mean([s >= w - 1e-9 for s in sums])
    return w, min(1, 2 * min(lo, hi))

for name, x in X.items():
    x = np.array(x); n = len(x)
    walsh = sorted((x[i] + x[j]) / 2 for i in range(n) for j in range(i, n))
    t = stats.ttest_1samp(x, 0)
    ci = t.confidence_interval(0.95) if hasattr(t, "confidence_interval") else stats.t.interval(0.95, n - 1, x.mean(), stats.sem(x))
    w, p = signed_rank(x)
    entry = {
        "mean": x.mean(), "variance": x.var(ddof=1), "median": np.median(x), "q30": np.quantile(x, 0.3),
        "mad": stats.median_abs_deviation(x, scale="normal"), "hl": np.median(walsh),
        "t_p": t.pvalue, "t_low": ci[0], "t_high": ci[1], "w": w, "w_p": p,
        "flip_p": stats.permutation_test((x,), lambda v: v.mean(), permutation_type="samples", n_resamples=np.inf).pvalue,
        "tost_p": max(stats.ttest_1samp(x, -0.02, alternative="greater").pvalue, stats.ttest_1samp(x, 0.02, alternative="less").pvalue),
    }
    if len(set(np.abs(x))) == n and 0 not in x:
        assert abs(stats.wilcoxon(x, mode="exact").pvalue - p) < 1e-12
    out["one"][name] = entry

out["permutation_p"] = stats.permutation_test((X["five"], X["small"]), lambda a, b: abs(np.mean(a) - np.mean(b)),
                                               n_resamples=np.inf, alternative="greater").pvalue
out["p"] = [0.01, 0.04, 0.03, 0.005, 0.2, 0.04]

def power(effect, sd, n, alpha, df):
    c = stats.t.ppf(1 - alpha / 2, df); nc = effect * math.sqrt(n) / sd
    return float(1 - stats.nct.cdf(c, df, nc) + stats.nct.cdf(-c, df, nc))
out["power"] = [dict(effect=e, sd=s, n=n, alpha=a, df=df, power=power(e, s, n, a, df))
                for e, s, n, a, df in [(0.03, 0.02, 5, 0.05, 4), (0.03, 0.02, 10, 0.05, 9), (0.02, 0.02, 10, 0.0015625, 200),
                                       (0.05, 0.02, 3, 0.05, 2), (0.05, 0.02, 2, 0.05, 1), (0.01, 0.02, 20, 0.05, 19)]]
out["t"] = [dict(p=p, df=df, q=float(stats.t.ppf(p, df))) for p in (0.975, 0.999, 0.99998) for df in (1, 2, 4, 20, 300, 1e6)]

groups = [[0.01, 0.013, 0.008], [-0.02, -0.017, -0.025], [0.004, 0.0, 0.007], [0.03, 0.028, 0.033]]
f = stats.f_oneway(*groups)
g = np.array(groups); msw = g.var(axis=1, ddof=1).mean(); msb = 3 * g.mean(axis=1).var(ddof=1)
assert abs(msb / msw - f.statistic) < 1e-9 * f.statistic
out["groups"] = dict(values=groups, between=(msb - msw) / 3, within=msw)
print(json.dumps(out, indent=1, default=float))
