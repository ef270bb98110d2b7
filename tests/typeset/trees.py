"""Looking at the tree of a formula."""

from typeset.latex import MARKS, OPTIMA, Node, factors, text
from typeset.values import FUNCTIONS, inward


def families(name):
    """Under which keys a family may be bound, the first that is counts."""
    keys = [name + "_", name]
    head, mark, tail = name.partition("^")
    if not head.startswith(("\\mathbf", "\\boldsymbol", "\\mathcal")):
        space = "" if head.startswith("\\") else " "
        keys += [
            f"\\mathbf{space}{head}{mark}{tail}",
            f"\\boldsymbol{space}{head}{mark}{tail}",
        ]
    return keys


def is_mark(node):
    return (
        node is not None and node.kind == "symbol" and node.parts[0] in MARKS
    )


def layer_of(sup):
    """The indices of a superscript in parentheses, h^{(l)}."""
    if sup is not None and sup.kind == "group" and sup.parts[0] == "(":
        return sup.parts[2]
    return None


def is_function(node):
    if node.kind == "script":
        node = node.parts[0]
    return node.kind == "function"


def is_operator_symbol(node):
    return node.kind in ("symbol", "function") and node.parts[0] in FUNCTIONS


def is_nabla(node):
    if node.kind == "script":
        node = node.parts[0]
    return node.kind == "function" and node.parts[0] == r"\nabla"


def is_partial(node):
    return node.kind == "symbol" and node.parts[0] == r"\partial"


def is_derivative(above, below):
    """∂f/∂x, d/dz: a d above and a d below."""
    return is_partial(factors(below)[0]) or (
        below.kind == "product"
        and is_d(factors(above)[0])
        and is_d(factors(below)[0])
    )


def is_d(node):
    return node.kind == "symbol" and node.parts[0] == "d"


def is_operator(node):
    r"""``\frac{\partial}{\partial x}``, to be applied to what follows."""
    if node.kind != "frac" or not is_derivative(*node.parts):
        return False
    return is_partial(node.parts[0]) or is_d(node.parts[0])


def as_group(node):
    """A bracket to apply a function to, and what its scripts then do."""
    if node.kind == "group":
        return node, lambda evaluator, value: value
    if node.kind == "script" and node.parts[0].kind == "group":
        group, sub, sup = node.parts

        def wrap(evaluator, value):
            if sub is not None:
                value = inward(
                    evaluator.member(value, evaluator.indices(sub), node)
                )
            if sup is None:
                return value
            return evaluator.raised(value, sup, node)

        return group, wrap
    return None


def product_of(items, like):
    if len(items) == 1:
        return items[0]
    return Node("product", tuple(items), like.column)


def filled(values, slots, filling):
    out = list(values)
    for slot, value in zip(slots, filling, strict=True):
        out[slot] = inward(value)
    return out


def children(node):
    """The nodes directly below."""
    for part in _flat(node.parts):
        if isinstance(part, Node):
            yield part


def _flat(parts):
    for part in parts:
        if isinstance(part, tuple):
            yield from _flat(part)
        else:
            yield part


def contains(node, kinds):
    return node.kind in kinds or any(
        contains(c, kinds) for c in children(node)
    )


def difference(a, b):
    """The one pair of nodes in which two trees differ."""
    if a == b:
        return None
    if a.kind == b.kind and a.kind not in ("symbol", "number"):
        pairs = list(zip(_flat(a.parts), _flat(b.parts), strict=False))
        if len(list(_flat(a.parts))) == len(list(_flat(b.parts))):
            found = {
                difference(x, y)
                for x, y in pairs
                if isinstance(x, Node) and isinstance(y, Node) and x != y
            }
            if len(found) == 1 and None not in found:
                return found.pop()
    return a, b


def replaced(a, b, node):
    """The first tree, with ``node`` wherever it differs from the second."""
    low, high = difference(a, b)

    def walk(x, y):
        if isinstance(x, tuple):
            return tuple(walk(p, q) for p, q in zip(x, y, strict=True))
        if not isinstance(x, Node) or x == y:
            return x
        if x == low and y == high:
            return node
        return Node(x.kind, walk(x.parts, y.parts), x.column)

    return walk(a, b)


