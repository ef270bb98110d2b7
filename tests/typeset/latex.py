"""From the LaTeX of an equation to its tree.

A scanner replaces macros, drops what only spaces and tells apart what looks
alike; ``grammar.lark`` reads the rest.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedInput, UnexpectedToken

from .nodes import FormulaError, Node, scripts

Pieces = list[tuple[str, int]]  # of LaTeX, and the column of each


def parse(latex: str, macros: Mapping[str, str]) -> Node:
    """The tree of a displayed equation; columns count from 1 in ``latex``."""
    too_early = FormulaError("ends too early", len(latex.rstrip()) + 1)
    plain, columns = "", {}
    try:
        for piece, column in told_apart([*expanded(scanned(latex), macros)]):
            columns[len(plain)] = column
            plain += piece + " "
        return ToTree(columns).transform(PARSER.parse(plain))
    except IndexError:
        raise too_early from None
    except UnexpectedInput as error:
        if isinstance(error, UnexpectedToken) and error.token.type == "$END":
            raise too_early from None
        column = columns[error.pos_in_stream or 0]
        rest = latex[column - 1 : column + 11].split("\n")[0]
        raise FormulaError(f"did not expect '{rest}'", column) from None


# The scanner ----------------------------------------------------------------

PIECE = re.compile(
    r"(?P<blank>\s+|%[^\n]*|\{\s*\}|\\[,;:!>\s]"
    r"|\\(left|right)\s*\.|\\(left|right|[bB]igg?[lrm]?)(?![a-zA-Z])"
    r"|\\(displaystyle|limits|nolimits|nonumber|notag)(?![a-zA-Z])"
    r"|\\(label|tag)\{[^{}]*\}"
    r"|\\(begin|end)\{(align|aligned|gather|gathered|split)\*?\})"
    r"|\\(begin|end|math\w+|operatorname)\s*\{\w+\}|\\text\s*\{[^{}]*\}"
    r"|\\operatorname\*|\\[a-zA-Z]+|\\\\(\[[^]]*\])?|\\.|\d+(\.\d+)?|:=|\#\d|.",
    re.S,
)
OF_ONE = r"[_^]|\\(math\w+|boldsymbol|bm|operatorname|sqrt|dot|bar|overline)"
OF_ONE += r"|\\(wide)?(hat|tilde)"
OPENING = {"{", "(", "[", r"\{", r"\langle"}
CLOSING = {"}", ")", "]", r"\}", r"\rangle"}
BARS = {"|": (r"\lvert", r"\rvert"), r"\|": (r"\lVert", r"\rVert")}
ALIGNING = {"&", r"\quad", r"\qquad"}
CARRY_ON = {*"=<>+-/", r"\le", r"\ge", r"\times", r"\cdot", r"\sim"}


def scanned(latex: str) -> Pieces:
    found = PIECE.finditer(latex)
    return [(m[0], m.start() + 1) for m in found if not m["blank"]]


def expanded(pieces: Pieces, macros: Mapping[str, str]) -> Iterator[Any]:
    """Replace macros, and put braces round every argument."""
    todo = pieces[::-1]
    while todo:
        piece, column = todo.pop()
        if piece in macros:
            count = max(
                map(int, re.findall(r"#(\d)", macros[piece])), default=0
            )
            given = {f"#{n + 1}": argument(todo) for n in range(count)}
            for inner, _ in scanned(macros[piece])[::-1]:
                todo += given.get(inner, [(inner, column)])[::-1]
        else:
            braced = with_braces(piece, column, todo)
            while piece == "_" and todo and todo[-1][0] == "'":
                yield todo.pop()  # x_d' is a component of x'
            yield piece, column
            todo += braced[::-1]


def argument(todo: Pieces) -> Pieces:
    """Take one thing off, as TeX does: ``{…}``, a command, or one digit."""
    piece, column = todo.pop()
    if piece == "{":
        out, depth = [], 1
        while depth:
            out.append(todo.pop())
            depth += {"{": 1, "}": -1}.get(out[-1][0], 0)
        return out[:-1]
    if piece[0].isdigit() and piece[1:]:
        todo.append((piece[1:], column + 1))
    one = piece[0] if piece[0].isdigit() else piece
    return [(one, column), *with_braces(piece, column, todo)]


def with_braces(piece: str, column: int, todo: Pieces) -> Pieces:
    """What a command is of; of d/dx, the derivative's own signs."""
    count = 2 if piece in (r"\frac", r"\binom") else 1
    if not (count == 2 or re.fullmatch(OF_ONE, piece)) or todo[-1][0] == "[":
        return []
    given = [argument(todo) for _ in range(count)]
    if (
        count == 2
        and given[0][:1]
        and given[0][0][0] == "d"
        and is_d(given[1])
    ):
        given = [[(r"\partial", g[0][1]), *g[1:]] for g in given]
    out: Pieces = []
    for one in given:
        out += [("{", column), *one, ("}", column)]
    return out


