r"""Evaluate a formula's tree in a world: a dictionary from LaTeX to values.

Numbers are floats, vectors columns and matrices two-dimensional, so that
``\mathbf w^\top \mathbf x`` is a number and ``\mathbf x \mathbf x^\top`` a
matrix, and shapes that do not fit are errors, never broadcast.  A random
quantity carries two axes in front, (batches, samples); ``\mathbb E`` takes
the mean over the samples and leaves one estimate per batch.  The batches
disagree with each other as much as chance makes them, and that is the
tolerance.
"""

import itertools
import math
import re
from dataclasses import dataclass, field

import numpy as np
from scipy import integrate
from typeset.latex import (
    OPTIMA,
    FormulaError,
    Node,
    canonical,
    factors,
    parse,
    text,
)
from typeset.trees import (
    apart,
    as_group,
    bound_by,
    conditions_of,
    contains,
    difference,
    domain_of,
    families,
    filled,
    free_symbols,
    has_optimum,
    is_d,
    is_derivative,
    is_domain,
    is_function,
    is_mark,
    is_nabla,
    is_operator,
    is_operator_symbol,
    is_partial,
    layer_of,
    product_of,
    replaced,
    with_conditions,
)
from typeset.values import (
    DEFAULTS,
    EXACT,
    FUNCTIONS,
    NUMERICAL,
    Disagreement,
    Each,
    Event,
    From,
    Law,
    Of,
    Sample,
    agrees,
    call,
    check_numeric,
    covariance,
    derivative,
    determinant,
    fitted,
    inward,
    is_number,
    is_random,
    mean,
    numeric,
    outward,
    plain,
    plus,
    power,
    said,
    shape_of,
    shown,
    times,
    transpose,
)

# The evaluator ---------------------------------------------------------------


SPECIAL = {"=", r"\to", r"\leftarrow", r"\langle \rangle"}


def keyed(world):
    """The world under canonical keys."""
    return {key_of(key): value for key, value in world.items()}


def key_of(key):
    r"""``\mathbf x_`` is a family, ``\min_{b}`` and ``dx`` are themselves."""
    if key in SPECIAL or key.startswith("@"):
        return key
    if key.endswith("_^"):
        return canonical(key[:-2]) + "_^"
    if key.endswith(("_", "^")):
        return canonical(key[:-1]) + key[-1]
    if key.startswith(tuple(OPTIMA)):
        head, _ = canonical(key + "{1}").rsplit(" ", 1)
        return head.strip()
    if re.match(r"d[a-zA-Z\\]", key):
        return "d" + canonical(key[1:])
    return canonical(key)


