"""Estimators for scikit-learn, which hold no mathematics of their own.

Each calls the functions of one module and gives what they give, to the last
digit, where a scikit-learn user expects it: in a ``Pipeline``, in
``GridSearchCV``, in ``cross_val_score``.

=============================== =========================================
``KernelRidge``                 ``ridge.fit``
``NystromRidge``                ``nystrom.fit``
``FourierRidge``                ``fourier.fit``
``IterativeRidge``              ``iterative.fit``
``GaussianProcessRegressor``    ``learning.learn``, then ``gp.fit``
``SparseGaussianProcess…``      ``inducing.learn``, then ``inducing.fit``
``SVC``                         ``svm.fit_dual``, one class against one
``SVR``                         ``svr.fit``
``KernelLogisticRegression``    ``kernel_logistic.fit_dual``, one class
                                against the rest
=============================== =========================================

``kernel`` is any kernel of ``kernelbook.kernels``, or one of your own.  Left
out, it is ``Gaussian(gamma)`` with γ = 1 / (D v), v the variance of all
entries of X, what scikit-learn calls "scale".  Its hyperparameters are
parameters of the estimator too: ``kernel__gamma``, or ``kernel__k1.gamma``
where ``k.parameters()`` says ``k1.gamma``.

Inputs are what the kernel takes: the rows of an array or data frame, sparse
rows if it is a kernel of inner products such as ``Linear``, and for a kernel
on objects a list of strings, sets or graphs.  Weights for examples
(``sample_weight``) are not supported.

A kernel of this library also works in scikit-learn's own estimators, but
``sklearn.kernel_ridge.KernelRidge(kernel=k)`` makes one call for every pair of
inputs, 250 000 calls for 500 examples.  Use the one here, or
``KernelRidge(kernel="precomputed").fit(k(X), t)`` with ``predict(k(Z, X))``.
``sklearn.svm.SVC(kernel=k)`` makes one call for all.

Needs scikit-learn: ``pip install "kernelbook[sklearn]"``.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, issparse

from kernelbook import (
    _checks,
    _expansion,
    _linalg,
    fourier,
    gp,
    inducing,
    iterative,
    kernel_logistic,
    labels,
    learning,
    multiclass,
    nystrom,
    ridge,
    svm,
    svr,
)
from kernelbook._checks import FloatArray
from kernelbook._gram import number_of
from kernelbook.discriminant import classify, sign_rule
from kernelbook.kernels import Gaussian, Kernel

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import (
        check_consistent_length,
        check_is_fitted,
        validate_data,
    )
except ImportError as error:
    raise ImportError(
        "kernelbook.estimators needs scikit-learn 1.6 or newer: "
        'pip install "kernelbook[sklearn]"'
    ) from error

__all__ = [
    "SVC",
    "SVR",
    "FourierRidge",
    "GaussianProcessRegressor",
    "IterativeRidge",
    "KernelLogisticRegression",
    "KernelRidge",
    "NystromRidge",
    "SparseGaussianProcessRegressor",
]

IN_THE_KERNEL = "kernel__"  # what its hyperparameters' names begin with
COLUMNS = 10_000  # of a row that asks a kernel whether it takes sparse ones


class _KernelEstimator(BaseEstimator):
    """An estimator with a kernel: its parameters, and inputs it takes."""

    kernel: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; if deep, the kernel's hyperparameters too."""
        params: dict[str, Any] = super().get_params(deep)
        if deep and isinstance(self.kernel, Kernel):
            for name, value in self.kernel.parameters().items():
                params[IN_THE_KERNEL + name] = value
        return params

    def set_params(self, **params: Any) -> "_KernelEstimator":
        """Set parameters by name, ``kernel__gamma`` inside the kernel.

        Kernels never change: the estimator gets a new one.
        """
        inside = {
            name.removeprefix(IN_THE_KERNEL): params.pop(name)
            for name in list(params)
            if name.startswith(IN_THE_KERNEL)
        }
        super().set_params(**params)
        if inside:
            self.kernel = self._given().with_parameters(inside)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        row = csr_array((1, COLUMNS))
        tags.input_tags.sparse = issparse(_taken(self.kernel, row))
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        """A fit that was refused has counted the columns of X, no more."""
        return hasattr(self, "kernel_")

    def _given(self) -> Kernel:
        """The kernel, if it is one."""
        if not isinstance(self.kernel, Kernel):
            raise ValueError(
                f"kernel must be a kernel of kernelbook, got {self.kernel!r}"
            )
        return self.kernel

    def _kernel_for(self, X: Any) -> Kernel:
        """The kernel given, or the Gaussian that suits these inputs."""
        if self.kernel is not None:
            return self._given()
        variance = float(X.var())
        return Gaussian(1 / (X.shape[1] * variance) if variance > 0 else 1.0)

    def _examples(
        self, X: Any, y: Any, least: int = 1, **about_y: bool
    ) -> tuple[Any, Any]:
        """Inputs and targets, checked by the kernel or by scikit-learn."""
        taken = _taken(self.kernel, X)
        if not isinstance(taken, tuple):
            X, y = validate_data(
                self,
                X,
                y,
                accept_sparse="csr" if issparse(taken) else False,
                dtype=np.float64,
                ensure_min_samples=least,
                **about_y,
            )
            return X, y
        y = validate_data(self, y=y, **about_y)
        check_consistent_length(taken, y)
        return taken, y

    def _new_inputs(self, X: Any) -> Any:
        """Inputs like those the estimator was fitted to."""
        check_is_fitted(self)
        taken = _taken(self.kernel_, X)
        if isinstance(taken, tuple):
            return taken
        return validate_data(
            self,
            X,
            reset=False,
            accept_sparse="csr" if issparse(taken) else False,
            dtype=np.float64,
        )


