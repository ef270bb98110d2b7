"""Execute the LaTeX of equations; README.md says how."""

from .bindings import Each, Event, From, Law, Normal, Of, Sample
from .checker import Equation
from .mutants import judged
from .nodes import Disagreement, FormulaError
from .notation import STANDARD, Notation

__all__ = [
    "STANDARD",
    "Disagreement",
    "Each",
    "Equation",
    "Event",
    "FormulaError",
    "From",
    "Law",
    "Normal",
    "Notation",
    "Of",
    "Sample",
    "judged",
]
