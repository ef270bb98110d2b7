"""Generative classifiers: a model of each class, and Bayes' rule.

The equations are those of chapter 12.  Classes are numbered 0, ..., K - 1.  A
fitted model keeps the class priors ``pi`` (K,) and the parameters of
p(x | t = k); what every model can do is below, as functions.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from kernelbook import _checks, _linalg, gaussians
from kernelbook._checks import FloatArray

IntArray = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Generative(ABC):
    """Class priors π_k and a distribution p(x | t = k) for each class."""

    pi: FloatArray

    @abstractmethod
    def log_likelihood(self, X: ArrayLike) -> FloatArray:
        """ln p(x_n | t = k), an (N, K) array."""


@dataclass(frozen=True, eq=False)
class LDA(Generative):
    """Gaussian classes with one covariance; made by :func:`fit_lda`.

    p(x | t = k) = N(x | μ_k, Σ), with means ``mu`` (K, D) and ``Sigma``
    (D, D).
    """

    mu: FloatArray
    Sigma: FloatArray

    @cached_property
    def factor(self) -> _linalg.Factor:
        """Cholesky factor of Σ, made once."""
        return _linalg.factor(self.Sigma, "Sigma")

    def log_likelihood(self, X: ArrayLike) -> FloatArray:
        """ln N(x_n | μ_k, Σ), an (N, K) array."""
        X = _checks.columns(X, "X", self.mu.shape[1])
        return np.column_stack(
            [_log_normal(X - mu, self.factor) for mu in self.mu]
        )

    def draw(self, t: ArrayLike, rng: np.random.Generator) -> FloatArray:
        """One input from each class named in t (N,), an (N, D) array."""
        t = _labels(t, len(self.pi))
        z = rng.standard_normal((len(t), self.mu.shape[1]))
        draws: FloatArray = self.mu[t] + z @ self.factor.U
        return draws

    def marginal(self, keep: Sequence[int]) -> "LDA":
        """The model of some features only: the others integrated out."""
        rows = _checks.indices(keep, "keep", len(self.Sigma))
        return LDA(self.pi, self.mu[:, rows], self.Sigma[np.ix_(rows, rows)])


@dataclass(frozen=True, eq=False)
class QDA(Generative):
    """Gaussian classes, each with its covariance; made by :func:`fit_qda`.

    p(x | t = k) = N(x | μ_k, Σ_k), with means ``mu`` (K, D) and ``Sigma``
    (K, D, D).
    """

    mu: FloatArray
    Sigma: FloatArray

    @cached_property
    def factors(self) -> list[_linalg.Factor]:
        """Cholesky factors of the Σ_k, made once."""
        return [
            _linalg.factor(Sigma, f"Sigma[{k}]")
            for k, Sigma in enumerate(self.Sigma)
        ]

    def log_likelihood(self, X: ArrayLike) -> FloatArray:
        """ln N(x_n | μ_k, Σ_k), an (N, K) array."""
        X = _checks.columns(X, "X", self.mu.shape[1])
        pairs = zip(self.mu, self.factors, strict=True)
        return np.column_stack([_log_normal(X - mu, f) for mu, f in pairs])

    def draw(self, t: ArrayLike, rng: np.random.Generator) -> FloatArray:
        """One input from each class named in t (N,), an (N, D) array."""
        t = _labels(t, len(self.pi))
        z = rng.standard_normal((len(t), self.mu.shape[1]))
        draws = self.mu[t]
        for k, factor in enumerate(self.factors):
            draws[t == k] += z[t == k] @ factor.U
        return draws

    def marginal(self, keep: Sequence[int]) -> "QDA":
        """The model of some features only: the others integrated out."""
        pairs = zip(self.mu, self.Sigma, strict=True)
        kept = [gaussians.marginal(mu, Sigma, keep) for mu, Sigma in pairs]
        mu, Sigma = zip(*kept, strict=True)
        return QDA(self.pi, np.stack(mu), np.stack(Sigma))


@dataclass(frozen=True, eq=False)
class GaussianNB(Generative):
    """Gaussian features, independent in each class; by fit_gaussian_nb.

    p(x | t = k) = Π_j N(x_j | μ_kj, σ²_kj), with means ``mu`` (K, D) and
    variances ``var`` (K, D).
    """

    mu: FloatArray
    var: FloatArray

    def log_likelihood(self, X: ArrayLike) -> FloatArray:
        """Σ_j ln N(x_nj | μ_kj, σ²_kj), an (N, K) array."""
        X = _checks.columns(X, "X", self.mu.shape[1])
        pairs = zip(self.mu, self.var, strict=True)
        return np.column_stack(
            [
                -0.5 * (np.log(2 * np.pi * var) + (X - mu) ** 2 / var).sum(1)
                for mu, var in pairs
            ]
        )

    def draw(self, t: ArrayLike, rng: np.random.Generator) -> FloatArray:
        """One input from each class named in t (N,), an (N, D) array."""
        t = _labels(t, len(self.pi))
        return rng.normal(self.mu[t], np.sqrt(self.var[t]))

    def marginal(self, keep: Sequence[int]) -> "GaussianNB":
        """The model of some features only: the others integrated out."""
        rows = _checks.indices(keep, "keep", self.mu.shape[1])
        return GaussianNB(self.pi, self.mu[:, rows], self.var[:, rows])


@dataclass(frozen=True, eq=False)
class MultinomialNB(Generative):
    """Words drawn one by one from each class; made by fit_multinomial_nb.

    p(x | t = k) = Π_j θ_kj^(x_j), with the word probabilities ``theta``
    (K, D), whose rows add up to one.  This is the probability of the words in
    the order they came; the number of orders is the same for every class.
    """

    theta: FloatArray

    def log_likelihood(self, X: ArrayLike) -> FloatArray:
        """Σ_j x_nj ln θ_kj, an (N, K) array; X holds counts."""
        X = _checks.counts(X, "X")
        return _log_powers(
            _checks.columns(X, "X", self.theta.shape[1]), self.theta
        )

    def draw(
        self, t: ArrayLike, rng: np.random.Generator, length: int
    ) -> FloatArray:
        """Counts of ``length`` words from each class in t (N,), (N, D)."""
        t = _labels(t, len(self.pi))
        length = _checks.count(length, "length")
        return rng.multinomial(length, self.theta[t]).astype(np.float64)


@dataclass(frozen=True, eq=False)
class BernoulliNB(Generative):
    """Features present or absent, independently; by fit_bernoulli_nb.

    p(x | t = k) = Π_j θ_kj^(x_j) (1 - θ_kj)^(1 - x_j), with the probabilities
    of presence ``theta`` (K, D).
    """

    theta: FloatArray

    def log_likelihood(self, X: ArrayLike) -> FloatArray:
        """Σ_j ln of θ_kj if x_nj = 1, else of 1 - θ_kj; an (N, K) array."""
        X = _checks.columns(X, "X", self.theta.shape[1])
        X = _binary(X)
        present = _log_powers(X, self.theta)
        return present + _log_powers(1 - X, 1 - self.theta)

    def draw(self, t: ArrayLike, rng: np.random.Generator) -> FloatArray:
        """One input from each class named in t (N,), an (N, D) array."""
        theta = self.theta[_labels(t, len(self.pi))]
        return (rng.random(theta.shape) < theta).astype(np.float64)

    def marginal(self, keep: Sequence[int]) -> "BernoulliNB":
        """The model of some features only: the others summed out."""
        rows = _checks.indices(keep, "keep", self.theta.shape[1])
        return BernoulliNB(self.pi, self.theta[:, rows])


def log_joint(model: Generative, X: ArrayLike) -> FloatArray:
    """Logarithm of the joint distribution of inputs and classes.

    ln p(x, t = k) = ln π_k + ln p(x | t = k).

    Parameters
    ----------
    model : a fitted model
    X : (N, D) inputs as rows

    Returns
    -------
    log_joint : (N, K)

    Examples
    --------
    >>> model = fit_lda([[0.0], [2.0], [5.0], [7.0]], [0, 0, 1, 1])
    >>> log_joint(model, [[1.0]]).round(3)
    array([[ -1.612, -14.112]])
    """
    with np.errstate(divide="ignore"):  # a class of prior 0 is allowed
        log_pi = np.log(model.pi)
    return log_pi + model.log_likelihood(X)


def log_evidence(model: Generative, X: ArrayLike) -> FloatArray:
    """Logarithm of the probability (density) of each input.

    ln p(x) = ln Σ_k exp{ln p(x, t = k)}, by log-sum-exp: the largest term is
    taken out of the sum, so that nothing overflows and not all underflows.

    Parameters
    ----------
    model : a fitted model
    X : (N, D) inputs as rows

    Returns
    -------
    log_evidence : (N,)

    Examples
    --------
    >>> model = fit_lda([[0.0], [2.0], [5.0], [7.0]], [0, 0, 1, 1])
    >>> log_evidence(model, [[1.0], [3.5]]).round(3)
    array([-1.612, -4.044])
    """
    evidence: FloatArray = logsumexp(log_joint(model, X), axis=1)
    return evidence


def log_posterior(model: Generative, X: ArrayLike) -> FloatArray:
    """Logarithm of the class probabilities of each input, by Bayes' rule.

    ln p(t = k | x) = ln p(x, t = k) - ln p(x).

    Parameters
    ----------
    model : a fitted model
    X : (N, D) inputs as rows

    Returns
    -------
    log_posterior : (N, K), whose exponentials add up to one in every row

    Raises
    ------
    ValueError
        If an input is impossible under every class, as a document of words
        that no class has seen, without smoothing.

    Examples
    --------
    >>> model = fit_lda([[0.0], [2.0], [5.0], [7.0]], [0, 0, 1, 1])
    >>> np.exp(log_posterior(model, [[3.5], [4.0]])).round(3)
    array([[0.5  , 0.5  ],
           [0.076, 0.924]])
    """
    joint = log_joint(model, X)
    impossible = np.flatnonzero(joint.max(axis=1) == -np.inf)
    if impossible.size:
        raise ValueError(
            f"X[{impossible[0]}] has probability zero under every class; "
            "with alpha = 0 a single unseen feature does that"
        )
    posterior: FloatArray = joint - logsumexp(joint, axis=1, keepdims=True)
    return posterior


def predict(model: Generative, X: ArrayLike) -> IntArray:
    """The most probable class of each input; of equals, the first.

    Parameters
    ----------
    model : a fitted model
    X : (N, D) inputs as rows

    Returns
    -------
    t : (N,) whole numbers from 0 to K - 1

    Examples
    --------
    >>> model = fit_lda([[0.0], [2.0], [5.0], [7.0]], [0, 0, 1, 1])
    >>> predict(model, [[3.0], [4.0]])
    array([0, 1])
    """
    t: IntArray = log_posterior(model, X).argmax(axis=1)
    return t


def draw_classes(
    model: Generative, size: int, rng: np.random.Generator
) -> IntArray:
    """Classes drawn from the prior: the first half of a new data set.

    The other half is ``model.draw(t, rng)``, an input for each class.

    Parameters
    ----------
    model : a fitted model
    size : number of draws
    rng : NumPy generator

    Returns
    -------
    t : (size,) whole numbers from 0 to K - 1

    Examples
    --------
    >>> model = fit_lda([[0.0], [2.0], [5.0], [7.0]], [0, 0, 1, 1])
    >>> rng = np.random.default_rng(0)
    >>> t = draw_classes(model, 3, rng)
    >>> t, model.draw(t, rng).shape
    (array([1, 0, 0]), (3, 1))
    """
    size = _checks.count(size, "size")
    return rng.choice(len(model.pi), size=size, p=model.pi).astype(np.intp)


def class_priors(t: ArrayLike) -> FloatArray:
    """Class priors by frequency, π_k = N_k / N.

    Parameters
    ----------
    t : (N,) classes 0, ..., K - 1, each at least once

    Returns
    -------
    pi : (K,)

    Examples
    --------
    >>> class_priors([0, 1, 1, 0, 1])
    array([0.4, 0.6])
    """
    t = _checks.every_class(t, "t", np.size(t))
    pi: FloatArray = np.bincount(t) / len(t)
    return pi


def fit_lda(X: ArrayLike, t: ArrayLike, lam: float = 0.0) -> LDA:
    """Linear discriminant analysis: own means, one shared covariance.

    μ_k = mean of class k,  Σ = (1/N) Σ_n (x_n - μ_{t_n})(x_n - μ_{t_n})ᵀ + λI.

    Parameters
    ----------
    X : (N, D) inputs as rows
    t : (N,) classes 0, ..., K - 1
    lam : number >= 0 that is added to every variance

    Returns
    -------
    model : LDA

    Raises
    ------
    ValueError
        If Σ is singular: a feature is constant in every class, or is a linear
        combination of others, or there are too few examples.

    Examples
    --------
    >>> fit_lda([[0.0], [2.0], [5.0], [7.0]], [0, 0, 1, 1])
    LDA(pi=array([0.5, 0.5]), mu=array([[1.],
           [6.]]), Sigma=array([[1.]]))
    """
    X, t = _examples(X, t)
    lam = _checks.non_negative(lam, "lam")
    mu = _class_means(X, t)
    Sigma = _covariance(X - mu[t], lam)
    _require_definite(Sigma, len(X) - len(mu), "")
    return LDA(class_priors(t), mu, Sigma)


def fit_qda(X: ArrayLike, t: ArrayLike, lam: float = 0.0) -> QDA:
    """Quadratic discriminant analysis: own means, own covariances.

    Σ_k = (1/N_k) Σ_{n: t_n = k} (x_n - μ_k)(x_n - μ_k)ᵀ + λI.

    Parameters
    ----------
    X : (N, D) inputs as rows
    t : (N,) classes 0, ..., K - 1, each at least twice
    lam : number >= 0 that is added to every variance

    Returns
    -------
    model : QDA

    Raises
    ------
    ValueError
        If a Σ_k is singular, as it is whenever N_k <= D and lam is 0.

    Examples
    --------
    >>> fit_qda([[0.0], [2.0], [5.0], [9.0]], [0, 0, 1, 1])
    QDA(pi=array([0.5, 0.5]), mu=array([[1.],
           [7.]]), Sigma=array([[[1.]],
           [[4.]]]))
    """
    X, t = _examples(X, t)
    lam = _checks.non_negative(lam, "lam")
    mu = _class_means(X, t)
    Sigma = []
    for k, mu_k in enumerate(mu):
        X_k = X[t == k]
        if len(X_k) == 1:
            raise ValueError(
                f"t must hold every class at least twice, got class {k} once"
            )
        Sigma.append(_covariance(X_k - mu_k, lam))
        _require_definite(Sigma[k], len(X_k) - 1, f" of class {k}")
    return QDA(class_priors(t), mu, np.stack(Sigma))


def fit_gaussian_nb(
    X: ArrayLike, t: ArrayLike, lam: float = 0.0
) -> GaussianNB:
    """Gaussian naive Bayes: a mean and a variance per class and feature.

    μ_kj = mean of feature j in class k,
    σ²_kj = (1/N_k) Σ_{n: t_n = k} (x_nj - μ_kj)² + λ.

    Parameters
    ----------
    X : (N, D) inputs as rows
    t : (N,) classes 0, ..., K - 1
    lam : number >= 0 that is added to every variance

    Returns
    -------
    model : GaussianNB

    Raises
    ------
    ValueError
        If a feature is constant within a class and lam is 0.

    Examples
    --------
    >>> fit_gaussian_nb([[0.0], [2.0], [5.0], [9.0]], [0, 0, 1, 1])
    GaussianNB(pi=array([0.5, 0.5]), mu=array([[1.],
           [7.]]), var=array([[1.],
           [4.]]))
    """
    X, t = _examples(X, t)
    lam = _checks.non_negative(lam, "lam")
    mu = _class_means(X, t)
    sums = _class_sums((X - mu[t]) ** 2, t)
    var = sums / np.bincount(t)[:, None] + lam
    for k, var_k in enumerate(var):
        _no_constant(var_k, f" of class {k}")
    return GaussianNB(class_priors(t), mu, var)


def fit_multinomial_nb(
    X: ArrayLike, t: ArrayLike, alpha: float = 1.0
) -> MultinomialNB:
    """Multinomial naive Bayes: the probability of each word in each class.

    θ_kj = (N_kj + α) / (Σ_l N_kl + α D), with N_kj the number of times that
    word j occurs in the documents of class k.

    Parameters
    ----------
    X : (N, D) counts of D words in N documents
    t : (N,) classes 0, ..., K - 1
    alpha : number >= 0, as if every word had been seen that often before

    Returns
    -------
    model : MultinomialNB

    Examples
    --------
    >>> fit_multinomial_nb([[3, 0], [1, 2]], [0, 1], alpha=1.0)
    MultinomialNB(pi=array([0.5, 0.5]), theta=array([[0.8, 0.2],
           [0.4, 0.6]]))
    """
    X = _checks.counts(X, "X")
    t = _checks.every_class(t, "t", len(X))
    alpha = _checks.non_negative(alpha, "alpha")
    seen = _class_sums(X, t) + alpha
    totals = seen.sum(axis=1, keepdims=True)
    empty = np.flatnonzero(totals == 0)
    if empty.size:
        raise ValueError(
            f"X must hold a word in every class, got none in class {empty[0]}"
            "; or choose alpha > 0"
        )
    return MultinomialNB(class_priors(t), seen / totals)


def fit_bernoulli_nb(
    X: ArrayLike, t: ArrayLike, alpha: float = 1.0
) -> BernoulliNB:
    """Bernoulli naive Bayes: how often each feature is present in a class.

    θ_kj = (N_kj + α) / (N_k + 2α), with N_kj the number of examples of class
    k in which feature j is present.

    Parameters
    ----------
    X : (N, D) features, 1 for present and 0 for absent
    t : (N,) classes 0, ..., K - 1
    alpha : number >= 0, as if α examples with the feature and α without it
        had been seen before

    Returns
    -------
    model : BernoulliNB

    Examples
    --------
    >>> fit_bernoulli_nb([[1, 0], [1, 1], [0, 1]], [0, 0, 1], alpha=1.0)
    BernoulliNB(pi=array([0.66666667, 0.33333333]),
          theta=array([[0.75      , 0.5       ],
                       [0.33333333, 0.66666667]]))
    """
    X, t = _examples(X, t)
    alpha = _checks.non_negative(alpha, "alpha")
    present = _class_sums(_binary(X), t) + alpha
    theta = present / (np.bincount(t)[:, None] + 2 * alpha)
    return BernoulliNB(class_priors(t), theta)


def linear_form(model: LDA) -> tuple[FloatArray, FloatArray]:
    """The linear scores of LDA: ln p(x, t = k) = w_kᵀx + b_k + c(x).

    w_k = Σ⁻¹ μ_k,  b_k = ln π_k - ½ μ_kᵀ Σ⁻¹ μ_k.

    Parameters
    ----------
    model : LDA

    Returns
    -------
    W, b : (K, D) weights as rows, (K,) biases

    Examples
    --------
    >>> model = fit_lda([[0.0], [2.0], [5.0], [7.0]], [0, 0, 1, 1])
    >>> W, b = linear_form(model)
    >>> W, b.round(3)
    (array([[1.],
           [6.]]), array([ -1.193, -18.693]))
    """
    W = model.factor.solve(model.mu.T).T
    with np.errstate(divide="ignore"):
        b = np.log(model.pi) - 0.5 * (W * model.mu).sum(axis=1)
    return W, b


def _examples(X: ArrayLike, t: ArrayLike) -> tuple[FloatArray, IntArray]:
    X = _checks.matrix(X, "X")
    return X, _checks.every_class(t, "t", len(X))


def _labels(t: ArrayLike, K: int) -> IntArray:
    """Classes to draw from: any of 0, ..., K - 1, not each of them."""
    labels = _checks.vector(t, "t")
    wrong = labels[~np.isin(labels, np.arange(K))]
    if wrong.size:
        raise ValueError(
            f"t must hold class labels from 0 to {K - 1}, got {wrong[0]:g}"
        )
    return labels.astype(np.intp)


def _binary(X: FloatArray) -> FloatArray:
    wrong = X[(X != 0) & (X != 1)]
    if wrong.size:
        raise ValueError(
            f"X must hold 0 (absent) or 1 (present), got {wrong[0]:g}; "
            "write X > 0 for counts"
        )
    return X


def _class_sums(X: FloatArray, t: IntArray) -> FloatArray:
    """Sum of the rows of each class, (K, D)."""
    return np.stack([X[t == k].sum(axis=0) for k in range(t.max() + 1)])


def _class_means(X: FloatArray, t: IntArray) -> FloatArray:
    """Mean of each class, (K, D); exact for a feature that is constant."""
    means = []
    for k in range(t.max() + 1):
        X_k = X[t == k]
        means.append(X_k[0] + (X_k - X_k[0]).mean(axis=0))
    return np.stack(means)


def _covariance(difference: FloatArray, lam: float) -> FloatArray:
    """Mean of the products of deviations, plus λ on the diagonal."""
    Sigma: FloatArray = difference.T @ difference / len(difference)
    return _linalg.add_to_diagonal(Sigma, lam)


def _log_normal(difference: FloatArray, factor: _linalg.Factor) -> FloatArray:
    """ln N(difference | 0, Σ) of each row, from the Cholesky factor of Σ."""
    whitened = factor.whiten(difference.T)
    constant = factor.N * np.log(2 * np.pi) + factor.log_determinant()
    log_density: FloatArray = -0.5 * (constant + (whitened**2).sum(axis=0))
    return log_density


def _log_powers(X: FloatArray, theta: FloatArray) -> FloatArray:
    """Σ_j x_nj ln θ_kj, (N, K), with 0 ln 0 = 0."""
    unseen = theta == 0
    sums: FloatArray = X @ np.log(np.where(unseen, 1.0, theta)).T
    sums[X @ unseen.T > 0] = -np.inf
    return sums


def _no_constant(variances: FloatArray, of_class: str) -> None:
    constant = np.flatnonzero(variances == 0)
    if constant.size:
        raise ValueError(
            f"X has zero variance in feature {constant[0]}{of_class}; "
            "drop the feature or choose lam > 0"
        )


def _require_definite(Sigma: FloatArray, rank: int, of_class: str) -> None:
    """Raise unless Σ is positive definite beyond rounding."""
    variances = Sigma.diagonal()
    _no_constant(variances, of_class)
    scale = np.sqrt(variances)
    correlation = Sigma / scale / scale[:, None]  # free of the units of X
    D = len(Sigma)
    if np.linalg.eigvalsh(correlation)[0] <= 10 * D * np.finfo(float).eps:
        reason = (
            f"its examples span at most {rank} of {D} dimensions"
            if rank < D
            else "some features are linear combinations of others"
        )
        raise ValueError(
            f"X has a singular covariance{of_class}: {reason}; "
            "drop features or choose lam > 0"
        )