class _KernelRegressor(RegressorMixin, _KernelEstimator):
    """One or more real targets for each input."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class _KernelClassifier(ClassifierMixin, _KernelEstimator):
    """Labels of any kind, translated by ``labels.coding``."""

    def _classes(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Inputs, and labels 0 to K-1; remembers what they stand for."""
        X, y = self._examples(X, y, least=2)
        check_classification_targets(y)
        self._coding = labels.coding(y)
        self.classes_ = self._coding.names
        return X, self._coding.classes(y)

    def _labels(self, scores: FloatArray) -> Any:
        """The labels that scores stand for: by argmax, or by one sign."""
        if scores.ndim > 1:
            return self._coding.from_classes(classify(scores))
        return self._coding.from_signs(sign_rule(scores))


class KernelRidge(_KernelRegressor):
    """Kernel ridge regression: ``ridge.fit``.

    Parameters
    ----------
    kernel : kernel; Gaussian of scikit-learn's "scale" if None
    lam : λ > 0

    Attributes
    ----------
    kernel_
        the kernel that was used
    dual_coef_
        (N,) coefficients a, or (N, Q) for Q outputs
    model_
        what ``ridge.fit`` returned

    Examples
    --------
    >>> from kernelbook.kernels import Linear
    >>> model = KernelRidge(Linear(), lam=1.0).fit([[1.0], [2.0]], [1.0, 1.0])
    >>> model.predict([[3.0]])
    array([1.5])
    """

    def __init__(self, kernel: Any = None, lam: float = 1.0) -> None:
        self.kernel = kernel
        self.lam = lam

    def fit(self, X: Any, y: ArrayLike) -> "KernelRidge":
        """Fit to N inputs X and (N,) or (N, Q) targets y."""
        X, y = self._examples(X, y, multi_output=True, y_numeric=True)
        self.kernel_ = self._kernel_for(X)
        self.model_ = ridge.fit(self.kernel_, X, y, self.lam)
        self.dual_coef_ = self.model_.a
        return self

    def predict(self, X: Any) -> FloatArray:
        """The (N*,) or (N*, Q) predictions at new inputs."""
        Z = self._new_inputs(X)
        return self.model_.predict(Z)


