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


def parse(latex: str, macros: Mapping[str, str]) -> Node:
    """The tree of a displayed equation; columns count from 1 in ``latex``."""
    too_early = FormulaError("ends too early", len(latex.rstrip()) + 1)
    plain, columns = "", dict[int, Any]()
    try:
        for piece in told_apart([*expanded(scanned(latex), macros)]):
            columns[len(plain)] = piece.start_pos
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
OF_TWO = {r"\frac", r"\binom"}
OF_ONE = re.compile(
    r"[_^]|\\(math\w+|boldsymbol|bm|operatorname|sqrt|dot|bar|overline)"
    r"|\\(wide)?(hat|tilde)"
)
OPENING = {"{", "(", "[", r"\{", r"\langle"}
CLOSING = {"}", ")", "]", r"\}", r"\rangle"}
BARS = {"|": (r"\lvert", r"\rvert"), r"\|": (r"\lVert", r"\rVert")}
ALIGNING = {"&", r"\quad", r"\qquad"}
CARRY_ON = {*"=<>+-/", r"\le", r"\ge", r"\times", r"\cdot", r"\sim"}


def scanned(latex: str) -> list[Token]:
    """The pieces that print something, each with its column."""
    found = PIECE.finditer(latex)
    return [Token("", m[0], m.start() + 1) for m in found if not m["blank"]]


def at(piece: Token, text: str) -> Token:
    return Token("", text, piece.start_pos)


def expanded(
    pieces: list[Token], macros: Mapping[str, str]
) -> Iterator[Token]:
    """Replace macros, and put braces round every argument."""
    todo = pieces[::-1]
    while todo:
        piece = todo.pop()
        body = scanned(macros.get(piece, ""))
        count = len({part for part in body if re.match(r"#\d", part)})
        given = {f"#{n + 1}": argument(todo) for n in range(count)}
        for part in reversed(body):
            todo += given.get(part, [at(piece, part)])[::-1]
        if piece not in macros:
            braced = with_braces(piece, todo)
            while piece == "_" and todo[-1:] == ["'"]:
                yield todo.pop()  # x_d' is a component of x'
            yield piece
            todo += braced[::-1]


def argument(todo: list[Token]) -> list[Token]:
    """Take one thing off, as TeX does: ``{…}``, a command, or one digit."""
    piece = todo.pop()
    if piece == "{":
        out, depth = [], 1
        while depth:
            out.append(todo.pop())
            depth += {"{": 1, "}": -1}.get(out[-1], 0)
        return out[:-1]
    if piece[0].isdigit() and piece[1:]:
        todo.append(Token("", piece[1:], (piece.start_pos or 0) + 1))
        return [at(piece, piece[0])]
    return [piece, *with_braces(piece, todo)]


def with_braces(piece: Token, todo: list[Token]) -> list[Token]:
    """What a command is of; d/dx is written as ∂/∂x."""
    if not (piece in OF_TWO or OF_ONE.fullmatch(piece)) or todo[-1] == "[":
        return []
    given = [argument(todo) for _ in range(1 + (piece in OF_TWO))]
    if given[0][:1] == ["d"] and is_d(given[-1]):
        given = [[at(one[0], r"\partial"), *one[1:]] for one in given]
    braced = [[at(piece, "{"), *one, at(piece, "}")] for one in given]
    return [inner for one in braced for inner in one]


def is_d(pieces: list[Token]) -> bool:
    """Whether this starts with the d of dx."""
    letter = len(pieces) > 1 and re.match(r"\\?[a-zA-Z]", pieces[1])
    return pieces[:1] == ["d"] and bool(letter) and pieces[1] not in CARRY_ON


def told_apart(pieces: list[Token]) -> list[Token]:
    """Bars that open or close, rows that are new or carry the last one on."""
    while pieces and pieces[-1] in (".", ",", ";"):
        pieces.pop()
    out: list[Token] = []
    levels: list[tuple[str, dict[str, int]]] = [("", {})]  # and their bars
    for i, piece in enumerate(pieces):
        text, after, (opening, bars) = str(piece), pieces[i + 1 :], levels[-1]
        table = any(level.startswith(r"\begin") for level, _ in levels)
        if piece in OPENING or piece.startswith(r"\begin"):
            levels.append((piece, {}))
        elif piece in CLOSING or piece.startswith(r"\end"):
            for place in bars.values():  # p(x | y) has a bar that never closes
                out[place] = at(out[place], r"\mid")
            levels = levels[:-1] or levels
        elif piece in BARS:
            opened = bars.pop(piece, None)
            text = BARS[piece][opened is not None]
            if opened is None and after[:1] == ["_"]:
                text = r"\big|"
            elif opened is None:
                bars[piece] = len(out)
        elif is_d(pieces[i:]) and r"\int" in pieces[:i]:
            text = "𝑑"
        elif piece.startswith("\\\\"):
            first = next((p for p in after if p not in ALIGNING), "")
            new = "" if opening or first in CARRY_ON else "⏎"
            text = "\\\\" if table else "," if opening == "{" else new
        elif piece in ALIGNING and not table:
            beside = [*pieces[max(i - 1, 0) : i + 2]]
            text = "" if "&" in beside else text
        out.append(at(piece, text))
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
            found = {c.kind: c for c in children if isinstance(c, Node)}
            sub, sup = found.get("sub"), found.get("sup")
            both = scripts(sub and sub.parts[0], sup and sup.parts[0])
            rest = (c for c in children[1:] if c is not sub and c is not sup)
            children = [children[0], *both, *rest]
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


PARSER = Lark(
    Path(__file__).with_name("grammar.lark").read_text("utf-8"),
    start="formula",
    parser="lalr",
    propagate_positions=True,
    keep_all_tokens=True,
)
