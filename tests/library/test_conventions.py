"""One convention each: the table of CONTRIBUTING.md, by reflection."""

import ast
import functools
import graphlib
import inspect
import subprocess
import sys
import typing
from pathlib import Path
from types import FunctionType

import numpy as np
import pytest
from library.examples import calls, modules, public, same

import kernelbook

LIBRARY = Path(kernelbook.__file__).parent
FITS = {
    "fit": [["X", "t"], ["k", "X", "t"]],
    "fit_primal": [["Phi", "t"]],
    "fit_dual": [["K", "t"]],
}
# What shows that a function searches: its result has a status.
SEARCHES = {"max_iterations", "max_epochs", "max_seconds", "progress"}
# RuntimeError may be raised, but not because a search did not converge.
RUNTIME_ERRORS = {
    "_likelihood": "SciPy's linear program failed: there is no result",
}
MAY_IMPORT = {
    "sklearn": {"estimators"},
    "dask": set(),
    "distributed": {"distributed"},
    "matplotlib": {"figures", "_film", "_live"},
}
# Attributes that look private, but are named tuples' or Matplotlib's own.
OF_OTHERS = {"_replace", "_fields", "_asdict", "_left_title", "_right_title"}


def functions():
    """Every public function and public method, with its full name."""
    for module in modules():
        here = module.__name__.partition(".")[2]
        for name, thing in public(module).items():
            if isinstance(thing, FunctionType):
                yield f"{here}.{name}", thing
            elif inspect.isclass(thing):
                for method, function in vars(thing).items():
                    hidden = method.startswith("_") and method != "__init__"
                    if isinstance(function, FunctionType) and not hidden:
                        yield f"{here}.{name}.{method}", function


def with_arguments(*names):
    """Functions that have one of these arguments."""
    return {
        full: function
        for full, function in functions()
        if {*names} & inspect.signature(function).parameters.keys()
    }


@functools.cache
def trees():
    """The syntax trees of the library, by module."""
    found = {}
    for path in sorted(LIBRARY.rglob("*.py")):
        name = ".".join(path.relative_to(LIBRARY).with_suffix("").parts)
        name = name.removesuffix(".__init__")
        found[name] = ast.parse(path.read_text("utf-8"))
    return found


def nodes(kind):
    for module, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, kind):
                yield module, node


def imports():
    """Each import: by which module, from where, of what, under which name."""
    for module, node in nodes(ast.Import | ast.ImportFrom):
        for alias in node.names:
            home = getattr(node, "module", None)
            name = alias.asname or alias.name
            yield module, home or alias.name, alias.name if home else "", name


def of_the_library(home, what):
    """The module that an import takes, and the name that it takes of it."""
    package, _, inner = home.partition(".")
    if package != "kernelbook":
        return None, what
    whole = f"{inner}.{what}".strip(".")
    return (whole, "") if whole in trees() else (inner or "__init__", what)


def test_randomness_is_one_argument_called_rng():
    assert not with_arguments("seed", "random_state")


@pytest.mark.parametrize("name", sorted(with_arguments("rng")))
def test_rng_is_a_seed_or_a_generator_with_the_same_draws(name):
    if name not in calls():  # a method without an example of its own
        source = inspect.getsource(with_arguments("rng")[name])
        assert "_checks.generator(rng" in source
    for call in calls().get(name, []):
        with_seed = call(rng=3)
        assert same(call(rng=np.random.default_rng(3)), with_seed)
        with pytest.raises(ValueError, match="rng must be a seed"):
            call(rng="x")


def test_fits_start_with_the_data_and_the_targets():
    for full, function in functions():
        _, *inside, name = full.split(".")
        if name in FITS and not inside:
            given = list(inspect.signature(function).parameters)
            starts = [given[: len(start)] == start for start in FITS[name]]
            assert any(starts), full


