"""A factorised posterior for the product of two unknowns, y = λw + noise.

The model λ, w ~ N(0, 1) and y ~ N(λw, β⁻¹) is the smallest in
which a unit's coefficient and its weight compete.  Its posterior is no
Gaussian; q(λ) q(w) is the best product of two.
"""

from typing import NamedTuple

import numpy as np

from kernelbook import _checks


class MeanField(NamedTuple):
    """q(λ) q(w): two independent Gaussians, by their means and variances."""

    m_lam: float
    s_lam: float
    m_w: float
    s_w: float


def update(q: MeanField, y: float, beta: float) -> MeanField:
    """One round of coordinate ascent: q(λ) given q(w), then q(w) given q(λ).

    s_λ = 1 / {1 + β (m_w² + s_w)},  m_λ = β y m_w s_λ, and the same for w,
    in the model λ, w ~ N(0, 1), y ~ N(λw, β⁻¹).

    Parameters
    ----------
    q : MeanField, of which only q(w) is used
    y : the observation
    beta : noise precision β > 0

    Examples
    --------
    >>> q = MeanField(m_lam=0.0, s_lam=1.0, m_w=1.0, s_w=0.0)
    >>> update(q, y=1.0, beta=1.0).m_lam
    0.5
    """
    y = _checks.real(y, "y")
    beta = _checks.positive(beta, "beta")
    s_lam = 1 / (1 + beta * (q.m_w**2 + q.s_w))
    m_lam = beta * y * q.m_w * s_lam
    s_w = 1 / (1 + beta * (m_lam**2 + s_lam))
    return MeanField(m_lam, s_lam, beta * y * m_lam * s_w, s_w)


def evidence_bound(q: MeanField, y: float, beta: float) -> float:
    """Evidence lower bound of the same model: at most ln p(y).

    ½ ln(β/(2π)) - ½β {y² - 2y m_λ m_w + (m_λ² + s_λ)(m_w² + s_w)}
    - ½ (m_λ² + s_λ + m_w² + s_w) + 1 + ½ ln s_λ + ½ ln s_w.

    Parameters
    ----------
    q : MeanField
    y : the observation
    beta : noise precision β > 0

    Examples
    --------
    >>> q = MeanField(m_lam=0.0, s_lam=1.0, m_w=0.0, s_w=1.0)
    >>> round(evidence_bound(q, y=1.0, beta=1.0), 3)
    -1.919
    """
    y = _checks.real(y, "y")
    beta = _checks.positive(beta, "beta")
    lam_squared, w_squared = q.m_lam**2 + q.s_lam, q.m_w**2 + q.s_w
    error = y**2 - 2 * y * q.m_lam * q.m_w + lam_squared * w_squared
    log_likelihood = np.log(beta / (2 * np.pi)) / 2 - beta * error / 2
    entropy_and_prior = (
        1 - (lam_squared + w_squared) / 2 + np.log(q.s_lam * q.s_w) / 2
    )
    return float(log_likelihood + entropy_and_prior)
