"""Lagrangian duality on quadratic programs, where every part is explicit.

    minimise  ½ wᵀPw + qᵀw   subject to   Gw <= h,   Aw = b.

The equations are those of chapter 17.  A linear program has P = 0.  Two
functions need no program: `best_prices` takes a list of what can be achieved,
`conjugate` a function on a grid.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linprog

from kernelbook import _checks, _quadratic
from kernelbook._checks import FloatArray


@dataclass(frozen=True, eq=False)
class QuadraticProgram:
    """Minimise ½ wᵀPw + qᵀw subject to Gw <= h and Aw = b.

    All six are copied; the copies cannot be written to.

    Parameters
    ----------
    P : (M, M) symmetric; positive semi-definite if the program is convex
    q : (M,)
    G, h : (I, M) and (I,), or None if there are no inequalities
    A, b : (J, M) and (J,), or None if there are no equalities

    Raises
    ------
    ValueError
        If shapes disagree, P is not symmetric, or a number is not finite.

    Examples
    --------
    >>> qp = QuadraticProgram([[2.0]], [0.0], G=[[-1.0]], h=[-1.0])
    >>> qp.G.shape, qp.A.shape
    ((1, 1), (0, 1))
    """

    P: FloatArray
    q: FloatArray
    G: FloatArray
    h: FloatArray
    A: FloatArray
    b: FloatArray

    def __init__(
        self,
        P: ArrayLike,
        q: ArrayLike,
        G: ArrayLike | None = None,
        h: ArrayLike | None = None,
        A: ArrayLike | None = None,
        b: ArrayLike | None = None,
    ) -> None:
        P = _checks.gram(P, "P")
        G, h = _rows(G, h, "G", "h", len(P))
        A, b = _rows(A, b, "A", "b", len(P))
        q = _checks.vector(q, "q", len(P))
        parts = {"P": P, "q": q, "G": G, "h": h, "A": A, "b": b}
        for name, part in parts.items():
            copy = part.copy()
            copy.setflags(write=False)
            object.__setattr__(self, name, copy)

    @cached_property
    def curvature(self) -> _quadratic.Curvature:
        """What the eigenvalues of P say, found once."""
        return _quadratic.Curvature(self.P)


class Residuals(NamedTuple):
    """How far a point is from the four KKT conditions; zero if optimal."""

    primal: float
    """Largest violation of Gw <= h and Aw = b."""
    dual: float
    """Largest violation of μ >= 0."""
    stationarity: float
    """Largest absolute entry of Pw + q + Gᵀμ + Aᵀν."""
    complementarity: float
    """Largest absolute product of μ and Gw - h, row by row."""


@dataclass(frozen=True, eq=False)
class Ascent:
    """The history of `dual_ascent`, one entry per iteration."""

    w: FloatArray
    """(T, M) minimisers of the Lagrangian."""
    mu: FloatArray
    """(T, I) multipliers of the inequalities."""
    nu: FloatArray
    """(T, J) multipliers of the equalities."""
    primal: FloatArray
    """(T,) objective at w, which need not be feasible."""
    dual: FloatArray
    """(T,) dual function, a lower bound on the optimum."""
    violation: FloatArray
    """(T,) largest violation of a constraint at w."""


class Prices(NamedTuple):
    """The best prices for a choice among finitely many points."""

    mu: FloatArray
    """(I,) prices of the constraints, >= 0."""
    value: float
    """d*, the best lower bound that prices give."""
    mixture: FloatArray
    """(N,) convex weights of the points; the mixture's f is d*."""


def objective(qp: QuadraticProgram, w: ArrayLike) -> float:
    """f(w) = ½ wᵀPw + qᵀw.

    Examples
    --------
    >>> objective(QuadraticProgram([[2.0]], [1.0]), [3.0])
    12.0
    """
    w = _checks.vector(w, "w", len(qp.q))
    return float(0.5 * w @ qp.P @ w + qp.q @ w)


