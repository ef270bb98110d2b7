"""Generative classifiers: a model of each class, and Bayes' rule.

The equations are those of chapter 14.  Classes are numbered 0, ..., K - 1.  A
fitted model keeps the class priors ``pi`` (K,) and the parameters of
p(x | t = k); what every model can do is below, as functions.  What is counted
and measured in each class, and how, is in ``_class_statistics``.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from kernelbook import _checks, _linalg, _sparse, gaussians
from kernelbook import _class_statistics as stats
from kernelbook._checks import FloatArray, IntArray

Seed = int | np.random.Generator | None  # see _checks.generator


@dataclass(frozen=True, eq=False)
class Generative(ABC):
    """Class priors π_k and a distribution p(x | t = k) for each class.

    A model keeps copies of its parameters.
    """

    pi: FloatArray

    def __post_init__(self) -> None:
        for name, value in list(vars(self).items()):
            object.__setattr__(self, name, np.array(value, dtype=np.float64))

    @abstractmethod
    def log_likelihood(self, X: ArrayLike) -> FloatArray:
        """Logarithms of p(x_n | t = k), an (N, K) array."""


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
        """ln p(x_n | t = k) = ln N(x_n | μ_k, Σ), an (N, K) array."""
        X = _checks.columns(X, "X", self.mu.shape[1])
        densities = [stats.log_normal(X, mu, self.factor) for mu in self.mu]
        return stats.require_near(np.column_stack(densities))

    def draw(self, t: ArrayLike, rng: Seed) -> FloatArray:
        """One input from each class named in t (N,), an (N, D) array."""
        t = _checks.classes(t, "t", len(self.pi))
        z = _checks.generator(rng).standard_normal((len(t), self.mu.shape[1]))
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
        """ln p(x_n | t = k) = ln N(x_n | μ_k, Σ_k), an (N, K) array."""
        X = _checks.columns(X, "X", self.mu.shape[1])
        pairs = zip(self.mu, self.factors, strict=True)
        densities = [stats.log_normal(X, mu, factor) for mu, factor in pairs]
        return stats.require_near(np.column_stack(densities))

    def draw(self, t: ArrayLike, rng: Seed) -> FloatArray:
        """One input from each class named in t (N,), an (N, D) array."""
        t = _checks.classes(t, "t", len(self.pi))
        z = _checks.generator(rng).standard_normal((len(t), self.mu.shape[1]))
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
        """ln p(x_n | t = k) = Σ_j ln N(x_nj | μ_kj, σ²_kj), (N, K)."""
        X = _checks.columns(X, "X", self.mu.shape[1])
        pairs = zip(self.mu, self.var, strict=True)
        densities = [stats.log_normals(X, mu, var) for mu, var in pairs]
        return stats.require_near(np.column_stack(densities))

    def draw(self, t: ArrayLike, rng: Seed) -> FloatArray:
        """One input from each class named in t (N,), an (N, D) array."""
        t = _checks.classes(t, "t", len(self.pi))
        draws = _checks.generator(rng).normal(self.mu[t], np.sqrt(self.var[t]))
        return np.asarray(draws)

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
        """ln p(x_n | t = k) = Σ_j x_nj ln θ_kj, an (N, K) array.

        X holds counts, and may be sparse.
        """
        X = _sparse.counts(X, "X")
        return stats.log_powers(
            _sparse.columns(X, "X", self.theta.shape[1]), self.theta
        )

    def draw(self, t: ArrayLike, rng: Seed, length: int) -> FloatArray:
        """Counts of ``length`` words from each class in t (N,), (N, D)."""
        t = _checks.classes(t, "t", len(self.pi))
        length = _checks.count(length, "length")
        rng = _checks.generator(rng)
        return rng.multinomial(length, self.theta[t]).astype(np.float64)


@dataclass(frozen=True, eq=False)
class BernoulliNB(Generative):
    """Features present or absent, independently; by fit_bernoulli_nb.

    p(x | t = k) = Π_j θ_kj^(x_j) (1 - θ_kj)^(1 - x_j), with the probabilities
    of presence ``theta`` (K, D).
    """

    theta: FloatArray

    def log_likelihood(self, X: ArrayLike) -> FloatArray:
        """ln p(x_n | t = k) = Σ_j {x_nj ln θ_kj + (1 - x_nj) ln(1 - θ_kj)}.

        X may be sparse.
        """
        X = _sparse.columns(_sparse.binary(X, "X"), "X", self.theta.shape[1])
        present = stats.log_powers(X, self.theta)
        return present + stats.log_absent(X, self.theta)

    def draw(self, t: ArrayLike, rng: Seed) -> FloatArray:
        """One input from each class named in t (N,), an (N, D) array."""
        theta = self.theta[_checks.classes(t, "t", len(self.pi))]
        uniform = _checks.generator(rng).random(theta.shape)
        return (uniform < theta).astype(np.float64)

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

    p(x) = Σ_k p(x, t = k), by log-sum-exp of the logarithms: the largest term
    is taken out of the sum, so that nothing overflows and not all underflows.

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
        that no class has seen, without smoothing; or so far from all that
        rounding hides which is nearest.

    Examples
    --------
    >>> model = fit_lda([[0.0], [2.0], [5.0], [7.0]], [0, 0, 1, 1])
    >>> np.exp(log_posterior(model, [[3.5], [4.0]])).round(3)
    array([[0.5  , 0.5  ],
           [0.076, 0.924]])
    """
    joint = log_joint(model, X)
    stats.require_answer(joint)
    joint -= joint.max(axis=1, keepdims=True)  # cancels, and keeps digits
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


