"""From the LaTeX of an equation to a small tree.

``parse`` blanks what only spaces, reads the rest with ``grammar.lark`` and
returns nodes.  ``text`` writes a node back as LaTeX in one canonical way:
it is the name under which a world binds a symbol, and what messages show.
"""

import itertools
import re
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

from lark import Lark, Transformer, v_args
from lark.exceptions import UnexpectedInput, UnexpectedToken, VisitError

GRAMMAR = Path(__file__).with_name("grammar.lark").read_text("utf-8")


class FormulaError(Exception):
    """A formula that does not parse or cannot be evaluated, and where."""

    def __init__(self, reason, column=None):
        super().__init__(reason)
        self.reason = reason
        self.column = column


@dataclass(frozen=True)
class Node:
    """``kind`` says what it is, ``parts`` what it is made of."""

    kind: str
    parts: tuple = ()
    column: int | None = field(default=None, compare=False)

    @cached_property
    def text(self):
        return WRITERS[self.kind](*self.parts)

    def __str__(self):
        return self.text


def parse(latex):
    """The tree of a displayed equation; columns count from 1 in ``latex``."""
    plain = normalise(latex)
    try:
        return TREE.transform(PARSER.parse(plain))
    except UnexpectedInput as error:
        raise _explained(error, plain) from None
    except VisitError as error:
        if isinstance(error.orig_exc, FormulaError):
            raise error.orig_exc from None
        raise


def _explained(error, plain):
    column = error.pos_in_stream
    if isinstance(error, UnexpectedToken) and error.token.type == "$END":
        return FormulaError("ends too early", len(plain.rstrip()) + 1)
    rest = plain[column : column + 12].split("\n")[0]
    return FormulaError(f"did not expect '{rest}'", column + 1)


@lru_cache(4096)
def canonical(latex):
    """The canonical text of one expression, such as a world's key."""
    (statement,) = parse(latex).parts[1]
    return text(statement)


# What only spaces ----------------------------------------------------------

BLANK = re.compile(
    r"\\(?:left|right|[Bb]igg?[lr]?)(?![a-zA-Z|])"
    r"|\\(?:left|right|[Bb]igg?[lr]?)(?=\|)(?!\|_)"
    r"|(?<!\\)\\[,;!:\s]|\\(?:displaystyle|limits|nolimits)(?![a-zA-Z])"
    r"|\\(?:begin|end)\{(?:aligned|split|gathered)\}|\{\}"
)
QUADS = r"(?:\\q?quad(?![a-zA-Z])\s*)*"


def normalise(latex):
    """Blank what only spaces, keeping every column where it was."""
    plain = BLANK.sub(_spaces, latex)
    plain = re.sub(r"(_[a-zA-Z])('+)", r"\2\1", plain)  # x_d' is x'_d
    plain = _rows(plain)
    plain = re.sub(r"[.,;]\s*$", _spaces, plain)
    return _bars(plain)


def _spaces(match):
    return re.sub(r"[^\n]", " ", match[0])


def _rows(plain):
    """Outside a matrix, & only aligns; a row may carry the last one on."""
    out, depth, inside, position = [], 0, 0, 0
    token = re.compile(
        r"\\(?:begin|end)\{\w+\}|\\\\|\\[{}]|[{}()\[\]]|"
        rf"{QUADS}&\s*{QUADS}|\\[a-zA-Z]+|.",
        re.S,
    )
    while position < len(plain):
        match = token.match(plain, position)
        piece = match[0]
        position = match.end()
        if piece.startswith("\\begin"):
            inside += 1
        elif piece.startswith("\\end"):
            inside -= 1
        elif piece in ("{", "(", "[", "\\{"):
            depth += 1
        elif piece in ("}", ")", "]", "\\}"):
            depth -= 1
        elif inside == 0 and "&" in piece:
            piece = _spaces(match)
        elif inside == 0 and piece == "\\\\":
            after = re.match(rf"[\s&]*{QUADS}", plain[position:])
            rest = plain[position + after.end() :]
            goes_on = depth > 0 or re.match(
                r"[=<>+\-/]|\\(?:le|ge|times|cdot|sim|approx)\b", rest
            )
            piece = "  " if goes_on else "⏎ "
            out.append(piece)
            piece = _spaces(after)
            position += after.end()
        out.append(piece)
    return "".join(out)