def lagrangian(
    qp: QuadraticProgram,
    w: ArrayLike,
    mu: ArrayLike = (),
    nu: ArrayLike = (),
) -> float:
    """ℒ(w, μ, ν) = f(w) + μᵀ(Gw - h) + νᵀ(Aw - b).

    Parameters
    ----------
    w : (M,) any point
    mu : (I,) multipliers of the inequalities; leave out if there are none
    nu : (J,) multipliers of the equalities; leave out if there are none

    Examples
    --------
    >>> qp = QuadraticProgram([[2.0]], [0.0], G=[[-1.0]], h=[-1.0])
    >>> lagrangian(qp, w=[0.5], mu=[1.0])
    0.75
    """
    f = objective(qp, w)
    w = np.asarray(w)
    mu, nu = _multipliers(qp, mu, nu)
    return float(f + mu @ (qp.G @ w - qp.h) + nu @ (qp.A @ w - qp.b))


def dual_function(
    qp: QuadraticProgram, mu: ArrayLike = (), nu: ArrayLike = ()
) -> float:
    """G(μ, ν) = inf_w ℒ(w, μ, ν), which is -inf if ℒ has no lower bound.

    With c = q + Gᵀμ + Aᵀν and any w that solves Pw = -c,
    G(μ, ν) = ½ cᵀw - μᵀh - νᵀb.  It is -inf if no w does, or if P is
    indefinite; both are decided up to rounding, relative to P and to the
    terms of c.

    Examples
    --------
    >>> qp = QuadraticProgram([[2.0]], [0.0], G=[[-1.0]], h=[-1.0])
    >>> dual_function(qp, mu=[2.0])
    1.0
    >>> lp = QuadraticProgram([[0.0]], [1.0], G=[[-1.0]], h=[-3.0])
    >>> dual_function(lp, mu=[1.0]), dual_function(lp, mu=[0.9])
    (3.0, -inf)
    """
    mu, nu = _multipliers(qp, mu, nu)
    w = _lowest(qp, mu, nu)
    if w is None:
        return -np.inf
    c = qp.q + qp.G.T @ mu + qp.A.T @ nu
    return float(0.5 * c @ w - mu @ qp.h - nu @ qp.b)


def recover_primal(
    qp: QuadraticProgram, mu: ArrayLike = (), nu: ArrayLike = ()
) -> FloatArray:
    """The minimiser of ℒ(w, μ, ν): solve Pw = -(q + Gᵀμ + Aᵀν).

    If P is singular there are many; this is the shortest, and at optimal
    multipliers it need not be feasible.

    Raises
    ------
    ValueError
        If the Lagrangian has no minimiser.

    Examples
    --------
    >>> qp = QuadraticProgram([[2.0]], [0.0], G=[[-1.0]], h=[-1.0])
    >>> recover_primal(qp, mu=[2.0])
    array([1.])
    """
    w = _lowest(qp, *_multipliers(qp, mu, nu))
    if w is None:
        raise ValueError(
            "mu and nu must give a Lagrangian with a minimum, "
            "got one that falls to -inf"
        )
    return w


def kkt_residuals(
    qp: QuadraticProgram,
    w: ArrayLike,
    mu: ArrayLike = (),
    nu: ArrayLike = (),
) -> Residuals:
    """How far (w, μ, ν) is from the Karush-Kuhn-Tucker conditions.

    Examples
    --------
    >>> qp = QuadraticProgram([[2.0]], [0.0], G=[[-1.0]], h=[-1.0])
    >>> kkt_residuals(qp, w=[3.0], mu=[2.0])
    Residuals(primal=0.0, dual=0.0, stationarity=4.0, complementarity=4.0)
    """
    w = _checks.vector(w, "w", len(qp.q))
    mu, nu = _multipliers(qp, mu, nu)
    gradient = qp.P @ w + qp.q + qp.G.T @ mu + qp.A.T @ nu
    return Residuals(
        primal=_violation(qp, w),
        dual=_largest(-mu),
        stationarity=_largest(np.abs(gradient)),
        complementarity=_largest(np.abs(mu * (qp.G @ w - qp.h))),
    )