@dataclass
class Evaluator:
    """Evaluates nodes; ``wrap`` lets an index run round (for mutants)."""

    world: dict
    wrap: bool = False
    scopes: list = field(default_factory=list)
    tolerance: float = EXACT
    sign: int = 1

    def __post_init__(self):
        self.world = keyed(self.world)

    # names

    def find(self, key, default=None):
        for scope in reversed(self.scopes):
            if key in scope:
                return scope[key]
        if key in self.world:
            return self.resolve(self.world[key])
        return default

    def resolve(self, value):
        if isinstance(value, Of):
            arguments = [outward(inward(self.named(n))) for n in value.names]
            return value.function(*arguments)
        return value

    def knows(self, key):
        return key in self.world or any(key in s for s in self.scopes)

    def named(self, key):
        if self.knows(key):
            return self.find(key)
        (statement,) = parse(key).parts[1]
        return self(statement)

    # nodes

    def __call__(self, node):
        key = text(node)
        if node.kind not in ("number", "group") and self.knows(key):
            return self.bound(self.find(key), node)
        return getattr(self, node.kind)(node, *node.parts)

    def bound(self, value, node):
        if isinstance(value, range | Each):
            raise FormulaError(
                f"{text(node)} has no single value here", node.column
            )
        return inward(value)

    def number(self, node, digits):
        return float(digits) if "." in digits else int(digits)

    def symbol(self, node, name):
        if name in DEFAULTS:
            return inward(DEFAULTS[name])
        if name in FUNCTIONS:
            return FUNCTIONS[name]
        raise FormulaError(f"{name} is not bound", node.column)

    def function(self, node, name):
        if name not in FUNCTIONS:
            raise FormulaError(f"{name} is not bound", node.column)
        return FUNCTIONS[name]

    def dots(self, node, name):
        raise FormulaError(f"{name} between what?", node.column)

    def neg(self, node, a):
        return times(-1, self(a), node)

    def pos(self, node, a):
        return self(a)

    def pm(self, node, a):
        return times(self.sign, self(a), node)

    def add(self, node, a, b):
        return plus(self(a), self(b), 1, node)

    def sub(self, node, a, b):
        return plus(self(a), self(b), -1, node)

    def add_pm(self, node, a, b):
        return plus(self(a), self(b), self.sign, node)

    def cup(self, node, a, b):
        return self(a) | self(b)

    def setminus(self, node, a, b):
        return self(a) - self(b)

    def frac(self, node, above, below):
        if is_derivative(above, below):
            return self.partial(above, below, node)
        bottom = self(below)
        check_numeric(bottom, below)
        if not is_number(bottom):
            raise FormulaError(f"divided by {said(bottom)}", below.column)
        if not is_random(bottom) and bottom == 0:
            raise FormulaError(f"{text(below)} is 0", below.column)
        return times(self(above), 1 / bottom, node)

    def sqrt(self, node, a):
        return power(self(a), 0.5, node)

    def binom(self, node, n, k):
        return math.comb(self.whole(n), self.whole(k))

    def factorial(self, node, a):
        return math.factorial(self.whole(a))

    def floor(self, node, a):
        return math.floor(self(a))

    def whole(self, node):
        value = self(node)
        if not is_number(value) or value != int(value):
            raise FormulaError(
                f"{text(node)} must be a whole number, not {value}",
                node.column,
            )
        return int(value)

    def norm(self, node, a):
        value = self(a)
        check_numeric(value, a)
        if min(shape_of(value)) > 1:
            return float(np.linalg.norm(value))
        value = np.reshape(value, (1, 1)) if is_number(value) else value
        return plain(np.linalg.norm(value, axis=(-2, -1), keepdims=True))

    def bars(self, node, a):
        value = self(a)
        if isinstance(value, frozenset | set | list | tuple):
            return len(value)
        check_numeric(value, a)
        if is_number(value):
            return abs(value)
        rows, columns = shape_of(value)
        if rows != columns:
            raise FormulaError(
                f"|…| of {said(value)}: write \\lVert for a norm", node.column
            )
        return determinant(value)

    def group(self, node, opening, seps, items):
        items = self.expanded(items)
        if ":" in seps:
            raise FormulaError("a set, where a value is needed", node.column)
        if opening == r"\langle":
            product = self.find(r"\langle \rangle", np.vdot)
            return inward(product(*[outward(self(i)) for i in items]))
        if len(items) == 1 and items[0].kind != "relation":
            return self(items[0])
        values = [self(item) for item in items]
        if opening == r"\{" or not all(map(is_number, values)):
            return frozenset(map(outward, values))
        return np.array([values], float)

    def slot(self, node):
        raise FormulaError("a slot (\\cdot) outside of a function", None)

    def list(self, node, *items):
        return self.group(node, "(", (), items)

    def cases(self, node, rows):
        for value, *condition in rows:
            if not condition or condition[0].kind == "otherwise":
                return self(value)
            if self.holds(condition[0]):
                return self(value)
        raise FormulaError("no case applies", node.column)

    def relation(self, node, ops, sides):
        return self.holds(node)

    # products and applications

    def product(self, node, *items):
        value, position = None, 0
        while position < len(items):
            item, invert = items[position], False
            if item.kind == "cap":
                value = value & self(item.parts[0])
                position += 1
                continue
            if item.kind in ("over", "times"):
                invert = item.kind == "over"
                items = (
                    *items[:position],
                    item.parts[0],
                    *items[position + 1 :],
                )
            factor, position = self.primary(items, position)
            if invert:
                factor = power(factor, -1, item)
            value = factor if value is None else times(value, factor, node)
        return value

    def primary(self, items, i):
        """The value that starts at item ``i``, and where the next one does."""
        item = items[i]
        rest = items[i + 1 :]
        if is_nabla(item):
            return self.gradient(item, items, i + 1)
        if is_operator(item):
            body = product_of((item.parts[0], *rest), item)
            return self.partial(body, item.parts[1], item), len(items)
        if item.kind == "frac" and rest and rest[0].kind == "at":
            with Scope(self, self.assignment(rest[0].parts[0])):
                return self(item), i + 2
        if is_function(item) and not (rest and as_group(rest[0])):
            return self.prefix(item, items, i + 1)
        if rest and as_group(rest[0]):
            called, group, wrap = item, *as_group(rest[0])
            key = text(product_of((called, group), item))
            if self.knows(key):
                return wrap(self, self.bound(self.find(key), item)), i + 2
        value = self(item)
        i += 1
        while callable(value) and i < len(items) and as_group(items[i]):
            group, wrap = as_group(items[i])
            value = wrap(self, self.apply(value, group))
            i += 1
        return value, i

    def prefix(self, item, items, i):
        r"""``\ln x``, ``\sin \theta``: one thing, or write parentheses."""
        if i >= len(items):
            return self(item), i
        value, after = self.primary(items, i)
        alone = items[i].kind in ("symbol", "number", "script")
        followed = after < len(items) and not is_function(items[after])
        if alone and after == i + 1 and followed:
            raise FormulaError(
                f"how far does {text(item)} reach? Write parentheses",
                item.column,
            )
        return self(item)(value), after

    def apply(self, function, group):
        _opening, seps, items = group.parts
        items = self.expanded(items)
        slots = [i for i, item in enumerate(items) if item.kind == "slot"]
        if function in FUNCTIONS.values():
            values = [self(item) for item in items]
            if r"\mid" in seps:
                place = seps.index(r"\mid") + 1
                values, given = values[:place], values[place:]
                values = [call(v, given) if callable(v) else v for v in values]
            return inward(function(*values))
        values = [
            None if i in slots else self.argument(item)
            for i, item in enumerate(items)
        ]
        if isinstance(function, Law) and r"\mid" in seps:
            place = seps.index(r"\mid") + 1
            given = tuple(map(outward, values[place:]))
            return call(function, values[:place], given=given)
        if slots:
            return lambda *filling: call(
                function, filled(values, slots, filling)
            )
        return call(function, values)

    def argument(self, item):
        """The value of an argument; of ``t = k``, the event."""
        if item.kind == "relation" and item.parts[0] == ("=",):
            name, value = item.parts[1]
            return Event(text(name), outward(self(value)))
        return self(item)

    def expanded(self, items):
        """Write out ``a_1, \\dots, a_N``."""
        out = []
        for i, item in enumerate(items):
            if item.kind == "dots":
                out += self.between(items[i - 1], items[i + 1])
            else:
                out.append(item)
        return out

    def between(self, first, last):
        """The nodes strictly between two that differ in one index."""
        pair = difference(first, last)
        if pair is None:
            raise FormulaError(
                f"{text(first)} … {text(last)}: what runs?", first.column
            )
        low, high = self.whole(pair[0]), self.whole(pair[1])
        return [
            replaced(first, last, Node("number", (str(i),)))
            for i in range(low + 1, high)
        ]

    def matrix(self, node, rows):
        rows = [self.expanded(row) for row in self.tall(rows)]
        blocks = [[self(cell) for cell in row] for row in rows]
        heights = [max(shape_of(b)[0] for b in row) for row in blocks]
        widths = [
            max(shape_of(b)[1] for b in column)
            for column in zip(*blocks, strict=True)
        ]
        filled = [
            [fitted(b, h, w) for b, w in zip(row, widths, strict=True)]
            for row, h in zip(blocks, heights, strict=True)
        ]
        try:
            if any(is_random(b) for row in filled for b in row):
                shape = next(
                    b.shape[:2] for row in filled for b in row if b.ndim == 4
                )
                filled = [
                    [np.broadcast_to(b, shape + b.shape[-2:]) for b in row]
                    for row in filled
                ]
            return np.concatenate(
                [np.concatenate(row, axis=-1) for row in filled], axis=-2
            )
        except ValueError:
            raise FormulaError("the blocks do not fit", node.column) from None

    def tall(self, rows):
        """Write out rows of \\vdots."""
        out = []
        for i, row in enumerate(rows):
            if not all(cell.kind == "dots" for cell in row):
                out.append(row)
                continue
            above, below = rows[i - 1], rows[i + 1]
            columns = [
                self.between(a, b) if a.kind != "dots" else None
                for a, b in zip(above, below, strict=True)
            ]
            count = next(len(c) for c in columns if c is not None)
            out += [
                [
                    c[j] if c is not None else above[n]
                    for n, c in enumerate(columns)
                ]
                for j in range(count)
            ]
        return out

    # indices and powers

    def script(self, node, base, sub, sup):
        if is_mark(sup) and base.kind == "symbol":
            marked = text(Node("script", (base, None, sup)))
            if any(self.knows(key) for key in families(marked)):
                return self.indexed(marked, base, sub, node)
        layers = layer_of(sup)
        if layers is not None and base.kind == "symbol":
            both = text(base) + ("^" if sub is None else "_^")
            if self.knows(both):
                indices = () if sub is None else self.indices(sub)
                indices += tuple(self.whole(item) for item in layers)
                return inward(
                    self.member(self.find(both), indices, node, both)
                )
        if sub is not None:
            inner = Node("script", (base, sub, None), node.column)
            if self.knows(text(inner)):
                value = self.bound(self.find(text(inner)), node)
            elif is_operator_symbol(base):
                value = self(base)
            else:
                value = self.indexed(text(base), base, sub, node)
        else:
            value = self(base)
        if sup is None:
            return value
        return self.raised(value, sup, node)

    def raised(self, value, sup, node):
        mark = text(sup)
        if callable(value):
            if mark == r"\top":
                raise FormulaError(
                    f"{text(node)}: transposed function", node.column
                )
            return lambda *arguments: outward(
                self.raised(inward(value(*arguments)), sup, node)
            )
        if mark == r"\top":
            return transpose(value)
        if mark == r"-\top":
            return transpose(power(value, -1, node))
        if mark == "+":
            return value if is_number(value) else np.linalg.pinv(value)
        if is_mark(sup):
            raise FormulaError(f"{text(node)} is not bound", node.column)
        return power(value, self(sup), node)

    def indices(self, sub):
        """``nm`` are two indices, ``n-1`` and ``N+1`` one."""
        if sub.kind == "product" and all(
            part.kind in ("symbol", "number", "script") for part in sub.parts
        ):
            return tuple(self.index(part) for part in sub.parts)
        if sub.kind == "list":
            return tuple(self.index(part) for part in sub.parts)
        return (self.index(sub),)

    def index(self, node):
        value = self(node)
        if is_number(value) and value == int(value):
            return int(value)
        return outward(value)

    def indexed(self, name, base, sub, node):
        if sub is None:
            for key in families(name)[1:]:
                if self.knows(key):
                    return self.bound(self.find(key), node)
        for key in families(name):
            if self.knows(key):
                members = self.find(key)
                if isinstance(members, range | Each):
                    continue
                try:
                    indices = self.indices(sub)
                except FormulaError as error:
                    raise FormulaError(
                        f"{text(node)}: {error.reason}", node.column
                    ) from None
                return inward(self.member(members, indices, node, key))
        if name + "_" in DEFAULTS:
            return inward(DEFAULTS[name + "_"](*self.indices(sub)))
        if base.kind == "symbol":
            raise FormulaError(f"{text(node)} is not bound", node.column)
        return inward(self.member(self(base), self.indices(sub), node))

    def member(self, members, indices, node, key=""):
        """One of a family; indices count from 1 unless it says ``From``."""
        if callable(members) and key.endswith(("_", "^")):
            return members(*indices)
        if isinstance(members, dict):
            index = indices[0] if len(indices) == 1 else indices
            if index not in members:
                raise FormulaError(f"no {text(node)}", node.column)
            return members[index]
        start = 1
        if isinstance(members, From):
            start, members = members.start, members.members
        if callable(members):
            return lambda *arguments: self.entry(
                members(*arguments), indices, start, node
            )
        return self.entry(members, indices, start, node)

    def entry(self, members, indices, start, node):
        if isinstance(members, list | tuple):
            (index,) = indices
            return members[self.place(index, start, len(members), node)]
        if isinstance(members, np.ndarray) and members.shape[1:] == (1,):
            members = members[:, 0]
        shape = (
            members.draws.shape[1:]
            if isinstance(members, Sample)
            else np.shape(members)
        )
        if len(indices) > len(shape):
            raise FormulaError(
                f"{text(node)}: {len(indices)} indices, but {len(shape)} axes",
                node.column,
            )
        places = tuple(
            self.place(index, start, size, node)
            for index, size in zip(indices, shape, strict=False)
        )
        return members[places]

    def place(self, index, start, size, node):
        if not isinstance(index, int):
            raise FormulaError(f"{text(node)} is not bound", node.column)
        place = index - start
        if self.wrap:
            return place % size
        if not 0 <= place < size:
            raise FormulaError(
                f"{text(node)}: index {index} is outside "
                f"{start}..{start + size - 1}",
                node.column,
            )
        return place

    # sums, optima, limits, integrals

    def big(self, node, name, sub, sup, body):
        if name == r"\lim":
            return self.limit(sub, body)
        if name in OPTIMA:
            return self.optimum(node, name, sub, body, ())
        values = []
        for scope in self.runs(sub, sup, node):
            with Scope(self, scope):
                values.append(self(body))
        if name == r"\bigcup":
            return frozenset().union(*values)
        neutral, combine = {
            r"\sum": (0, lambda a, b: plus(a, b, 1, node)),
            r"\prod": (1, lambda a, b: times(a, b, node)),
        }[name]
        if not values:
            return neutral
        total = values[0]
        for value in values[1:]:
            total = combine(total, value)
        return total

    def runs(self, sub, sup, node):
        """The assignments over which a sum, product or minimum runs."""
        if sub is None:
            raise FormulaError("a sum over what?", node.column)
        key = text(sub)
        if sub.kind != "symbol" and self.knows(key):
            return [keyed(scope) for scope in self.find(key)]
        if sup is not None:
            _ops, (variable, low) = sub.parts
            first, last = self.whole(low), self.whole(sup)
            return [{text(variable): i} for i in range(first, last + 1)]
        if sub.kind == "relation" and sub.parts[0] == (r"\in",):
            variable, members = sub.parts[1]
            return [{text(variable): member} for member in self(members)]
        variables = bound_by(sub)
        domains = []
        for variable in variables:
            domain = self.find(variable)
            if not isinstance(domain, range | Each):
                raise FormulaError(
                    f"bind {variable} to the values it runs over", sub.column
                )
            domains.append(domain)
        scopes = [
            dict(zip(variables, values, strict=True))
            for values in itertools.product(*domains)
        ]
        return [s for s in scopes if self.admits(s, conditions_of(sub))]

    def admits(self, scope, conditions):
        with Scope(self, scope):
            return all(self.holds(c) for c in conditions)

    def optimum(self, node, name, sub, body, conditions):
        r"""The best among candidates: ``\min_{w}`` is bound to a list."""
        head = f"{name}_{{{text(sub)}}}"
        key = next(
            (k for k in (head, f"{name}_{text(sub)}") if self.knows(k)), None
        )
        if key is not None:
            scopes = [keyed(scope) for scope in self.find(key)]
            scopes = [s for s in scopes if self.admits(s, conditions_of(sub))]
        else:
            scopes = self.runs(sub, None, node)
        if body.kind == "group" and ":" in body.parts[1]:
            place = body.parts[1].index(":") + 1
            inside, domains = apart(body.parts[2][place:])
            for domain in domains:
                self.check_domain(domain)
            conditions = (*conditions, *inside)
            (body,) = body.parts[2][:place]
        scopes = [s for s in scopes if self.admits(s, conditions)]
        if not scopes:
            raise Disagreement(f"no candidate satisfies {head}")
        values = []
        for scope in scopes:
            with Scope(self, scope):
                values.append(self(body))
        best = (
            np.argmin if name in (r"\min", r"\inf", r"\arg\min") else np.argmax
        )
        where = int(best(values))
        if not name.startswith(r"\arg"):
            return values[where]
        (found,) = scopes[where].values()
        return inward(found)

    def limit(self, sub, body):
        ((_op,), (variable, target)) = sub.parts
        self.tolerance = max(self.tolerance, NUMERICAL)
        key, goal = text(variable), text(target)
        values = []
        for step in (1e-4, 5e-5, 2.5e-5):
            at = 1 / step if goal == r"\infty" else step
            if goal not in (r"\infty", "0^+", "0"):
                at = self(target) + step
            with Scope(self, {key: at}):
                values.append(self(body))
        a, b, c = values
        first, second = 2 * b - a, 2 * c - b
        return (4 * second - first) / 3

    def integral(self, node, low, high, body, variable):
        key = text(variable)
        rule = self.find("d" + key)

        def value(x):
            with Scope(self, {key: x}):
                return self(body)

        self.tolerance = max(self.tolerance, NUMERICAL)
        if rule is not None:
            nodes, weights = rule
            return sum(
                w * value(x) for x, w in zip(nodes, weights, strict=True)
            )
        if low is None or high is None:
            raise FormulaError(f"bind d{key} to (nodes, weights)", node.column)
        total, _ = integrate.quad(
            value, self(low), self(high), limit=200, epsabs=1e-9, epsrel=1e-9
        )
        return total

    # derivatives

    def gradient(self, item, items, i):
        r"""``\nabla J(\mathbf w)``, by differences of the bound J."""
        if i + 1 >= len(items) or not as_group(items[i + 1]):
            if i >= len(items) or item.kind != "script":
                raise FormulaError(r"\nabla of what?", item.column)
            return self.slope(items[i], item.parts[1]), i + 1
        group, wrap = as_group(items[i + 1])
        arguments = self.expanded(group.parts[2])
        place = 0
        if item.kind == "script":
            names = [text(a) for a in arguments]
            wanted = text(item.parts[1])
            if wanted not in names:
                raise FormulaError(f"no {wanted} in {names}", item.column)
            place = names.index(wanted)
        elif len(arguments) > 1:
            raise FormulaError(r"\nabla with respect to what?", item.column)
        function = self(items[i])
        values = [self(a) for a in arguments]

        def at(value):
            return call(
                function, [*values[:place], value, *values[place + 1 :]]
            )

        self.tolerance = max(self.tolerance, NUMERICAL)
        return wrap(self, derivative(at, values[place])), i + 2

    def partial(self, above, below, node):
        """∂ above / ∂ below: the world is moved a little, twice each way."""
        items = factors(above)
        if is_partial(items[0]) or is_d(items[0]):
            above = product_of(items[1:], node)
        _, *rest = factors(below)
        variable, logarithm = rest[-1], len(rest) == 2
        if logarithm and text(rest[0]) not in (r"\ln", r"\log"):
            raise FormulaError("derivative with respect to what?", node.column)
        slope = self.slope(above, variable)
        return times(self(variable), slope, node) if logarithm else slope

    def slope(self, node, variable):
        """How a value changes when the world's ``variable`` is moved."""
        self.tolerance = max(self.tolerance, NUMERICAL)

        def at(moved):
            with Scope(self, self.moved(variable, moved)):
                value = self(node)
            check_numeric(value, node)
            return value

        return derivative(at, self(variable))

    def moved(self, variable, value):
        """The scope in which a symbol, or one entry of it, has a new value."""
        if variable.kind == "script" and not self.knows(text(variable)):
            base, sub, _ = variable.parts
            for key in families(text(base)):
                if self.knows(key):
                    whole = np.array(self.find(key), float)
                    places = tuple(i - 1 for i in self.indices(sub))
                    whole[places] = value
                    return {key: whole}
        return {text(variable): outward(value)}

    def assignment(self, relation):
        _, (symbol, value) = relation.parts
        shape = np.shape(self.find(text(symbol)))
        return {text(symbol): np.broadcast_to(outward(self(value)), shape)}

    # statements

    def holds(self, statement):
        try:
            self.check_all(statement)
        except Disagreement:
            return False
        return True

    def check(self, formula):
        """Raise unless every statement holds."""
        links, statements = formula.parts
        conditions = ()
        for i, link in enumerate(links):
            if link in ("subject to", "such that", "s.t."):
                conditions, statements = statements[i:], statements[:i]
                break
        for condition in filter(is_domain, conditions):
            self.check_domain(condition)
        conditions = tuple(c for c in conditions if not is_domain(c))
        for statement in statements:
            if conditions and has_optimum(statement):
                statement = with_conditions(statement, conditions)
            self.check_all(statement)

    def check_all(self, statement):
        """For every value of the free symbols that have several."""
        free = [
            name
            for name in sorted(free_symbols(statement))
            if self.runs_freely(name)
        ]
        if is_domain(statement):
            return self.check_domain(statement)
        if self.knows(text(statement)) and statement.kind == "relation":
            if not self.find(text(statement)):
                raise Disagreement(f"{text(statement)} is bound to be false")
            return None
        for values in itertools.product(*map(self.find, free)):
            scope = dict(zip(free, values, strict=True))
            with Scope(self, scope):
                try:
                    self.check_signs(statement)
                except Disagreement as error:
                    where = ", ".join(f"{n} = {v}" for n, v in scope.items())
                    where = f" (at {where})" if where else ""
                    raise Disagreement(f"{error}{where}") from None
        return None

    def runs_freely(self, name):
        """Whether a symbol has several values; what is Of another has one."""
        if not any(name in scope for scope in self.scopes):
            return isinstance(self.world.get(name), range | Each)
        return isinstance(self.find(name), range | Each)

    def check_domain(self, statement):
        """``j = 0, 1, \\dots, M-1``: the symbol runs over just these."""
        variable, items = domain_of(statement)
        bound = self.world.get(text(variable))
        wanted = [self(item) for item in self.expanded(items)]
        if not isinstance(bound, range | Each):
            raise FormulaError(
                f"bind {text(variable)} to the values it runs over",
                statement.column,
            )
        if list(bound) != wanted:
            raise Disagreement(
                f"{text(variable)} runs over {list(bound)}, not {wanted}"
            )

    def check_signs(self, statement):
        if not contains(statement, ("pm", "add_pm")):
            return self.check_once(statement)
        failures = []
        for self.sign in (1, -1):
            try:
                return self.check_once(statement)
            except Disagreement as error:
                failures.append(error)
        raise failures[0]

    def check_once(self, statement):
        if statement.kind == "group" and len(statement.parts[2]) == 1:
            return self.check_once(statement.parts[2][0])
        if statement.kind != "relation":
            name = text(statement)
            if isinstance(self.find(name), range | Each):
                return None
            value = self(statement)
            if self.knows("="):
                self.compare(
                    "=", value, inward(self.find("=")), statement, None
                )
            elif value is False:
                raise Disagreement(f"{name} is false")
            return None
        ops, sides = statement.parts
        before = self.side(sides[0], ops[0])
        for i, (op, node) in enumerate(zip(ops, sides[1:], strict=True)):
            after = self.side(node, op)
            if op != r"\to" or self.knows(op):
                self.compare(op, before, after, sides[i], node)
            before = after
        return None

    def side(self, node, op):
        if op == r"\leftarrow" and self.knows(op) and node.kind == "symbol":
            new = self.find(op)
            if isinstance(new, dict):
                new = keyed(new).get(text(node), self.find(text(node)))
            return inward(new)
        return self(node)

    def compare(self, op, a, b, left, right):
        op = {r"\leq": r"\le", r"\geq": r"\ge"}.get(op, op)
        what = f"{text(left)} {op} {text(right) if right else 'claimed'}"
        if op == r"\in":
            if outward(a) not in b:
                raise Disagreement(f"{what}: {outward(a)} is not")
            return
        if op == r"\sim":
            self.compare("=", mean(a), self.fit(b.mean, a), left, right)
            self.compare(
                "=",
                covariance(a),
                self.fit(b.covariance, covariance(a)),
                left,
                right,
            )
            return
        if not (numeric(a) and numeric(b)):
            same = a == b
            if op == r"\subseteq":
                same = a <= b
            if op in (r"\ne", r"\neq"):
                same = not same
            if not same:
                raise Disagreement(f"{what}: {a} and {b}")
            return
        if op in (r"\succeq", r"\preceq"):
            a, b = (a, b) if op == r"\succeq" else (b, a)
            lowest = np.linalg.eigvalsh(a - b).min()
            a, b, op = lowest, 0.0, r"\ge"
        zero = [is_number(v) and not is_random(v) and v == 0 for v in (a, b)]
        if not any(zero) and shape_of(a) != shape_of(b):
            raise FormulaError(
                f"{what}: {said(a)} against {said(b)}", left.column
            )
        if self.find("@tight") and op in (r"\le", r"\ge"):
            op = "="
        if not agrees(op, a, b, self.tolerance):
            raise Disagreement(f"{what}: {shown(a)} and {shown(b)}")

    def fit(self, value, like):
        value = inward(np.asarray(value, float))
        if is_number(value):
            return np.broadcast_to(value, shape_of(like))
        return value


class Scope:
    """Bindings that hold inside a ``with``."""

    def __init__(self, evaluator, bindings):
        self.scopes, self.bindings = evaluator.scopes, bindings

    def __enter__(self):
        self.scopes.append(self.bindings)

    def __exit__(self, *_):
        self.scopes.pop()