class GaussianProcessRegressor(_KernelRegressor):
    """Gaussian-process regression: ``learning.learn``, then ``gp.fit``.

    Parameters
    ----------
    kernel : kernel, where learning starts; if None, 1.0 * Gaussian of
        scikit-learn's "scale", so that its height is learned too
    beta : noise precision, one over the noise variance, where learning
        starts; or (N,) of them, which are not learned
    mean : prior mean, a number, a function or a ``gp.Trend``
    learn : whether to learn the kernel and beta
    hold : names of hyperparameters that keep their values, ``"beta"`` too
    restarts, evaluations, progress : as in ``learning.learn``
    random_state : seed of the restarts, a seed, a NumPy generator of either
        kind, or None

    Attributes
    ----------
    kernel_, beta_
        the kernel and the noise precision that were used
    log_marginal_likelihood_value_
        ln p(t) at these
    gp_
        what ``gp.fit`` returned
    learned_
        what ``learning.learn`` returned, or None

    Examples
    --------
    >>> from kernelbook.kernels import Gaussian
    >>> X, t = [[0.0], [1.0], [2.0], [3.0]], [0.1, 0.9, 0.8, 0.2]
    >>> model = GaussianProcessRegressor(Gaussian(0.5), beta=10.0).fit(X, t)
    >>> round(model.kernel_.gamma, 3), model.learned_.status
    (0.204, 'converged')
    >>> mean, std = model.predict([[1.5]], return_std=True)
    >>> mean.round(2), std.round(2)
    (array([0.97]), array([0.02]))
    """

    def __init__(
        self,
        kernel: Any = None,
        beta: Any = 1.0,
        mean: Any = 0.0,
        learn: bool = True,
        hold: Any = (),
        restarts: int = 0,
        evaluations: int = 200,
        random_state: Any = 0,
        progress: bool = True,
    ) -> None:
        self.kernel = kernel
        self.beta = beta
        self.mean = mean
        self.learn = learn
        self.hold = hold
        self.restarts = restarts
        self.evaluations = evaluations
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: Any, y: ArrayLike) -> "GaussianProcessRegressor":
        """Learn and condition on N inputs X and (N,) or (N, Q) targets y."""
        X, y = self._examples(X, y, multi_output=True, y_numeric=True)
        self.kernel_, self.beta_ = self._kernel_for(X), self.beta
        self.learned_ = self._learned(X, y) if self.learn else None
        if self.learned_ is not None:
            self.kernel_, self.beta_ = self.learned_.k, self.learned_.beta
        self.gp_ = gp.fit(self.kernel_, X, y, self.beta_, self.mean)
        self.log_marginal_likelihood_value_ = gp.log_marginal_likelihood(
            self.gp_
        )
        return self

    def predict(
        self,
        X: Any,
        return_std: bool = False,
        return_cov: bool = False,
        noisy: bool = False,
    ) -> Any:
        """Predictive means, with standard deviations or covariances.

        They are those of the function y(x), as in scikit-learn where the
        noise is ``alpha``; with ``noisy`` those of a new target, larger in
        variance by 1/β, as with scikit-learn's ``WhiteKernel``.

        Parameters
        ----------
        X : N* new inputs
        return_std : whether to return standard deviations
        return_cov : whether to return covariances
        noisy : whether these count the noise of a new target

        Returns
        -------
        mean : (N*,), or (N*, Q) for Q outputs
        std : (N*,) or (N*, Q), if asked for
        cov : (N*, N*) or (N*, N*, Q), if asked for

        Raises
        ------
        ValueError
            If both are asked for; or noisy ones, and beta was given for each
            target: then write ``gp.predict(model.gp_, Z, beta)``.
        """
        Z = self._new_inputs(X)
        if return_std and return_cov:
            raise ValueError(
                "return_std or return_cov must be False, got True for both"
            )
        if not (return_std or return_cov):
            return gp.mean(self.gp_, Z)
        if return_std:
            m, latent, new = gp.predict(self.gp_, Z, self._new_beta(noisy))
            return m, self._per_output(np.sqrt(new if noisy else latent))
        cov = gp.covariance(self.gp_, Z)
        cov = _linalg.add_to_diagonal(cov, 1 / self._new_beta(noisy), True)
        return gp.mean(self.gp_, Z), self._per_output(cov)

    def sample_y(
        self, X: Any, n_samples: int = 1, random_state: Any = 0
    ) -> FloatArray:
        """Functions drawn from the posterior, seen at new inputs.

        Parameters
        ----------
        X : N* new inputs
        n_samples : number of functions
        random_state : as for the class

        Returns
        -------
        Y : (N*, n_samples), without noise; (N*, Q, n_samples) for Q outputs
        """
        Z, rng = self._new_inputs(X), _generator(random_state)
        return np.moveaxis(gp.sample(self.gp_, Z, n_samples, rng), 0, -1)

    def _kernel_for(self, X: Any) -> Kernel:
        k = super()._kernel_for(X)
        return k if self.kernel is not None else 1.0 * k

    def _learned(self, X: Any, y: Any) -> learning.Learned:
        return learning.learn(
            self.kernel_,
            X,
            y,
            self.beta,
            self.mean,
            hold=self.hold,
            restarts=self.restarts,
            rng=_generator(self.random_state),
            evaluations=self.evaluations,
            progress=self.progress,
        )

    def _new_beta(self, noisy: bool) -> float:
        """The noise precision of new targets, infinite if it is not asked."""
        if not noisy:
            return np.inf
        if np.ndim(self.beta_) > 0:
            raise ValueError(
                "noisy must be False where beta is one for each target, got "
                "True; write gp.predict(model.gp_, Z, beta)"
            )
        return float(self.beta_)

    def _per_output(self, spread: FloatArray) -> FloatArray:
        """The same spread for each of several outputs, as scikit-learn's."""
        if self.gp_.t.ndim == 1:
            return spread
        return np.repeat(spread[..., None], gp.outputs(self.gp_), axis=-1)