def _bars(plain):
    """Tell the | that opens from the one that closes."""
    out, open_at, position = [], [False], 0
    token = re.compile(r"\\[Bb]igg?\||\\[{}]|\\[a-zA-Z]+|.", re.S)
    while position < len(plain):
        piece = token.match(plain, position)[0]
        position += len(piece)
        if piece in ("{", "(", "[", "\\{", "⌈"):
            open_at.append(False)
        elif piece in ("}", ")", "]", "\\}") and len(open_at) > 1:
            open_at.pop()
        elif piece == "|":
            piece = "⌉" if open_at[-1] else "⌈"
            open_at[-1] = not open_at[-1]
        out.append(piece)
    return "".join(out)


# The tree ------------------------------------------------------------------

MARKS = {"*", "+", "-", r"\star", r"\dagger", r"\parallel", r"\perp"}


def name_of(token):
    r"""``\mathbf{x}``, ``\mathbf x`` and ``\mathbf  x`` are one symbol."""
    token = re.sub(r"\s+", " ", token.strip())
    return re.sub(r"\{(\\?[a-zA-Z]|\\[a-zA-Z]+)\}", _unbraced, token)


def _unbraced(match):
    return match[1] if match[1].startswith("\\") else " " + match[1]


@v_args(meta=True)
class ToTree(Transformer):
    """Lark's parse tree, tidied."""

    def __default__(self, data, children, meta):
        return Node(str(data), tuple(children), column(meta))

    def __default_token__(self, token):
        kind = token.type.lower()
        if kind in ("symbol", "number", "function", "dots"):
            return Node(kind, (name_of(token),), token.start_pos + 1)
        return token

    def formula(self, meta, children):
        statements = tuple(c for c in children if isinstance(c, Node))
        links, link = [], ""
        for child in children:
            if isinstance(child, Node):
                links.append(link)
                link = ""
            else:
                link = child
        return Node("formula", (tuple(links), statements), column(meta))

    def seps(self, meta, children):
        words = [
            re.sub(r".*\\text\{|\}|⏎", "", c).strip()
            for c in children
            if c.type != "SEP"
        ]
        return " ".join(words) or ","

    def statement(self, meta, children):
        sides = tuple(c for c in children if isinstance(c, Node))
        ops = tuple(str(c) for c in children if not isinstance(c, Node))
        if not ops:
            return sides[0]
        return Node("relation", (ops, sides), column(meta))

    def side(self, meta, children):
        if len(children) == 1:
            return reach(children[0])
        return Node("list", tuple(children), column(meta))

    def plus(self, meta, children):
        return Node("symbol", ("+",), column(meta))

    def minus(self, meta, children):
        return Node("symbol", ("-",), column(meta))

    def braces(self, meta, children):
        return children[0]

    def at(self, meta, children):
        return Node("at", (children[1],), column(meta))

    def argsep(self, meta, children):
        word = str(children[0])
        return "," if "quad" in word else word

    def items(self, meta, children):
        return list(children)

    def round(self, meta, children):
        return group("(", children[0], meta)

    def curly(self, meta, children):
        return group(r"\{", children[0], meta)

    def square(self, meta, children):
        return group("[", children[0], meta)

    def inner(self, meta, children):
        return group(r"\langle", children[0], meta)

    def rows(self, meta, children):
        return tuple(c for c in children if isinstance(c, tuple))

    def row(self, meta, children):
        return tuple(children)

    def when(self, meta, children):
        return children[1]

    def otherwise(self, meta, children):
        return Node("otherwise", (), column(meta))

    def product(self, meta, children):
        if len(children) == 1:
            return children[0]
        return Node("product", tuple(children), column(meta))

    def scripted(self, meta, children):
        base, *scripts = children
        return scripted(base, scripts, column(meta))

    def big(self, meta, children):
        operator, *scripts, body = children
        name = re.sub(r"\s+", "", operator)
        found = {script.kind: script.parts[0] for script in scripts}
        where = operator.start_pos + 1
        if name == r"\int":
            limits = (found.get("sub"), found.get("sup"))
            return integral(limits, body, where)
        return Node(
            "big", (name, found.get("sub"), found.get("sup"), body), where
        )


