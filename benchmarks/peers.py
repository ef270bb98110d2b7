"""What a reader would pick instead, called as its manual says."""

import importlib
import importlib.util
import warnings
from importlib.metadata import version
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.gaussian_process import (
    GaussianProcessClassifier,
    GaussianProcessRegressor,
)
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    WhiteKernel,
)
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from kernelbook import kernels

MODULES = {
    "scikit-learn": "sklearn",
    "GPyTorch": "gpytorch",
    "OSQP": "osqp",
    "Clarabel": "clarabel",
    "CVXOPT": "cvxopt",
}


def versions():
    """Name of each peer → its version, None if it is not installed."""
    return {
        name: version(name) if importlib.util.find_spec(module) else None
        for name, module in MODULES.items()
    }


def present(runs):
    """Those of the runs whose peer is installed, and now imported.

    An import that takes seconds must not fall into the first run.
    """
    installed = versions()
    for name in runs:
        if installed[name]:
            importlib.import_module(MODULES[name])
    return {name: run for name, run in runs.items() if installed[name]}


# ------------------------------------------------------------- regression


def kernel_ridge(X, t, Z, gamma, lam):
    model = KernelRidge(kernel="rbf", gamma=gamma, alpha=lam)
    return model.fit(X, t).predict(Z)


def gp_scikit(X, t, Z, theta, beta):
    """Mean and latent variance; scikit-learn's alpha is the noise 1/β."""
    kernel = ConstantKernel(theta[0]) * RBF(theta[1] ** -0.5)
    model = GaussianProcessRegressor(kernel, alpha=1 / beta, optimizer=None)
    mean, deviation = model.fit(X, t).predict(Z, return_std=True)
    return mean, deviation**2


def gp_gpytorch(X, t, Z, theta, beta):
    """Exact inference by Cholesky, in double precision, on one thread."""
    import gpytorch
    import torch

    torch.set_num_threads(1)

    class Model(gpytorch.models.ExactGP):
        def __init__(self, X, t, likelihood):
            super().__init__(X, t, likelihood)
            self.mean_module = gpytorch.means.ZeroMean()
            self.covar_module = gpytorch.kernels.ScaleKernel(
                gpytorch.kernels.RBFKernel()
            )

        def forward(self, X):
            return gpytorch.distributions.MultivariateNormal(
                self.mean_module(X), self.covar_module(X)
            )

    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    model = Model(torch.from_numpy(X), torch.from_numpy(t), likelihood)
    model = model.double()
    # As tensors: GPyTorch would round plain floats to single precision.
    values = torch.from_numpy(np.array([theta[0], theta[1] ** -0.5, 1 / beta]))
    model.covar_module.outputscale = values[0]
    model.covar_module.base_kernel.lengthscale = values[1]
    likelihood.noise = values[2]
    model.eval()
    exactly = gpytorch.settings.fast_computations(False, False, False)
    with torch.no_grad(), exactly, gpytorch.settings.max_cholesky_size(10**6):
        y = model(torch.from_numpy(Z))
        return y.mean.numpy(), y.variance.numpy()


def evidence_scikit(X, t, theta, beta):
    """Value, and gradient by ln θ₀, ..., ln θ₃, ln β."""
    model = GaussianProcessRegressor(
        _exponential_quadratic(theta, beta), alpha=0.0, optimizer=None
    ).fit(X, t)

    def run():
        value, by = model.log_marginal_likelihood(
            model.kernel_.theta, eval_gradient=True
        )
        # θ₁ = 1/length², and the white noise is 1/β.
        return value, by * np.array([1.0, -0.5, 1.0, 1.0, -1.0])

    return run


