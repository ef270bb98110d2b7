"""From the LaTeX of an equation to its tree.

Macros are replaced, what only spaces is dropped, every argument gets braces,
what looks alike is told apart, and ``grammar.lark`` reads the rest.
"""

import re
from collections.abc import Mapping
from itertools import chain
from typing import Any

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput

from .nodes import FormulaError, Node

END = r"(?![a-zA-Z])"  # of a command
ANY = r"(?:\\.|[^{}\\])*+"
for _ in range(6):  # braces in braces
    ANY = rf"(?:\\.|[^{{}}\\]|\{{{ANY}\}})*+"
BRACED = rf"\s*\{{{ANY}\}}"
BARE = rf"(?!{BRACED})\s*(\\[a-zA-Z]+(?:\{{{ANY}\}})*+|[^\s\\{{}}])"
ARGUMENT = rf"\s*(?:\{{({ANY})\}}|{BARE})?"
REWRITING = [
    # what prints nothing
    (r"(?<!\\)(%[^\n]*|\\[,;:!>\s])|\{\s*\}|\\(left|right)\s*\.", " "),
    (rf"\\(left|right|[bB]igg?[lrm]?){END}", " "),
    (rf"\\(displaystyle|limits|nolimits|nonumber|notag){END}", " "),
    (r"\\(label|tag)\{[^{}]*\}", " "),
    (r"\\(begin|end)\{(align|aligned|gather|gathered|split)\*?\}", " "),
    (r"[\s.,;]+$", ""),
    # the braces that TeX can do without
    (rf"(\\(?:math[a-z]+|boldsymbol|bm|operatorname){END}){BARE}", r"\1{\2}"),
    (
        rf"(\\(?:dot|bar|overline|(?:wide)?(?:hat|tilde)){END}){BARE}",
        r"\1{\2}",
    ),
    (rf"(\\sqrt(?!\s*\[)|[_^]){BARE}", r"\1{\2}"),
    (rf"(\\(?:frac|binom)(?:{BRACED})?+){BARE}", r"\1{\2}"),
    # x_d' is a component of x', x^2_n is x_n^2, and d/dx is ∂/∂x
    (rf"(_{BRACED})\s*'", r"'\1"),
    (rf"(\^{BRACED})\s*(_{BRACED})", r"\2\1"),
    (
        rf"\\frac\{{\s*d({ANY})\}}\{{\s*d(?=\s*\\?[a-zA-Z])",
        r"\\frac{\\partial \1}{\\partial ",
    ),
]
PIECE = re.compile(
    r"\\(?:begin|end|math[a-z]+|operatorname)\s*\{\w+\}"
    r"|\\text\s*\{[^{}]*\}|\\[a-zA-Z]+|\\\\(?:\[[^]]*\])?|\\.|\d+(?:\.\d+)?|\S"
)
OPENING = {"{", "(", "[", r"\{", r"\langle"}
CLOSING = {"}", ")", "]", r"\}", r"\rangle"}
BARS = {"|": (r"\lvert", r"\rvert"), r"\|": (r"\lVert", r"\rVert")}
ALIGNING = {"&", r"\quad", r"\qquad"}
CARRY_ON = {*"=<>+-/", r"\le", r"\ge", r"\times", r"\cdot", r"\sim"}
LOOSE = {"infix", "prefix", "product", "big", "operator"}


def parse(latex: str, macros: Mapping[str, str]) -> Node:
    """The tree of a displayed equation."""
    text = expanded(latex, macros)
    for pattern, new in REWRITING:
        before = ""
        while text != before:
            before, text = text, re.sub(pattern, new, text)
    plain = " ".join(told_apart(PIECE.findall(text)))
    try:
        tree: Node = PARSER.parse(plain)
    except UnexpectedInput as error:
        where = error.get_context(plain)
        raise FormulaError(f"cannot be read:\n{where}") from None
    return tree


def expanded(text: str, macros: Mapping[str, str]) -> str:
    """The text without macros."""
    names = sorted(map(re.escape, macros), reverse=True)  # \leq before \le
    pattern = rf"({'|'.join(names)})(?:(?<![a-zA-Z])|{END})"
    while found := re.search(pattern, text):
        body, rest = macros[found[0]], text[found.end() :]
        for name in sorted({*re.findall(r"#\d", body)}):
            given: Any = re.match(ARGUMENT, rest)
            body = body.replace(name, given[1] or given[2] or "")
            rest = rest[given.end() :]
        text = text[: found.start()] + body + rest
    return text


