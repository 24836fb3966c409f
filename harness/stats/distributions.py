"""Tails and quantiles of the normal, t, F and beta distributions.

From scipy.special (Cephes, Boost), since importing scipy.stats takes more than a second.
"""

from __future__ import annotations

from scipy import special


def p_of_t(t: float, df: float) -> float:
    """Return the two-sided p of a t statistic with df degrees of freedom (scipy.special.stdtr)."""
    return float(2 * special.stdtr(df, -abs(t)))


def p_of_z(z: float) -> float:
    """Return the two-sided p of a standard normal statistic (scipy.special.ndtr)."""
    return float(2 * special.ndtr(-abs(z)))


def p_of_f(f: float, df1: float, df2: float) -> float:
    """Return the upper tail of an F statistic with df1 and df2 (scipy.special.fdtrc)."""
    return float(special.fdtrc(df1, df2, f))


def p_of_chi_squared(statistic: float, df: float) -> float:
    """Return the upper tail of a chi-squared statistic with df (scipy.special.chdtrc)."""
    return float(special.chdtrc(df, statistic))


def p_of_binomial(k: int, n: int) -> float:
    """Return the two-sided p of k of n at probability 1/2 (scipy.special.bdtr)."""
    return min(1.0, 2 * float(special.bdtr(min(k, n - k), n, 0.5)))


def normal_quantile(share: float) -> float:
    """Return the z that a standard normal is below with this probability (scipy.special.ndtri)."""
    return float(special.ndtri(share))


def beta_quantile(share: float, a: float, b: float) -> float:
    """Return the quantile of a beta distribution (scipy.special.betaincinv)."""
    return float(special.betaincinv(a, b, share))


def normal_share(z: float) -> float:
    """Return the probability that a standard normal is below z (scipy.special.ndtr)."""
    return float(special.ndtr(z))


def t_quantile(share: float, df: float) -> float:
    """Return the t that is exceeded with probability 1 - share at df (scipy.special.stdtrit)."""
    return float(special.stdtrit(df, share))


def t_share(t: float, df: float) -> float:
    """Return the probability that Student's t with df is below t (scipy.special.stdtr)."""
    return float(special.stdtr(df, t))