def duality_gap(
    qp: QuadraticProgram,
    w: ArrayLike,
    mu: ArrayLike = (),
    nu: ArrayLike = (),
    tolerance: float = 1e-8,
) -> float:
    """f(w) - G(μ, ν): no feasible point is better than w by more than this.

    Raises
    ------
    ValueError
        If w is not feasible or μ is not >= 0, each up to ``tolerance``: then
        the difference bounds nothing.

    Examples
    --------
    >>> qp = QuadraticProgram([[2.0]], [0.0], G=[[-1.0]], h=[-1.0])
    >>> duality_gap(qp, w=[1.5], mu=[1.0])
    1.5
    """
    tolerance = _checks.non_negative(tolerance, "tolerance")
    residuals = kkt_residuals(qp, w, mu, nu)
    if residuals.primal > tolerance:
        raise ValueError(
            "w must satisfy the constraints, "
            f"got a violation of {residuals.primal:.3g}"
        )
    if residuals.dual > tolerance:
        raise ValueError(f"mu must be >= 0, got {-residuals.dual:.3g}")
    return objective(qp, w) - dual_function(qp, mu, nu)


def dual_ascent(
    qp: QuadraticProgram, iterations: int = 100, step: float | None = None
) -> Ascent:
    """Maximise G(μ, ν) by projected gradient steps from zero.

    At the minimiser w of ℒ the gradient has the parts ∇_μ G(μ, ν) = Gw - h and
    ∇_ν G(μ, ν) = Aw - b: a violated constraint gets dearer, a slack one
    cheaper, never below zero.  This is a lesson in steps, as many as were
    asked for: it has no goal to reach and so no status; ``violation`` and
    `duality_gap` say how far it is.

    Parameters
    ----------
    iterations : number of steps
    step : length of a step; by default one over the largest curvature of G,
        with which the dual never falls

    Raises
    ------
    ValueError
        If P is not positive definite.

    Examples
    --------
    >>> qp = QuadraticProgram([[2.0]], [0.0], G=[[-1.0]], h=[-1.0])
    >>> dual_ascent(qp, iterations=3, step=1.0).dual
    array([0.    , 0.75  , 0.9375])
    """
    if not qp.curvature.definite:
        raise ValueError(
            "P must be positive definite, "
            f"got smallest eigenvalue {qp.curvature.lowest:.3g}"
        )
    if step is None:
        steepest = qp.curvature.largest_response(np.vstack([qp.G, qp.A]))
        step = 1.0 / steepest if steepest > 0 else 1.0
    step = _checks.positive(step, "step")
    mu, nu = np.zeros(len(qp.h)), np.zeros(len(qp.b))
    history = []
    for _ in range(_checks.count(iterations, "iterations")):
        w = recover_primal(qp, mu, nu)
        history.append((w, mu, nu))
        mu = np.maximum(0.0, mu + step * (qp.G @ w - qp.h))
        nu = nu + step * (qp.A @ w - qp.b)
    return _ascent(qp, history)


def best_prices(g: ArrayLike, f: ArrayLike) -> Prices:
    """The best prices when w is one of N points: d* and what it costs.

    d* = max_{μ >= 0} min_n {f_n + Σ_i μ_i g_ni}, a linear program.  Its own
    dual is d* = min_v {Σ_n v_n f_n : Σ_n v_n g_ni <= 0}, for all i, over
    convex weights v: prices see no single point, only mixtures.

    Parameters
    ----------
    g : (N, I) what each point makes of the constraints g <= 0; an equality
        is two of them
    f : (N,) what each point costs

    Raises
    ------
    ValueError
        If no mixture of the points keeps the constraints: then prices give
        bounds as high as one likes.

    Examples
    --------
    >>> best = best_prices([[-0.5], [0.0], [0.5]], [0.0, -0.25, -1.0])
    >>> best.mu, best.value, best.mixture
    (array([1.]), -0.5, array([0.5, 0. , 0.5]))
    """
    g = _checks.matrix(g, "g")
    f = _checks.vector(f, "f", len(g))
    N, I = g.shape  # noqa: E741
    found = linprog(  # variables (μ, d), maximise d
        np.append(np.zeros(I), -1.0),
        A_ub=np.column_stack([-g, np.ones(N)]),
        b_ub=f,
        bounds=[(0, None)] * I + [(None, None)],
    )
    if not found.success:
        raise ValueError(
            "g must have rows with a mixture that is <= 0, got none "
            f"among {N} rows"
        )
    mixture = np.abs(found.ineqlin.marginals)
    return Prices(found.x[:-1], float(found.x[-1]), mixture)