def told_apart(pieces: list[str]) -> list[str]:
    """Bars that open or close, rows that are new or carry the last one on."""
    out: list[str] = []
    levels: list[tuple[str, dict[str, int]]] = [("", {})]  # and their bars
    for i, piece in enumerate(pieces):
        text, after, (opening, bars) = piece, pieces[i + 1 :], levels[-1]
        table = any(level.startswith(r"\begin") for level, _ in levels)
        if piece in OPENING or piece.startswith(r"\begin"):
            levels.append((piece, {}))
        elif piece in CLOSING or piece.startswith(r"\end"):
            for place in bars.values():  # p(x | y) has a bar that never closes
                out[place] = r"\mid"
            levels = levels[:-1] or levels
        elif piece in BARS:
            opened = bars.pop(piece, None)
            text = BARS[piece][opened is not None]
            if opened is None and after[:1] == ["_"]:
                text = r"\big|"
            elif opened is None:
                bars[piece] = len(out)
        elif piece == "d" and r"\int" in pieces[:i]:
            letter = re.match(r"\\?[a-zA-Z]", after[0])
            text = "𝑑" if letter and after[0] not in CARRY_ON else piece
        elif piece.startswith("\\\\"):
            first = next((p for p in after if p not in ALIGNING), "")
            new = "" if opening or first in CARRY_ON else "⏎"
            text = "\\\\" if table else "," if opening == "{" else new
        elif piece in ALIGNING and not table:
            text = "" if "&" in pieces[max(i - 1, 0) : i + 2] else text
        out.append(text)
    return out


def tidied(kind: str, items: list[Any]) -> Any:
    """The node of a rule in the grammar."""
    if kind.startswith("_"):
        return Tree(kind, items)
    items = [read(i) if isinstance(i, Token) else i for i in items]
    nodes = [i for i, item in enumerate(items) if isinstance(item, Node)]
    match kind, [items[i] for i in nodes]:
        case "sub" | "sup", _:
            return tuple(items)
        case "seps", _:
            return " ".join(i for i in items if i != ",") or ","
        case "script", [base] if items[1:] == [None, None]:
            return base
        case "braces", [node, *_]:  # round a sum they are parentheses
            if node.kind not in LOOSE:
                return node
            kind, items = "group", ["(", node, ")"]
        case "infix", [Node(is_optimum=True) as left, _]:
            # a \min_w that opens a sum reaches to its end, over + and −
            return left.but(2, tidied(kind, [left.parts[2], *items[1:]]))
        case "formula", _:
            items = with_domains(items[nodes[0] : nodes[-1] + 1])
        case "group", _:
            items = with_domains(items)
    flat = (item if isinstance(item, tuple) else (item,) for item in items)
    return Node(kind, tuple(chain.from_iterable(flat)))


def read(token: Token) -> Node | str:
    r"""A symbol, or a word; ``\mathbf{x}`` and ``\mathbf  x`` are the same."""
    if token.type == "TEXT":
        return re.sub(r".*\{|\}", "", token).strip()
    if token.type not in ("SYMBOL", "NUMBER", "DOTS"):
        word = re.sub(r"\s", "", token).replace("𝑑", "d")
        return "," if token.type == "SEP" else word
    name = re.sub(rf"\s+{END}|(?<![a-zA-Z])\s+", "", token)
    name = re.sub(r"\{(\\[a-zA-Z]+)\}", r"\1", name)
    return Node(token.type.lower(), (re.sub(r"\{(\w)\}", r" \1", name),))


def with_domains(items: list[Any]) -> list[Any]:
    r"""Of what stands side by side, ``n = 1, \dots, N`` is one item."""
    equal = -1
    for i, item in enumerate(items):
        if isinstance(item, Node) and item.words == ("=",):
            equal = i
        elif str(item).endswith("dots") and equal >= 0 and items[i + 2 :]:
            domain = Node("domain", tuple(items[equal : i + 3]))
            return with_domains([*items[:equal], domain, *items[i + 3 :]])
    return items


PARSER: Any = Lark.open(
    "grammar.lark",
    rel_to=__file__,
    start="formula",
    parser="lalr",
    keep_all_tokens=True,
    tree_class=tidied,
)
