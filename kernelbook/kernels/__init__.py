"""Kernels, as callables: ``k(X, Z)`` is the (N, N*) array of all k(x_n, z_m).

``k(X)`` is the Gram matrix ``k(X, X)``, exactly symmetric.  New kernels are
built from old ones by the eight rules of chapter 6, so that whatever can be
written down is a kernel:

=============================  =======================================
kernel                         Python
=============================  =======================================
xᵀx'                           rule 1, ``Linear()``
c k₁(x, x'), c >= 0            rule 2, ``c * k1``
k₁(x, x') + k₂(x, x')          rule 3, ``k1 + k2``, ``sum([k1, k2])``
k₁(x, x') k₂(x, x')            rule 4, ``k1 * k2``
q(k₁(x, x')), q >= 0           rule 5, ``k1.polynomial(coefficients)``
f(x) k₁(x, x') f(x')           rule 6, ``k1.conjugate(f)``
exp(k₁(x, x'))                 rule 7, ``exp(k1)``
xᵀAx', A = Aᵀ ⪰ 0              rule 8, ``QuadraticForm(A)``
=============================  =======================================

``k1.on(columns)`` looks at some columns of the inputs only.  How to write a
kernel of your own stands at the top of ``kernelbook/kernels/base.py``.

In scikit-learn, ``SVC(kernel=k)`` takes a kernel as it is.  ``KernelRidge``
calls a function once for every pair of inputs, which takes minutes where
``KernelRidge(kernel="precomputed").fit(k(X), t)`` takes a second; or use
``kernelbook.estimators``.
"""

from kernelbook._gram import squared_distances
from kernelbook.kernels.base import (
    hyperparameter,
    non_negative,
    positive,
    setting,
)
from kernelbook.kernels.exponential_quadratic import ExponentialQuadratic
from kernelbook.kernels.inner_product import (
    Constant,
    Linear,
    Polynomial,
    QuadraticForm,
    quadratic_form,
)
from kernelbook.kernels.objects import (
    CountingKernel,
    Graph,
    SetIntersection,
    Spectrum,
    WeisfeilerLehman,
)
from kernelbook.kernels.rules import (
    Conjugate,
    Exponential,
    Kernel,
    On,
    PolynomialOf,
    Product,
    Scaled,
    Sum,
    exp,
    terms,
)
from kernelbook.kernels.stationary import (
    ARDGaussian,
    Gaussian,
    Matern,
    Periodic,
    RationalQuadratic,
    Stationary,
)
from kernelbook.kernels.wide_networks import ArcCosine, ArcSine

__all__ = [
    "ARDGaussian",
    "ArcCosine",
    "ArcSine",
    "Conjugate",
    "Constant",
    "CountingKernel",
    "Exponential",
    "ExponentialQuadratic",
    "Gaussian",
    "Graph",
    "Kernel",
    "Linear",
    "Matern",
    "On",
    "Periodic",
    "Polynomial",
    "PolynomialOf",
    "Product",
    "QuadraticForm",
    "RationalQuadratic",
    "Scaled",
    "SetIntersection",
    "Spectrum",
    "Stationary",
    "Sum",
    "WeisfeilerLehman",
    "exp",
    "hyperparameter",
    "non_negative",
    "positive",
    "quadratic_form",
    "setting",
    "squared_distances",
    "terms",
]
