from kernelbook.estimators import *
from sklearn.utils.estimator_checks import parametrize_with_checks
from kernelbook.kernels import *
@parametrize_with_checks([KernelRidge(), GaussianProcessRegressor(), SVC(), KernelLogisticRegression()])
def test_c(estimator, check): check(estimator)