class _WithLandmarks(_KernelRegressor):
    """A regressor that chooses landmarks among its inputs."""

    M: int
    landmarks: str
    random_state: Any

    def _chosen(self, k: Kernel, X: Any, lam: float) -> Any:
        """Inputs that are landmarks, at most M and none superfluous."""
        N, rng = number_of(X), _generator(self.random_state)
        M = min(_checks.count(self.M, "M"), N)
        if self.landmarks == "pivoted":
            numbers = nystrom.pivoted_cholesky(k, X, M).numbers
            return _expansion.chosen(X, numbers)
        numbers = nystrom.uniform_landmarks(N, M, rng)
        if self.landmarks == "leverage":
            first = _independent(k, _expansion.chosen(X, numbers))
            scores = nystrom.approximate_leverage_scores(k, X, lam, first)
            M = min(M, int(np.count_nonzero(scores)))
            numbers = nystrom.draw_landmarks(scores, M, rng)
        elif self.landmarks != "uniform":
            raise ValueError(
                "landmarks must be 'uniform', 'leverage' or 'pivoted', got "
                f"{self.landmarks!r}"
            )
        return _independent(k, _expansion.chosen(X, numbers))


def _independent(k: Kernel, landmarks: Any) -> Any:
    """Those that add something to the others, under the kernel."""
    kept = nystrom.independent_landmarks(k, landmarks)
    return _expansion.chosen(landmarks, kept)


class NystromRidge(_WithLandmarks):
    """Kernel ridge regression with landmarks: ``nystrom.fit``.

    Parameters
    ----------
    kernel : kernel; Gaussian of scikit-learn's "scale" if None
    lam : λ > 0
    M : number of landmarks, at most
    landmarks : how they are chosen: "uniform", by "leverage" scores, or by
        "pivoted" Cholesky
    random_state : seed of the choice, a seed, a NumPy generator of either
        kind, or None
    progress : as in ``nystrom.fit``

    Attributes
    ----------
    kernel_
        the kernel that was used
    landmarks_
        the inputs that were chosen
    model_
        what ``nystrom.fit`` returned

    Examples
    --------
    >>> from kernelbook.kernels import Linear
    >>> model = NystromRidge(Linear(), lam=1.0).fit([[1.0], [2.0]], [1.0, 1.0])
    >>> model.predict([[3.0]]).round(6), model.landmarks_
    (array([1.5]), array([[2.]]))
    """

    def __init__(
        self,
        kernel: Any = None,
        lam: float = 1.0,
        M: int = 100,
        landmarks: str = "uniform",
        random_state: Any = 0,
        progress: bool = True,
    ) -> None:
        self.kernel = kernel
        self.lam = lam
        self.M = M
        self.landmarks = landmarks
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: Any, y: ArrayLike) -> "NystromRidge":
        """Fit to N inputs X and (N,) or (N, Q) targets y."""
        X, y = self._examples(X, y, multi_output=True, y_numeric=True)
        k = self._kernel_for(X)
        L = self._chosen(k, X, self.lam)
        model = nystrom.fit(k, X, y, self.lam, L, progress=self.progress)
        self.kernel_, self.landmarks_, self.model_ = k, L, model
        return self

    def predict(self, X: Any) -> FloatArray:
        """The (N*,) or (N*, Q) predictions at new inputs."""
        Z = self._new_inputs(X)
        return self.model_.predict(Z)


class FourierRidge(_KernelRegressor):
    """Ridge regression on random Fourier features: ``fourier.fit``.

    Parameters
    ----------
    kernel : stationary kernel, as in ``fourier.frequencies``; Gaussian of
        scikit-learn's "scale" if None
    lam : λ > 0
    M : number of features, even
    orthogonal, dtype, progress : as in ``fourier.fit``
    random_state : seed of the frequencies, a seed, a NumPy generator of
        either kind, or None

    Attributes
    ----------
    kernel_
        the kernel that was used
    model_
        what ``fourier.fit`` returned

    Examples
    --------
    >>> from kernelbook.kernels import Gaussian
    >>> model = FourierRidge(Gaussian(0.5), lam=0.1, M=2000)
    >>> model.fit([[0.0], [1.0]], [0.0, 1.0]).predict([[1.0]]).round(1)
    array([0.9])
    """

    def __init__(
        self,
        kernel: Any = None,
        lam: float = 1.0,
        M: int = 200,
        orthogonal: bool = False,
        dtype: Any = np.float32,
        random_state: Any = 0,
        progress: bool = True,
    ) -> None:
        self.kernel = kernel
        self.lam = lam
        self.M = M
        self.orthogonal = orthogonal
        self.dtype = dtype
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: Any, y: ArrayLike) -> "FourierRidge":
        """Fit to N inputs X and (N,) or (N, Q) targets y."""
        X, y = self._examples(X, y, multi_output=True, y_numeric=True)
        k = self._kernel_for(X)
        self.model_ = fourier.fit(
            k,
            X,
            y,
            self.lam,
            self.M,
            _generator(self.random_state),
            orthogonal=self.orthogonal,
            dtype=self.dtype,
            progress=self.progress,
        )
        self.kernel_ = k
        return self

    def predict(self, X: Any) -> FloatArray:
        """The (N*,) or (N*, Q) predictions at new inputs."""
        Z = self._new_inputs(X)
        return self.model_.predict(Z)