def conjugate(f: ArrayLike, x: ArrayLike, s: ArrayLike) -> FloatArray:
    """The conjugate of a function of one variable, known on a grid.

    f*(s) = max_n {s x_n - f(x_n)}: how far the line of slope s through the
    origin can rise above f.  Leave out the x where f is infinite.

    Parameters
    ----------
    f : (N,) values f(x_n)
    x : (N,) where they are taken
    s : (S,) slopes

    Returns
    -------
    conjugate : (S,)

    Examples
    --------
    >>> x = np.linspace(-3.0, 3.0, 601)
    >>> conjugate(x**2 / 2, x, s=[0.0, 1.0, -2.0])
    array([0. , 0.5, 2. ])
    """
    x = _checks.vector(x, "x")
    f = _checks.vector(f, "f", len(x))
    s = _checks.vector(s, "s")
    highest: FloatArray = (np.outer(s, x) - f).max(axis=1)
    return highest


def _ascent(
    qp: QuadraticProgram,
    history: list[tuple[FloatArray, FloatArray, FloatArray]],
) -> Ascent:
    ws, mus, nus = (np.array(part) for part in zip(*history, strict=True))
    return Ascent(
        ws,
        mus,
        nus,
        primal=np.array([objective(qp, w) for w in ws]),
        dual=np.array([dual_function(qp, mu, nu) for _, mu, nu in history]),
        violation=np.array([_violation(qp, w) for w in ws]),
    )


def _lowest(
    qp: QuadraticProgram, mu: FloatArray, nu: FloatArray
) -> FloatArray | None:
    """The shortest minimiser of the Lagrangian; None if it has none."""
    c = qp.q + qp.G.T @ mu + qp.A.T @ nu
    size = np.abs(qp.q) + np.abs(qp.G.T) @ np.abs(mu)
    size = size + np.abs(qp.A.T) @ np.abs(nu)
    return qp.curvature.lowest_point(c, size, terms=1 + len(mu) + len(nu))


def _violation(qp: QuadraticProgram, w: FloatArray) -> float:
    return max(_largest(qp.G @ w - qp.h), _largest(np.abs(qp.A @ w - qp.b)))


def _largest(values: FloatArray) -> float:
    """The largest entry, or 0 if none is positive."""
    return float(values.max(initial=0.0)) + 0.0  # no minus zero


def _multipliers(
    qp: QuadraticProgram, mu: ArrayLike, nu: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    return (
        _one_per_row(mu, "mu", len(qp.h)),
        _one_per_row(nu, "nu", len(qp.b)),
    )


def _one_per_row(values: ArrayLike, name: str, rows: int) -> FloatArray:
    if rows == 0 and np.size(values) == 0:
        return np.empty(0)
    return _checks.vector(values, name, rows)


def _rows(
    matrix: ArrayLike | None,
    right: ArrayLike | None,
    matrix_name: str,
    right_name: str,
    columns: int,
) -> tuple[FloatArray, FloatArray]:
    """Constraints as a matrix and its right-hand side; none if both None."""
    if matrix is None and right is None:
        return np.empty((0, columns)), np.empty(0)
    if matrix is None or right is None:
        raise ValueError(
            f"{matrix_name} and {right_name} must be given together"
        )
    matrix = _checks.matrix(matrix, matrix_name)
    if matrix.shape[1] != columns:
        raise ValueError(
            f"{matrix_name} must have {columns} columns, "
            f"got shape {matrix.shape}"
        )
    return matrix, _checks.vector(right, right_name, len(matrix))