def test_every_search_says_how_it_ended():
    silent = {
        full: result
        for full, function in with_arguments(*SEARCHES).items()
        if (result := typing.get_type_hints(function).get("return"))
        and not full.endswith("__init__")
        and "status" not in {*dir(result), *typing.get_type_hints(result)}
    }
    assert not silent


def test_progress_is_reported_unless_it_is_not_wanted():
    for full, function in with_arguments("progress").items():
        progress = inspect.signature(function).parameters["progress"]
        assert progress.default is True, full


def test_no_search_raises_when_it_does_not_converge():
    raised = [
        f"{module}, line {node.lineno}"
        for module, node in nodes(ast.Raise)
        if "RuntimeError" in ast.unparse(node) and module not in RUNTIME_ERRORS
    ]
    assert not raised


def test_no_private_name_of_another_module_is_imported():
    wrong = [
        (module, home, what)
        for module, home, what, _ in imports()
        if of_the_library(home, what)[0]
        and of_the_library(home, what)[1][:1] == "_"
    ]
    assert not wrong


def test_no_private_attribute_of_another_module_is_used():
    """Neither of a module nor of its objects: k._inputs in gp."""
    wrong = [
        f"{module}, line {node.lineno}: {ast.unparse(node)}"
        for module, node in nodes(ast.Attribute)
        if node.attr.startswith("_")
        and not node.attr.startswith("__")
        and node.attr not in OF_OTHERS
        and node.attr not in own_names(module)
        and ast.unparse(node.value) not in {"self", "cls", "super()"}
    ]
    assert not wrong


@functools.cache
def own_names(module):
    """What a module defines, at any depth: functions, names, attributes."""
    found = set()
    for node in ast.walk(trees()[module]):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
            case ast.Attribute(attr=name, ctx=ast.Store()):
                found.add(name)
            case ast.Constant(value=str(name)):  # object.__setattr__
                found.add(name)
    return found


def test_imports_have_no_cycles():
    graph = {}
    for module, home, what, _ in imports():
        other = of_the_library(home, what)[0]
        if other and other != "__init__":
            graph.setdefault(module, set()).add(other)
    assert graph
    graphlib.TopologicalSorter(graph).prepare()


@pytest.mark.parametrize("package", sorted(MAY_IMPORT))
def test_only_these_modules_import(package):
    found = {m for m, home, *_ in imports() if home.split(".")[0] == package}
    assert found <= MAY_IMPORT[package]


def test_what_a_function_returns_has_a_public_door():
    doors = {t for module in modules() for t in public(module).values()}
    behind = {
        f"{full} returns {kind.__module__}.{kind.__name__}"
        for full, function in functions()
        for kind in kinds(typing.get_type_hints(function).get("return"))
        if kind.__module__.startswith("kernelbook") and kind not in doors
    }
    assert not behind


def kinds(hint):
    """The classes in an annotation: of tuple[A, B], A and B as well."""
    if inspect.isclass(hint):
        yield hint
    for part in typing.get_args(hint):
        yield from kinds(part)


def test_the_package_names_exactly_its_public_modules():
    there = {name.partition(".")[0] for name in trees() if name[0] != "_"}
    assert set(kernelbook.__all__) == there
    assert kernelbook.__all__ == sorted(kernelbook.__all__)
    shown = {name for name in dir(kernelbook) if not name.startswith("_")}
    assert shown == there


def test_modules_are_loaded_when_they_are_first_used():
    for name in kernelbook.__all__:
        assert kernelbook.__getattr__(name).__name__ == f"kernelbook.{name}"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        kernelbook.__getattr__("nothing")


def test_importing_kernelbook_is_cheap():
    code = (
        "import sys, kernelbook\n"
        "heavy = {'scipy', 'matplotlib', 'sklearn', 'distributed'}\n"
        "print(heavy & sys.modules.keys())\n"
        "print(kernelbook.gp.fit.__name__)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=LIBRARY.parent,
    )
    assert done.stdout.split() == ["set()", "fit"]