class IterativeRidge(_WithLandmarks):
    """Kernel ridge regression by conjugate gradients: ``iterative.fit``.

    Parameters
    ----------
    kernel : kernel; Gaussian of scikit-learn's "scale" if None
    lam : λ > 0
    M : number of landmarks of the preconditioner, at most
    landmarks, random_state : as in ``NystromRidge``
    tolerance, max_iterations, progress : as in ``iterative.fit``

    Attributes
    ----------
    kernel_
        the kernel that was used
    dual_coef_
        (N,) coefficients a, or (N, Q) for Q outputs
    error_
        bound on the error of any prediction, over √k(x, x)
    n_iter_
        number of iterations
    status_
        "converged", or why it ended before
    model_
        what ``iterative.fit`` returned

    Examples
    --------
    >>> from kernelbook.kernels import Linear
    >>> model = IterativeRidge(Linear()).fit([[1.0], [2.0]], [1.0, 1.0])
    >>> model.predict([[3.0]]).round(6), model.status_
    (array([1.5]), 'converged')
    """

    def __init__(
        self,
        kernel: Any = None,
        lam: float = 1.0,
        M: int = 100,
        landmarks: str = "uniform",
        tolerance: float = 1e-8,
        max_iterations: int = 1000,
        random_state: Any = 0,
        progress: bool = True,
    ) -> None:
        self.kernel = kernel
        self.lam = lam
        self.M = M
        self.landmarks = landmarks
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: Any, y: ArrayLike) -> "IterativeRidge":
        """Fit to N inputs X and (N,) or (N, Q) targets y."""
        X, y = self._examples(X, y, multi_output=True, y_numeric=True)
        k = self._kernel_for(X)
        self.model_ = iterative.fit(
            k,
            X,
            y,
            self.lam,
            self._chosen(k, X, self.lam),
            tolerance=self.tolerance,
            max_iterations=self.max_iterations,
            progress=self.progress,
        )
        self.kernel_, self.dual_coef_ = k, self.model_.a
        self.error_ = self.model_.error
        # scikit-learn counts from 1, and targets of zeros take no step
        self.n_iter_ = max(1, self.model_.iterations)
        self.status_ = self.model_.status
        return self

    def predict(self, X: Any) -> FloatArray:
        """The (N*,) or (N*, Q) predictions at new inputs."""
        Z = self._new_inputs(X)
        return self.model_.predict(Z)