def bound_by(sub):
    """The symbols that ``\\sum_{…}`` or ``\\min_{…}`` binds."""
    if sub.kind == "symbol":
        return [text(sub)]
    if sub.kind == "list":
        return [name for part in sub.parts for name in bound_by(part)]
    if sub.kind == "relation":
        _, (first, *_, last) = sub.parts
        further = last.parts[1:] if last.kind == "list" else ()
        return [name for part in (first, *further) for name in bound_by(part)]
    if sub.kind == "script":
        base, index, _ = sub.parts
        return [text(index)] if index is not None else [text(base)]
    return []


def conditions_of(sub):
    """The conditions in what stands below a sum or minimum."""
    if sub.kind == "relation":
        ops, (*before, last) = sub.parts
        if last.kind != "list":
            return (sub,)
        first, *further = last.parts
        mine = Node("relation", (ops, (*before, first)), sub.column)
        return (mine, *(c for part in further for c in conditions_of(part)))
    if sub.kind == "list":
        return tuple(c for part in sub.parts for c in conditions_of(part))
    return ()


def free_symbols(node, bound=frozenset()):
    """Names of symbols that no sum, minimum or integral binds."""
    if node.kind == "symbol":
        return set() if node.parts[0] in bound else {node.parts[0]}
    if node.kind == "big":
        _, sub, sup, body = node.parts
        inner = bound | frozenset(bound_by(sub) if sub is not None else ())
        found = free_symbols(body, inner)
        for part in (sub, sup):
            if part is not None:
                found |= free_symbols(part, inner)
        return found
    if node.kind == "integral":
        _low, _high, body, variable = node.parts
        return free_symbols(body, bound | {text(variable)})
    found = set()
    if node.kind == "script":
        found.add(text(node))
    if node.kind == "group" and ":" in node.parts[1]:
        # in {w : g_i(w) ≤ 0} the condition is meant for every i
        (value, *_) = node.parts[2]
        return free_symbols(value, bound)
    for child in children(node):
        found |= free_symbols(child, bound)
    return found - bound


def is_domain(statement):
    return domain_of(statement) is not None


def domain_of(statement):
    """``n = 1, \\dots, N``, or the same in parentheses."""
    if statement.kind == "group" and statement.parts[2][0].kind == "relation":
        first, *rest = statement.parts[2]
        (*_, (variable, start)) = first.parts
        if rest:
            return variable, [start, *rest]
    if statement.kind == "relation" and statement.parts[0] == ("=",):
        variable, items = statement.parts[1]
        if items.kind == "list" and variable.kind == "symbol":
            return variable, list(items.parts)
    return None


def apart(items):
    """Conditions, and the ``i = 1, \\dots, I`` that say for which i."""
    kept, domains = list(items), []
    places = [i for i, item in enumerate(kept) if item.kind == "dots"]
    for place in reversed(places):
        span = slice(place - 1, place + 2)
        said = ("(", (",", ","), tuple(kept[span]))
        domains.append(Node("group", said, kept[place].column))
        del kept[span]
    return tuple(kept), domains


def has_optimum(node):
    if node.kind == "big" and node.parts[0] in OPTIMA:
        return True
    return any(has_optimum(child) for child in children(node))


def with_conditions(node, conditions):
    """Write ``subject to …`` into the optimum's body as a condition."""
    if isinstance(node, tuple):
        return tuple(with_conditions(part, conditions) for part in node)
    if not isinstance(node, Node):
        return node
    if node.kind == "big" and node.parts[0] in OPTIMA:
        name, sub, sup, body = node.parts
        seps = (":", *("," for _ in conditions[1:]))
        body = Node("group", (r"\{", seps, (body, *conditions)), body.column)
        return Node("big", (name, sub, sup, body), node.column)
    return Node(
        node.kind, with_conditions(node.parts, conditions), node.column
    )
