"""The worlds of docstrings, one file for each theme; ``common`` says how."""

import importlib
import pkgutil

from .common import BOOK as BOOK
from .common import WORLDS as WORLDS
from .common import Problem as Problem

for _found in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_found.name}")