class SparseGaussianProcessRegressor(_WithLandmarks):
    """A process with inducing points: ``inducing.learn``, ``inducing.fit``.

    Parameters
    ----------
    kernel : kernel, where learning starts; if None, 1.0 * Gaussian of
        scikit-learn's "scale"
    beta : noise precision, one over the noise variance, where learning
        starts
    M : number of landmarks, at most
    landmarks, random_state : as in ``NystromRidge``; chosen for the kernel
        given, and left out where they add nothing for that learned
    learn : whether to learn the kernel and beta
    fitc : as in ``inducing.fit``, after learning
    hold, evaluations, progress : as in ``inducing.learn``

    Attributes
    ----------
    kernel_, beta_
        the kernel and the noise precision that were used
    landmarks_
        the inputs that were chosen
    gp_
        what ``inducing.fit`` returned
    learned_
        what ``inducing.learn`` returned, or None

    Examples
    --------
    >>> from kernelbook.kernels import Gaussian
    >>> X, t = [[0.0], [1.0], [2.0], [3.0]], [0.1, 0.9, 0.8, 0.2]
    >>> model = SparseGaussianProcessRegressor(Gaussian(0.5), beta=10.0)
    >>> mean, std = model.fit(X, t).predict([[1.5]], return_std=True)
    >>> mean.round(2), std.round(2)
    (array([0.97]), array([0.02]))
    """

    def __init__(
        self,
        kernel: Any = None,
        beta: float = 1.0,
        M: int = 100,
        landmarks: str = "uniform",
        learn: bool = True,
        fitc: bool = False,
        hold: Any = (),
        evaluations: int = 200,
        random_state: Any = 0,
        progress: bool = True,
    ) -> None:
        self.kernel = kernel
        self.beta = beta
        self.M = M
        self.landmarks = landmarks
        self.learn = learn
        self.fitc = fitc
        self.hold = hold
        self.evaluations = evaluations
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: Any, y: ArrayLike) -> "SparseGaussianProcessRegressor":
        """Learn and condition on N inputs X and (N,) or (N, Q) targets y."""
        X, y = self._examples(X, y, multi_output=True, y_numeric=True)
        k, beta = self._kernel_for(X), self.beta
        L = self._chosen(k, X, 1 / _checks.positive(beta, "beta"))
        learned = self._learned(k, X, y, L) if self.learn else None
        if learned is not None:
            k, beta = learned.k, learned.beta
            L = _independent(k, L)
        self.gp_ = inducing.fit(
            k, X, y, beta, L, fitc=self.fitc, progress=self.progress
        )
        self.kernel_, self.beta_ = k, beta
        self.landmarks_, self.learned_ = L, learned
        return self

    def predict(
        self, X: Any, return_std: bool = False, noisy: bool = False
    ) -> Any:
        """Predictive means, with standard deviations if asked for.

        They are those of the function y(x); with ``noisy`` those of a new
        target, larger in variance by 1/β.

        Parameters
        ----------
        X : N* new inputs
        return_std : whether to return standard deviations
        noisy : whether these count the noise of a new target

        Returns
        -------
        mean : (N*,), or (N*, Q) for Q outputs
        std : (N*,) or (N*, Q), if asked for
        """
        Z = self._new_inputs(X)
        m, latent, new = inducing.predict(self.gp_, Z)
        if not return_std:
            return m
        std = np.sqrt(new if noisy else latent)
        return m, std if m.ndim == 1 else np.repeat(
            std[:, None], m.shape[1], 1
        )

    def _kernel_for(self, X: Any) -> Kernel:
        k = super()._kernel_for(X)
        return k if self.kernel is not None else 1.0 * k

    def _learned(self, k: Kernel, X: Any, y: Any, L: Any) -> learning.Learned:
        return inducing.learn(
            k,
            X,
            y,
            self.beta,
            L,
            hold=self.hold,
            evaluations=self.evaluations,
            progress=self.progress,
        )