def column(meta):
    return None if meta.empty else meta.start_pos + 1


def group(opening, items, meta):
    seps = tuple(c for c in items if not isinstance(c, Node))
    nodes = tuple(c for c in items if isinstance(c, Node))
    return Node("group", (opening, seps, nodes), column(meta))


def scripted(base, scripts, where):
    """``x_d'`` is a component of x'; ``j!`` a factorial; else scripts."""
    sub = sup = None
    for script in scripts:
        if script.kind == "prime":
            if base.kind != "symbol":
                raise FormulaError("a prime needs a symbol before it", where)
            base = Node("symbol", (base.parts[0] + "'",), base.column)
        elif script.kind == "factorial":
            inner = _script(base, sub, sup, where)
            base, sub, sup = Node("factorial", (inner,), where), None, None
        elif script.kind == "sub":
            if sub is not None:
                raise FormulaError("two subscripts", where)
            sub = script.parts[0]
        else:
            if sup is not None:
                raise FormulaError("two superscripts", where)
            sup = script.parts[0]
    return _script(base, sub, sup, where)


def _script(base, sub, sup, where):
    if sub is None and sup is None:
        return base
    return Node("script", (base, sub, sup), where)


def integral(limits, body, where):
    r"""Close ``\int … dx`` at its dx; what follows is outside."""
    items = factors(body)
    for i, item in enumerate(items[:-1]):
        if item == Node("symbol", ("d",)):
            inside = product(items[:i], where)
            done = Node("integral", (*limits, inside, items[i + 1]), where)
            return product((done, *items[i + 2 :]), where)
    inner = items[-1]
    if inner.kind == "product":
        nested = factors(inner)
        if nested[0].kind == "integral":
            closed = integral(limits, inner, where)
            return product((*items[:-1], closed), where)
    raise FormulaError(r"\int without its d…", where)


OPTIMA = {r"\min", r"\max", r"\inf", r"\sup", r"\arg\min", r"\arg\max"}


def reach(node):
    r"""A ``\min_w`` that opens a side reaches to its end, over + and −."""
    if node.kind in ("add", "sub"):
        left, right = reach(node.parts[0]), node.parts[1]
        if left.kind == "big" and left.parts[0] in OPTIMA:
            name, sub, sup, body = left.parts
            body = Node(node.kind, (body, right), node.column)
            return Node("big", (name, sub, sup, body), left.column)
    return node


def factors(node):
    return node.parts if node.kind == "product" else (node,)


def product(items, where=None):
    if len(items) == 1:
        return items[0]
    return Node("product", tuple(items), where)


TREE = ToTree()
PARSER = Lark(
    GRAMMAR,
    start="formula",
    parser="lalr",
    propagate_positions=True,
    maybe_placeholders=False,
)


# Back to LaTeX --------------------------------------------------------------


def text(node):
    """The canonical LaTeX of a node."""
    return node.text


def _words(*pieces):
    """Side by side, with the space TeX needs after a command."""
    out = ""
    for piece in pieces:
        if re.search(r"\\[a-zA-Z]+$", out) and piece[:1].isalpha():
            out += " "
        out += piece
    return out


def _braced(node):
    inner = text(node)
    return inner if len(inner) == 1 or inner == r"\top" else f"{{{inner}}}"


