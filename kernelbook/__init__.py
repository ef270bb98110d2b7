"""Kernelbook: small functions, each beside the equation it computes.

One module per idea of the book, named as a reader would look it up:

================ ======================================================
``features``     feature maps and design matrices
``kernels``      kernels, as callables ``k(X, Z)``, and their algebra
``objects``      kernels on sets, strings and graphs
``validity``     which functions are kernels: certificates, and a search
``ridge``        ridge regression, primal and dual
``logistic``     logistic regression, primal and dual, by Newton's method
``softmax``      logistic regression with many classes
``perceptron``   the perceptron, primal and dual, and its mistake bound
``discriminant`` scores, hyperplanes and least squares for classes
``multiclass``   many classes from two, by the rest or by pairs
``bayes``        generative classifiers: LDA, QDA, naive Bayes
``gaussians``    Gaussian vectors and processes: densities, draws
``gp``           Gaussian-process regression
``learning``     marginal likelihood, its gradient, learning a kernel
``networks``     networks with random weights, and their kernels
``duality``      Lagrangian duality for quadratic programs
``margin``       hyperplanes, distances and the hard margin
``svm``          the dual of a support vector machine, certified
``evaluation``   accuracy, log loss and calibration of a classifier
``counting``     numbers that count their multiplications
``toydata``      the small data sets of the chapters
``figures``      one style for every figure (needs Matplotlib)
================ ======================================================
"""

__version__ = "0.1.0"
