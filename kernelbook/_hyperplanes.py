"""A hyperplane wᵀx + b = 0, scaled so that its formulas cannot overflow.

(w, b) and (cw, cb) are the same hyperplane for every c > 0.  Here c is a power
of two, which rounds nothing, such that the largest abs(w_j) is between 1/(4D)
and 1/D.  Then ‖w‖ is between 1/(4D) and 1, its square neither overflows nor
vanishes, and abs(wᵀx) is at most the largest abs(x_j).  A weight that is
smaller than the largest by a factor of 1e308 is lost: against the largest it
moves no point by a distance that a float could show.
"""

import numpy as np
from numpy.typing import ArrayLike

from kernelbook import _checks
from kernelbook._checks import FloatArray


def scaled(w: ArrayLike, b: float, X: FloatArray) -> tuple[FloatArray, float]:
    """w and b of the same hyperplane, of the scale above.

    Raises ValueError if w is not as long as the rows of X or is zero, and if
    the hyperplane is farther from the origin than a float can say.
    """
    w, b = _checks.vector(w, "w", X.shape[1]), _checks.real(b, "b")
    if not w.any():
        raise ValueError("w must not be zero: wᵀx + b = 0 is no hyperplane")
    largest = np.abs(w).max()
    shift = -int(np.frexp(largest)[1]) - len(w).bit_length()
    with np.errstate(over="ignore"):
        offset = float(np.ldexp(b, shift))
    if not np.isfinite(offset):
        raise ValueError(
            "b must give a hyperplane at a distance that a float can hold, "
            f"got {b:.3g} with weights up to {largest:.3g}"
        )
    return np.ldexp(w, shift), offset