def expected_loss(
    model: Generative, X: ArrayLike, loss: ArrayLike
) -> FloatArray:
    """What each action costs on average, Σ_k L_ka p(t = k | x).

    Parameters
    ----------
    model : a fitted model
    X : (N, D) inputs as rows
    loss : (K, A), what action a costs if the class is k.  Usually the first
        K actions are to name a class; one more may be to name none.

    Returns
    -------
    risk : (N, A)

    Examples
    --------
    >>> model = fit_lda([[0.0], [2.0], [5.0], [7.0]], [0, 0, 1, 1])
    >>> expected_loss(model, [[4.0]], [[0, 1, 0.05], [10, 0, 0.05]]).round(3)
    array([[9.241, 0.076, 0.05 ]])
    """
    loss = _checks.matrix(loss, "loss")
    if len(loss) != len(model.pi):
        raise ValueError(
            "loss must have one row per class, shape "
            f"({len(model.pi)}, A), got {loss.shape}"
        )
    # In one order of memory, so that the last digit does not depend on it.
    loss = np.ascontiguousarray(loss)
    risk: FloatArray = np.exp(log_posterior(model, X)) @ loss
    return risk


def decide(model: Generative, X: ArrayLike, loss: ArrayLike) -> IntArray:
    """The action with the least expected loss; of equals, the first.

    With 1 everywhere but 0 on the diagonal this is `predict`.

    Parameters
    ----------
    model : a fitted model
    X : (N, D) inputs as rows
    loss : (K, A), what action a costs if the class is k

    Returns
    -------
    actions : (N,) whole numbers from 0 to A - 1

    Examples
    --------
    >>> model = fit_lda([[0.0], [2.0], [5.0], [7.0]], [0, 0, 1, 1])
    >>> decide(model, [[3.0], [3.4], [4.0]], [[0, 1, 0.2], [1, 0, 0.2]])
    array([0, 2, 1])
    """
    actions: IntArray = expected_loss(model, X, loss).argmin(axis=1)
    return actions


def draw_classes(model: Generative, size: int, rng: Seed) -> IntArray:
    """Classes drawn from the prior: the first half of a new data set.

    The other half is ``model.draw(t, rng)``, an input for each class.

    Parameters
    ----------
    model : a fitted model
    size : number of draws
    rng : a seed or a NumPy generator; give the same generator to ``draw``,
        not the same seed, which would repeat the same random numbers

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
    rng = _checks.generator(rng)
    return rng.choice(len(model.pi), size=size, p=model.pi).astype(np.int64)


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

    μ_k = (1/N_k) Σ_{t_n = k} x_n,
    Σ = (1/N) Σ_n (x_n - μ_{t_n})(x_n - μ_{t_n})ᵀ + λI.

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
    mu = stats.class_means(X, t)
    Sigma = stats.covariance(stats.deviations(X, mu[t]), lam)
    stats.require_definite(Sigma, len(X) - len(mu), "")
    return LDA(class_priors(t), mu, Sigma)


def fit_qda(X: ArrayLike, t: ArrayLike, lam: float = 0.0) -> QDA:
    """Quadratic discriminant analysis: own means, own covariances.

    Σ_k = (1/N_k) Σ_{t_n = k} (x_n - μ_k)(x_n - μ_k)ᵀ + λI.

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
    mu = stats.class_means(X, t)
    Sigma = []
    for k, mu_k in enumerate(mu):
        X_k = X[t == k]
        if len(X_k) == 1:
            raise ValueError(
                f"t must hold every class at least twice, got class {k} once"
            )
        Sigma.append(stats.covariance(stats.deviations(X_k, mu_k), lam))
        stats.require_definite(Sigma[k], len(X_k) - 1, f" of class {k}")
    return QDA(class_priors(t), mu, np.stack(Sigma))