def learned_scikit(X, t, theta, beta):
    model = GaussianProcessRegressor(
        _exponential_quadratic(theta, beta), alpha=0.0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of values at the edge
        return model.fit(X, t).log_marginal_likelihood_value_


def _exponential_quadratic(theta, beta):
    wide = (1e-6, 1e6)
    return (
        ConstantKernel(theta[0], wide) * RBF(theta[1] ** -0.5, wide)
        + ConstantKernel(theta[2], wide)
        + ConstantKernel(theta[3], wide) * DotProduct(0.0, "fixed")
        + WhiteKernel(1 / beta, wide)
    )


# --------------------------------------------------------- when N is large


def nystroem_ridge(X, t, Z, gamma, lam, M):
    """With the landmarks that :func:`nystroem_landmarks` foretells."""
    model = make_pipeline(
        Nystroem(gamma=gamma, n_components=M, random_state=0),
        Ridge(lam, fit_intercept=False),
    )
    return model.fit(X, t).predict(Z)


def nystroem_landmarks(N, M):
    return np.random.RandomState(0).permutation(N)[:M]


def sampler_ridge(X, t, Z, gamma, lam, M):
    model = make_pipeline(
        RBFSampler(gamma=gamma, n_components=M, random_state=0),
        Ridge(lam, fit_intercept=False),
    )
    return model.fit(X, t).predict(Z)


def sgpr(X, t, landmarks, gamma, height, beta):
    """GPyTorch's bound and its gradient by ln height, ln γ, ln β.

    In double precision on one thread, with the settings of its tutorial: it
    knows that the matrix is of low rank plus a diagonal.  The landmarks have
    no gradient, as ours have none.
    """
    import gpytorch
    import torch

    torch.set_num_threads(1)

    class Model(gpytorch.models.ExactGP):
        def __init__(self, X, t, likelihood):
            super().__init__(X, t, likelihood)
            self.mean_module = gpytorch.means.ZeroMean()
            self.base = gpytorch.kernels.ScaleKernel(
                gpytorch.kernels.RBFKernel()
            )
            self.covar_module = gpytorch.kernels.InducingPointKernel(
                self.base,
                inducing_points=torch.from_numpy(landmarks.copy()),
                likelihood=likelihood,
            )

        def forward(self, X):
            return gpytorch.distributions.MultivariateNormal(
                self.mean_module(X), self.covar_module(X)
            )

    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    model = Model(torch.from_numpy(X), torch.from_numpy(t), likelihood)
    model = model.double()
    length = (2 * gamma) ** -0.5
    values = torch.from_numpy(np.array([height, length, 1 / beta]))
    model.base.outputscale = values[0]
    model.base.base_kernel.lengthscale = values[1]
    likelihood.noise = values[2]
    model.covar_module.inducing_points.requires_grad_(False)
    model.train()
    mll = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    raw = [
        model.base.raw_outputscale,
        model.base.base_kernel.raw_lengthscale,
        likelihood.noise_covar.raw_noise,
    ]

    def run():
        model.zero_grad()
        value = mll(model(*model.train_inputs), model.train_targets)
        value.backward()
        # From raw numbers, p = softplus(raw), to logarithms of ours.
        slopes = []
        for parameter, p in zip(raw, values.numpy(), strict=True):
            by_p = parameter.grad.item() / torch.sigmoid(parameter).item()
            slopes.append(by_p * p * len(t))
        by = np.array([slopes[0], -slopes[1] / 2, -slopes[2]])
        return value.item() * len(t), by

    return run


# --------------------------------------------------------- classification


def svc(X, t, k, C):
    """Signed coefficients v, by LIBSVM's own kernels."""
    kinds: dict[type, Any] = {
        kernels.Gaussian: lambda: {"gamma": k.gamma},
        kernels.Linear: lambda: {"kernel": "linear"},
        kernels.Polynomial: lambda: {
            "kernel": "poly", "degree": k.degree, "gamma": 1.0, "coef0": k.c
        },
    }  # fmt: skip
    kind = kinds[type(k)]()
    machine = SVC(C=C, tol=1e-6, cache_size=1000, **kind).fit(X, t)
    v = np.zeros(len(t))
    v[machine.support_] = machine.dual_coef_[0]
    return v


def gp_classifier(X, t, gamma):
    """P(t = +1) at the mode, on the training inputs."""
    kernel = RBF((2 * gamma) ** -0.5)
    model = GaussianProcessClassifier(kernel, optimizer=None)
    return model.fit(X, t).base_estimator_.pi_


# ------------------------------------ quadratic programs: min ½xᵀPx - 1ᵀx


def _program(K, t, C):
    N = len(t)
    P = K * np.outer(t, t)
    return P, -np.ones(N), np.zeros(N), np.full(N, C)


def osqp_dual(K, t, C):
    import osqp

    P, q, low, high = _program(K, t, C)
    solver = osqp.OSQP()
    A = sparse.vstack([sparse.csc_matrix(t), sparse.identity(len(t))], "csc")
    solver.setup(
        sparse.triu(sparse.csc_matrix(P), format="csc"), q, A,
        np.append(0.0, low), np.append(0.0, high),
        verbose=False, eps_abs=1e-6, eps_rel=1e-6, max_iter=100_000,
    )  # fmt: skip
    return t * solver.solve().x.clip(low, high)


def clarabel_dual(K, t, C):
    import clarabel

    P, q, low, high = _program(K, t, C)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    one = sparse.identity(len(t))
    A = sparse.vstack([sparse.csc_matrix(t), -one, one], "csc")
    b = np.concatenate([[0.0], -low, high])
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(2 * len(t))]
    P = sparse.triu(sparse.csc_matrix(P), format="csc")
    solver = clarabel.DefaultSolver(P, q, A, b, cones, settings)
    return t * np.array(solver.solve().x).clip(low, high)


def cvxopt_dual(K, t, C):
    from cvxopt import matrix, solvers, spdiag

    P, q, low, high = _program(K, t, C)
    G = matrix([-spdiag([1.0] * len(t)), spdiag([1.0] * len(t))])
    h = matrix(np.concatenate([-low, high]))
    solution = solvers.qp(
        matrix(P), matrix(q), G, h, matrix(t[None]), matrix(0.0),
        options={"show_progress": False},
    )  # fmt: skip
    return t * np.array(solution["x"]).ravel().clip(low, high)
