"""Execute the LaTeX of equations; README.md says how."""

from .bindings import Each as Each
from .bindings import Event as Event
from .bindings import From as From
from .bindings import Law as Law
from .bindings import Normal as Normal
from .bindings import Of as Of
from .bindings import Sample as Sample
from .checker import Equation as Equation
from .mutants import ignored as ignored
from .mutants import judged as judged
from .nodes import Disagreement as Disagreement
from .nodes import FormulaError as FormulaError
from .notation import STANDARD as STANDARD
from .notation import Notation as Notation
