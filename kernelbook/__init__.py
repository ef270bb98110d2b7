"""Kernelbook: small functions, each beside the equation it computes.

One module per idea of the book, named as a reader would look it up.  Each is
loaded when it is first used: ``import kernelbook; kernelbook.gp.fit``.

=================== ===================================================
``features``        feature maps and design matrices
``kernels``         kernels, as callables ``k(X, Z)``, and their algebra
``validity``        which functions are kernels: certificates, a search
``ridge``           ridge regression, primal and dual
``logistic``        logistic regression with a bias, by Newton's method
``kernel_logistic`` logistic regression in the dual
``kernel_pca``      principal components in feature space
``softmax``         logistic regression with many classes
``perceptron``      the perceptron, primal and dual, its mistake bound
``discriminant``    scores, hyperplanes and least squares for classes
``fisher``          directions that separate classes, with a kernel too
``multiclass``      many classes from two, by the rest or by pairs
``bayes``           generative classifiers: LDA, QDA, naive Bayes
``labels``          from your class labels to those of the book, and back
``gaussians``       Gaussian vectors and processes: densities, draws
``gp``              Gaussian-process regression
``learning``        marginal likelihood, its gradient, learning a kernel
``networks``        networks with random weights, mixed activations
``mean_field``      a factorised posterior for a product of two unknowns
``duality``         Lagrangian duality for quadratic programs
``margin``          hyperplanes, distances and the hard margin
``svm``             the dual of a support vector machine, certified
``svr``             support vector regression, certified as well
``calibration``     from scores to probabilities, by Platt's sigmoid
``nystrom``         few columns of a Gram matrix, ridge with landmarks
``inducing``        Gaussian processes with inducing points
``fourier``         random Fourier features, ridge on them
``iterative``       conjugate gradients without the Gram matrix
``distributed``     ridge over rows on many machines (needs Dask)
``evaluation``      accuracy, log loss and calibration of a classifier
``estimators``      the same for scikit-learn's pipelines (needs it)
``exceptions``      what the library warns of
``counting``        numbers that count their multiplications
``toydata``         the small data sets of the chapters
``figures``         one style for every figure (needs Matplotlib)
=================== ===================================================
"""

from importlib import import_module
from types import ModuleType

__version__ = "0.2.0"

__all__ = [
    "bayes",
    "calibration",
    "counting",
    "discriminant",
    "distributed",
    "duality",
    "estimators",
    "evaluation",
    "exceptions",
    "features",
    "figures",
    "fisher",
    "fourier",
    "gaussians",
    "gp",
    "inducing",
    "iterative",
    "kernel_logistic",
    "kernel_pca",
    "kernels",
    "labels",
    "learning",
    "logistic",
    "margin",
    "mean_field",
    "multiclass",
    "networks",
    "nystrom",
    "perceptron",
    "ridge",
    "softmax",
    "svm",
    "svr",
    "toydata",
    "validity",
]


def __getattr__(name: str) -> ModuleType:
    if name in __all__:
        return import_module(f"kernelbook.{name}")
    raise AttributeError(f"module 'kernelbook' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *(n for n in globals() if n.startswith("__"))])