def is_d(pieces: Pieces) -> bool:
    """Whether this starts with the d of dx."""
    words = [word for word, _ in pieces[:2]]
    letter = words[1:] and re.match(r"\\?[a-zA-Z]", words[1])
    return words[:1] == ["d"] and bool(letter) and words[1] not in CARRY_ON


def told_apart(pieces: Pieces) -> Pieces:
    """Bars that open or close, rows that are new or carry the last one on."""
    while pieces and pieces[-1][0] in (".", ",", ";"):
        pieces.pop()
    words = [word for word, _ in pieces]
    out: Pieces = []
    levels: list[tuple[str, dict[str, int]]] = [("", {})]  # and their bars
    for i, (piece, column) in enumerate(pieces):
        opening, bars = levels[-1]
        table = any(level.startswith(r"\begin") for level, _ in levels)
        if piece in OPENING or piece.startswith(r"\begin"):
            levels.append((piece, {}))
        elif piece in CLOSING or piece.startswith(r"\end"):
            for place in bars.values():  # p(x | y) has a bar that never closes
                out[place] = (r"\mid", out[place][1])
            levels = levels[:-1] or levels
        elif piece in BARS and piece in bars:
            del bars[piece]
            piece = BARS[piece][1]
        elif piece in BARS and words[i + 1 : i + 2] == ["_"]:
            piece = r"\big|"
        elif piece in BARS:
            bars[piece] = len(out)
            piece = BARS[piece][0]
        elif is_d(pieces[i:]) and r"\int" in words[:i]:
            piece = "𝑑"
        elif piece.startswith("\\\\"):
            after = (word for word in words[i + 1 :] if word not in ALIGNING)
            first = next(after, "")
            carried_on = "" if opening or first in CARRY_ON else "⏎"
            substack = "," if opening == "{" else carried_on
            piece = "\\\\" if table else substack
        elif piece in ALIGNING and not table:
            piece = "" if "&" in words[max(i - 1, 0) : i + 2] else piece
        out.append((piece, column))
    return out


# The tree -------------------------------------------------------------------


def name_of(token: str) -> str:
    r"""``\mathbf{x}``, ``\mathbf x`` and ``\mathbf  x`` are one symbol."""
    name = re.sub(r"\s+(?![a-zA-Z])|(?<![a-zA-Z])\s+", "", token)
    name = re.sub(r"\{(\\[a-zA-Z]+)\}", r"\1", name)
    return re.sub(r"\{(\w)\}", r" \1", name)


@v_args(meta=True)
class ToTree(Transformer[Token, Node]):
    """Lark's parse tree, tidied."""

    def __init__(self, columns: dict[int, int]) -> None:
        super().__init__()
        self.columns = columns

    def __default__(self, data: str, children: list[Any], meta: Any) -> Node:
        if data in ("script", "big", "integral", "gradient"):
            marks = {c.kind: c for c in children[1:] if is_script(c)}
            both = [marks[k].parts[0] if k in marks else None for k in SCRIPTS]
            rest = [c for c in children[1:] if not is_script(c)]
            children = [children[0], *scripts(*both), *rest]
        where = None if meta.empty else self.columns[meta.start_pos]
        return Node(str(data), tuple(children), where)

    def __default_token__(self, token: Token) -> Node | str:
        if token.type in ("SYMBOL", "NUMBER", "DOTS"):
            where = self.columns[token.start_pos or 0]
            return Node(token.type.lower(), (name_of(token),), where)
        if token.type == "TEXT":
            return re.sub(r".*\{|\}", "", token).strip()
        word = re.sub(r"\s", "", token).replace("𝑑", "d")
        return "," if token.type == "SEP" else word

    def formula(self, meta: Any, children: list[Any]) -> Node:
        nodes = [i for i, c in enumerate(children) if isinstance(c, Node)]
        inside = children[nodes[0] : nodes[-1] + 1]
        return self.__default__("formula", inside, meta)

    def seps(self, meta: Any, children: list[str]) -> str:
        return " ".join(c for c in children if c != ",") or ","

    def inner(self, meta: Any, children: list[Any]) -> Node:
        return next(c for c in children if isinstance(c, Node))

    def braces(self, meta: Any, children: list[Any]) -> Node:
        """A sum in braces is one factor, as if in parentheses."""
        node = self.inner(meta, children)
        loose = node.kind in ("infix", "prefix", "product", "big", "operator")
        return Node("group", ("(", node, ")"), node.column) if loose else node

    def infix(self, meta: Any, children: list[Any]) -> Node:
        r"""A ``\min_w`` that opens a sum reaches to its end, over + and −."""
        left: Node = children[0]
        if left.is_optimum:
            body = self.infix(meta, [left.parts[2], *children[1:]])
            return left.but(2, body)
        return self.__default__("infix", children, meta)


SCRIPTS = ("sub", "sup")


def is_script(child: Any) -> bool:
    return isinstance(child, Node) and child.kind in SCRIPTS


PARSER = Lark(
    Path(__file__).with_name("grammar.lark").read_text("utf-8"),
    start="formula",
    parser="lalr",
    propagate_positions=True,
    keep_all_tokens=True,
)