def fit_rda(
    X: ArrayLike, t: ArrayLike, alpha: float, shrinkage: float = 0.0
) -> QDA:
    """Regularised discriminant analysis: between LDA, QDA and round classes.

    Σ_k(α) = αΣ_k + (1 - α)Σ with the shared covariance Σ, and then
    (1 - s) Σ_k(α) + s (tr Σ_k(α) / D) I with the shrinkage s.

    Parameters
    ----------
    X : (N, D) inputs as rows
    t : (N,) classes 0, ..., K - 1
    alpha : from 0, one covariance as in LDA, to 1, own ones as in QDA
    shrinkage : from 0, none, to 1, round classes

    Returns
    -------
    model : QDA

    Raises
    ------
    ValueError
        If a covariance is still singular.

    Examples
    --------
    >>> X, t = [[0.0], [2.0], [5.0], [9.0]], [0, 0, 1, 1]
    >>> fit_rda(X, t, alpha=0.5).Sigma.ravel()  # LDA has 2.5, QDA 1 and 4
    array([1.75, 3.25])
    """
    X, t = _examples(X, t)
    alpha = _checks.share(alpha, "alpha")
    shrinkage = _checks.share(shrinkage, "shrinkage")
    mu, pi = stats.class_means(X, t), class_priors(t)
    inner = stats.deviations(X, mu[t])
    own = [stats.covariance(inner[t == k], 0.0) for k in range(len(mu))]
    shared = np.tensordot(pi, own, axes=1)
    Sigma = []
    for k, Sigma_k in enumerate(own):
        mixed = (1 - shrinkage) * (alpha * Sigma_k + (1 - alpha) * shared)
        mean = alpha * Sigma_k.trace() + (1 - alpha) * shared.trace()
        Sigma.append(
            _linalg.add_to_diagonal(mixed, shrinkage * mean / len(shared))
        )
        stats.require_definite(Sigma[k], len(X) - len(mu), f" of class {k}")
    return QDA(pi, mu, np.stack(Sigma))


def fit_gaussian_nb(
    X: ArrayLike, t: ArrayLike, lam: float = 0.0
) -> GaussianNB:
    """Gaussian naive Bayes: a mean and a variance per class and feature.

    μ_kj = (1/N_k) Σ_{t_n = k} x_nj,
    σ²_kj = (1/N_k) Σ_{t_n = k} (x_nj - μ_kj)² + λ.

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
    mu = stats.class_means(X, t)
    var = stats.class_variances(stats.deviations(X, mu[t]), t, lam)
    for k, var_k in enumerate(var):
        stats.require_no_constant(var_k, f" of class {k}")
    return GaussianNB(class_priors(t), mu, var)


def fit_multinomial_nb(
    X: ArrayLike, t: ArrayLike, alpha: float = 1.0
) -> MultinomialNB:
    """Multinomial naive Bayes: the probability of each word in each class.

    θ_kj = (N_kj + α) / (Σ_l N_kl + α D), with N_kj the number of times that
    word j occurs in the documents of class k.

    Parameters
    ----------
    X : (N, D) counts of D words in N documents, may be sparse
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
    counts = _sparse.counts(X, "X")
    t = _checks.every_class(t, "t", counts.shape[0])
    alpha = _checks.non_negative(alpha, "alpha")
    seen = stats.class_sums(counts, t) + alpha
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
    X : (N, D) features, 1 for present and 0 for absent, may be sparse
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
    features = _sparse.binary(X, "X")
    t = _checks.every_class(t, "t", features.shape[0])
    alpha = _checks.non_negative(alpha, "alpha")
    present = stats.class_sums(features, t) + alpha
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
