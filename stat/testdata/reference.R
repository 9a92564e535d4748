# Makes reference_r.txt: what R and limma give for the same input.
#   apt-get install r-base-core r-bioc-limma r-cran-statmod
#   Rscript reference.R > reference_r.txt
# One "name value..." a line.
suppressMessages(library(limma))
show <- function(name, x) cat(name, format(x, digits = 15), "\n")
v <- c(0.00041, 0.00022, 0.00067, 0.00035, 0.00019, 0.00052, 0.00030, 0.00090, 0.00012, 0.00044)
u <- c(0.000025, 0.0001, 0.0004, 0.0025, 0.00003, 0.00012, 0.0005, 0.0018, 0.00002, 0.00009, 0.0003, 0.0022)
show("alike", v)
fit <- fitFDist(v, 4); show("alike_prior", c(fit$scale, fit$df2))
show("unlike", u)
fit <- fitFDist(u, 4); show("unlike_prior", c(fit$scale, fit$df2))
show("unlike_post", squeezeVar(u, 4)$var.post)
p <- c(0.01, 0.04, 0.03, 0.005, 0.2, 0.04)
show("holm", p.adjust(p, "holm")); show("bh", p.adjust(p, "BH"))
x <- c(1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30, -0.34, -1.2, 0.77)
w <- wilcox.test(x, conf.int = TRUE, conf.level = 0.95, exact = TRUE)
show("twelve_interval", c(w$estimate, w$conf.int))
y <- c(0.011, -0.004, 0.023, 0.017, 0.002, 0.031, -0.009, 0.014)
w <- wilcox.test(y, conf.int = TRUE, conf.level = 0.95, exact = TRUE)
show("small_interval", c(w$estimate, w$conf.int))
# 250 values: normal approximation with continuity correction
z <- sin(1:250) + 0.1
w <- wilcox.test(z, exact = FALSE, correct = TRUE); show("sine_p", c(w$statistic, w$p.value))
zt <- round(z, 1)
w <- wilcox.test(zt[zt != 0], exact = FALSE, correct = TRUE); show("sine_ties_p", c(w$statistic, w$p.value))
show("power_t", c(power.t.test(n = 10, delta = 0.02, sd = 0.02, type = "one.sample", strict = TRUE, tol = 1e-10)$power,
                  power.t.test(power = 0.8, delta = 0.015, sd = 0.02, type = "one.sample", strict = TRUE, tol = 1e-10)$n,
                  power.t.test(n = 8, power = 0.8, sd = 0.02, type = "one.sample", strict = TRUE, tol = 1e-10)$delta))