def _write_script(base, sub, sup):
    written = text(base)
    if sub is not None:
        written += "_" + _braced(sub)
    if sup is not None:
        written += "^" + _braced(sup)
    return written


CLOSING = {"(": ")", r"\{": r"\}", "[": "]", r"\langle": r"\rangle"}


def _write_group(opening, seps, items):
    out = text(items[0])
    for sep, item in zip(seps, items[1:], strict=True):
        out += f"{sep} " if sep == "," else f" {sep} "
        out += text(item)
    return _words(opening, out, CLOSING[opening])


def _write_relation(ops, sides):
    out = text(sides[0])
    for op, side in zip(ops, sides[1:], strict=True):
        out += f" {op} {text(side)}"
    return out


def _write_formula(links, statements):
    out = text(statements[0])
    for link, statement in zip(links[1:], statements[1:], strict=True):
        between = r", \quad " if link == "," else rf" \;{link}\; "
        out += between + text(statement)
    return out


def _write_big(name, sub, sup, body):
    head = name
    if sub is not None:
        head += "_" + _braced(sub)
    if sup is not None:
        head += "^" + _braced(sup)
    return _words(head + " ", text(body))


def _write_integral(low, high, body, variable):
    head = r"\int"
    if low is not None:
        head += "_" + _braced(low)
    if high is not None:
        head += "^" + _braced(high)
    return rf"{head} {text(body)}\, d{text(variable)}"


def _write_rows(name):
    def write(rows):
        written = r" \\ ".join(" & ".join(map(text, row)) for row in rows)
        return rf"\begin{{{name}}} {written} \end{{{name}}}"

    return write


def _write_product(items):
    out = text(items[0])
    for before, item in itertools.pairwise(items):
        called = item if item.kind == "group" else item.parts[:1]
        called = called[0] if isinstance(called, tuple) else called
        touches = getattr(called, "kind", "") == "group" and before.kind in (
            "symbol",
            "script",
            "function",
        )
        out += ("" if touches else " ") + text(item)
    return out


def _infix(sign):
    return lambda a, b: f"{text(a)} {sign} {text(b)}"


def _wrap(before, after=""):
    return lambda a: _words(before, text(a)) + after


def _two(command):
    return lambda a, b: rf"{command}{{{text(a)}}}{{{text(b)}}}"


def _write_leaf(word):
    return word


WRITERS = {
    "symbol": _write_leaf,
    "number": _write_leaf,
    "function": _write_leaf,
    "dots": _write_leaf,
    "script": _write_script,
    "group": _write_group,
    "relation": _write_relation,
    "formula": _write_formula,
    "big": _write_big,
    "integral": _write_integral,
    "matrix": _write_rows("bmatrix"),
    "cases": _write_rows("cases"),
    "list": lambda *items: ", ".join(map(text, items)),
    "product": lambda *items: _write_product(items),
    "add": _infix("+"),
    "sub": _infix("-"),
    "add_pm": _infix(r"\pm"),
    "cup": _infix(r"\cup"),
    "setminus": _infix(r"\setminus"),
    "cap": _wrap(r"\cap "),
    "neg": _wrap("-"),
    "pos": _wrap("+"),
    "pm": _wrap(r"\pm "),
    "over": _wrap("/"),
    "times": _wrap(r"\cdot "),
    "factorial": _wrap("", "!"),
    "norm": _wrap(r"\lVert ", r" \rVert"),
    "bars": _wrap("|", "|"),
    "floor": _wrap(r"\lfloor ", r" \rfloor"),
    "sqrt": lambda a: rf"\sqrt{{{text(a)}}}",
    "frac": _two(r"\frac"),
    "binom": _two(r"\binom"),
    "at": _wrap(r"\big|_{", "}"),
    "slot": lambda: r"\cdot",
    "otherwise": lambda: r"\text{otherwise}",
}