class SVC(_KernelClassifier):
    """Support vector machines: ``svm.fit_dual``, by pairs for many classes.

    For K > 2 classes it is ``multiclass.one_vs_one``: one machine for each of
    the P = K(K-1)/2 pairs ``multiclass.pairs(K)``, and the class with the most
    votes wins, ties going to the largest total score; so does scikit-learn's
    ``SVC(break_ties=True)``.  For two classes P = 1.

    Parameters
    ----------
    kernel : kernel; Gaussian of scikit-learn's "scale" if None
    C : > 0
    bias : whether the machines have a bias
    tolerance, max_iterations, max_seconds, progress : as in ``svm.fit_dual``

    Attributes
    ----------
    classes_
        (K,) labels, sorted
    kernel_
        the kernel that was used
    machines_
        tuple of P machines, what ``svm.fit`` returns
    support_
        (S,) numbers of the examples that support any of them
    dual_coef_
        (P, S) coefficients α_n t_n, 0 where one does not support
    intercept_
        (P,) biases
    gap_
        (P,) primal minus dual, the certificates
    status_
        tuple of P words, "converged" or why a solver stopped before

    Examples
    --------
    >>> from kernelbook.kernels import Linear
    >>> X, y = [[1.0], [-1.0], [5.0]], ["spam", "ham", "spam"]
    >>> model = SVC(Linear(), C=9.0).fit(X, y)
    >>> model.decision_function([[3.0], [-2.0]]), model.support_
    (array([ 3., -2.]), array([0, 1]))
    >>> model.predict([[3.0], [-2.0]]).tolist(), model.status_
    (['spam', 'ham'], ('converged',))
    """

    def __init__(
        self,
        kernel: Any = None,
        C: float = 1.0,
        bias: bool = True,
        tolerance: float = 1e-6,
        max_iterations: int | None = None,
        max_seconds: float | None = None,
        progress: bool = True,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.bias = bias
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.max_seconds = max_seconds
        self.progress = progress

    def fit(self, X: Any, y: ArrayLike) -> "SVC":
        """Fit to N inputs X and their (N,) labels y, of any kind."""
        X, t = self._classes(X, y)
        self.kernel_ = self._kernel_for(X)
        # By number, because inputs need not be rows of an array.
        numbers = np.arange(float(len(t)))[:, None]
        parts, machines = [], []

        def fit_part(numbers: FloatArray, signs: FloatArray) -> Any:
            parts.append(numbers[:, 0].astype(np.intp))
            machines.append(
                self._machine(_expansion.chosen(X, parts[-1]), signs)
            )
            return machines[-1].output

        if self._coding.K == 2:
            fit_part(numbers, np.where(t == 1, 1.0, -1.0))
        else:
            multiclass.one_vs_one(fit_part, numbers, t, self._coding.K)
        self.machines_ = tuple(machines)
        self._tell(parts, len(t))
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Scores at new inputs; the largest, or the sign of one, decides.

        For two classes the (N*,) outputs y(x), positive for ``classes_[1]``.
        For more, (N*, K) votes v_k + s_k / (3(1 + abs(s_k))): the total scores
        s_k of ``multiclass.total_scores`` decide between equal votes.
        """
        Z = self._new_inputs(X)
        F = np.column_stack([one.output(Z) for one in self.machines_])
        if self._coding.K == 2:
            return np.asarray(F[:, 0])
        s = multiclass.total_scores(F, self._coding.K)
        v = multiclass.votes(F, self._coding.K)
        return np.asarray(v + s / (3 * (1 + np.abs(s))))

    def predict(self, X: Any) -> Any:
        """The (N*,) labels of new inputs."""
        return self._labels(self.decision_function(X))

    def _machine(self, X: Any, t: FloatArray) -> svm.KernelMachine:
        return svm.fit(
            self.kernel_,
            X,
            t,
            self.C,
            bias=self.bias,
            tolerance=self.tolerance,
            max_iterations=self.max_iterations,
            max_seconds=self.max_seconds,
            progress=self.progress,
        )

    def _tell(self, parts: list[Any], N: int) -> None:
        """What scikit-learn's users look for, from the machines."""
        found = [machine.svm for machine in self.machines_]
        coefficients = np.zeros((len(found), N))
        for row, part, one in zip(coefficients, parts, found, strict=True):
            row[part] = one.coefficients
        self.support_ = np.flatnonzero(coefficients.any(axis=0))
        self.dual_coef_ = coefficients[:, self.support_]
        self.intercept_ = np.array([one.b for one in found])
        self.gap_ = np.array([one.gap for one in found])
        self.status_ = tuple(one.status for one in found)


class SVR(RegressorMixin, _KernelEstimator):
    """Support vector regression: ``svr.fit``.

    Parameters
    ----------
    kernel : kernel; Gaussian of scikit-learn's "scale" if None
    C : > 0
    epsilon : >= 0, half the width of the tube
    bias : whether there is a bias
    tolerance, max_iterations, max_seconds, progress : as in ``svr.fit_dual``

    Attributes
    ----------
    kernel_
        the kernel that was used
    model_
        what ``svr.fit`` returned
    support_
        (S,) numbers of the examples on the edge of the tube or outside it
    dual_coef_
        (1, S) their coefficients α_n - α̂_n
    intercept_
        (1,) bias
    gap_
        primal minus dual, the certificate
    status_
        "converged", or why the solver stopped before

    Examples
    --------
    >>> from kernelbook.kernels import Linear
    >>> X, y = [[1.0], [0.0], [-1.0]], [2.0, 0.25, -2.0]
    >>> model = SVR(Linear(), C=10.0, epsilon=0.5).fit(X, y)
    >>> model.predict([[3.0], [-2.0]]), model.support_, model.status_
    (array([ 4.5, -3. ]), array([0, 2]), 'converged')
    """

    def __init__(
        self,
        kernel: Any = None,
        C: float = 1.0,
        epsilon: float = 0.1,
        bias: bool = True,
        tolerance: float = 1e-6,
        max_iterations: int | None = None,
        max_seconds: float | None = None,
        progress: bool = True,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.epsilon = epsilon
        self.bias = bias
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.max_seconds = max_seconds
        self.progress = progress

    def fit(self, X: Any, y: ArrayLike) -> "SVR":
        """Fit to N inputs X and (N,) targets y."""
        X, y = self._examples(X, y, y_numeric=True)
        self.kernel_ = self._kernel_for(X)
        self.model_ = svr.fit(
            self.kernel_,
            X,
            y,
            self.C,
            self.epsilon,
            bias=self.bias,
            tolerance=self.tolerance,
            max_iterations=self.max_iterations,
            max_seconds=self.max_seconds,
            progress=self.progress,
        )
        found = self.model_.svr
        self.support_ = found.support
        self.dual_coef_ = found.a[None, found.support]
        self.intercept_ = np.array([found.b])
        self.gap_ = found.gap
        self.status_ = found.status
        return self

    def predict(self, X: Any) -> FloatArray:
        """The (N*,) predictions at new inputs."""
        Z = self._new_inputs(X)
        return self.model_.predict(Z)


class KernelLogisticRegression(_KernelClassifier):
    """Kernel logistic regression: ``kernel_logistic.fit_dual``.

    There is no bias: add ``Constant(c)`` to the kernel where one is wanted.

    For K > 2 classes it is ``multiclass.one_vs_rest``, and the probabilities
    of the K classes, each against the rest, are divided by their sum.  These
    K models know nothing of each other, so this is a convention, not the
    posterior of one model; for that see ``softmax``.

    Parameters
    ----------
    kernel : kernel; Gaussian of scikit-learn's "scale" if None
    lam : λ > 0
    tolerance, max_iterations, progress : as in ``kernel_logistic.fit_dual``

    Attributes
    ----------
    classes_
        (K,) labels, sorted
    kernel_
        the kernel that was used
    fits_
        tuple of what ``kernel_logistic.fit_dual`` returned: one for two
        classes, else one for each class
    dual_coef_
        (1, N) or (K, N) coefficients a
    status_
        tuple of words, "converged" or why a solver stopped before

    Examples
    --------
    >>> from kernelbook.kernels import Gaussian
    >>> model = KernelLogisticRegression(Gaussian(1.0), lam=0.1)
    >>> model.fit([[0.0], [1.0]], ["ham", "spam"]).classes_.tolist()
    ['ham', 'spam']
    >>> model.predict_proba([[0.0], [0.5]]).round(3)
    array([[0.79, 0.21],
           [0.5 , 0.5 ]])
    """

    def __init__(
        self,
        kernel: Any = None,
        lam: float = 1.0,
        tolerance: float = 1e-8,
        max_iterations: int = 50,
        progress: bool = True,
    ) -> None:
        self.kernel = kernel
        self.lam = lam
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.progress = progress

    def fit(self, X: Any, y: ArrayLike) -> "KernelLogisticRegression":
        """Fit to N inputs X and their (N,) labels y, of any kind."""
        X, t = self._classes(X, y)
        self.kernel_ = self._kernel_for(X)
        self._X = _expansion.own_inputs(self.kernel_, X)
        K = _expansion.gram(self.kernel_, self._X)
        fits = []

        def fit_one(K: FloatArray, signs: FloatArray) -> Any:
            fits.append(self._fit_dual(K, signs))
            return fits[-1]

        if self._coding.K == 2:
            fit_one(K, np.where(t == 1, 1.0, -1.0))
        else:
            multiclass.one_vs_rest(fit_one, K, t, self._coding.K)
        self.fits_ = tuple(fits)
        self.dual_coef_ = np.array([one.a for one in fits])
        self.status_ = tuple(one.status for one in fits)
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Log-odds at new inputs.

        For two classes (N*,), of ``classes_[1]``; for more (N*, K), of each
        class against the rest.
        """
        Z = self._new_inputs(X)
        k = self.kernel_(self._X, Z)
        y = [kernel_logistic.output(a, k) for a in self.dual_coef_]
        return y[0] if self._coding.K == 2 else np.column_stack(y)

    def predict(self, X: Any) -> Any:
        """The (N*,) labels of new inputs."""
        return self._labels(self.decision_function(X))

    def predict_proba(self, X: Any) -> FloatArray:
        """(N*, K) probabilities of the classes; rows add up to one."""
        Z = self._new_inputs(X)
        k = self.kernel_(self._X, Z)
        P = [kernel_logistic.probability(a, k) for a in self.dual_coef_]
        if self._coding.K == 2:
            return np.column_stack([1 - P[0], P[0]])
        scores: FloatArray = np.column_stack(P)
        scores /= scores.sum(axis=1, keepdims=True)
        return scores

    def _fit_dual(self, K: FloatArray, t: FloatArray) -> Any:
        return kernel_logistic.fit_dual(
            K,
            t,
            self.lam,
            tolerance=self.tolerance,
            max_iterations=self.max_iterations,
            progress=self.progress,
        )


def _taken(kernel: Any, X: Any) -> Any:
    """What the kernel makes of inputs as they come, None if it refuses.

    A tuple says that they are objects, which scikit-learn cannot check.
    """
    if not isinstance(kernel, Kernel):
        return None
    try:
        return kernel.check(X, "X")
    except ValueError:
        return None


def _generator(random_state: Any) -> Any:
    """What the library calls ``rng``, from what scikit-learn allows."""
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31)
    return _checks.generator(random_state, "random_state")
