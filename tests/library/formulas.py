r"""The formulas of docstrings, read and translated to LaTeX.

A docstring writes ``J(w) = ½ Σ_n {wᵀφ(x_n) - t_n}² + ½ λ wᵀw``.  A statement
is a run of mathematics with a relation in it; words end it, other than names
of arguments.  A table makes LaTeX of it: no letter is bold, Σ_n runs from 1 to
N, and so on.  ``test_formulas.py`` says what the letters are.
"""

import inspect
import re
from functools import cache

from library.examples import modules, public

SECTIONS = r"\n(?:Parameters|Returns|Raises|Warns|Examples|Notes|Yields)\n-+"
NAMES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi "
    "o pi rho"
)
LETTERS = dict(zip("αβγδεζηθικλμνξοπρ", NAMES.split(" "), strict=True))
LETTERS |= {"σ": "sigma", "τ": "tau", "φ": "phi", "χ": "chi", "ω": "omega"}
LETTERS |= {"Γ": "Gamma", "Λ": "Lambda", "Σ": "Sigma", "Φ": "Phi"}
TABLE = {
    **{letter: rf"\{name} " for letter, name in LETTERS.items()},
    "½": r"\frac{1}{2}",
    "𝕝": r"\mathbf 1_{N}",
    "∇": r"\nabla ",
    "∂": r"\partial ",
    "·": r"\cdot ",
    "∘": r"\circ ",
    "ℒ": r"\mathcal L ",
    "ℓ": r"\ell ",
    "<=": r"\le ",
    ">=": r"\ge ",
    "≤": r"\le ",
    "≥": r"\ge ",
    "←": r"\leftarrow ",
    "−": "-",
    "{": r"\{",
    "}": r"\}",
    "|": r"\mid ",
}
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿˢ", "0123456789-+ns")
LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉₊₋", "0123456789+-")
FUNCTIONS = {"exp", "ln", "max", "min", "sin", "cos", "tanh", "arcsin"}
OPERATORS = {"lndet", "mean", "tr", "diag"}
NAMED = {"lam": "lambda", "eps": "epsilon"}
MARKS = {"\u0303": "tilde", "\u0304": "bar", "\u0302": "hat"}
TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<number>\d+(?:\.\d+)?)"
    r"|(?P<sum>[ΣΠ](?=_\{|_\w+ |_\w+$))"
    r"|(?P<word>[A-Za-z]{2,})|(?P<letter>[A-Za-zα-ωΑ-Ωℒℓ𝕝][\u0302-\u0304]?'*)"
    r"|(?P<sub>_\{[^}]*\}|_[A-Za-z0-9*λ]+(?:,\w+)*|[₀-₉₊₋]+)"
    r"|(?P<sup>ᵀ|⁻ᵀ|[⁰¹²³⁴-⁹⁻⁺ⁿˢ]+|\^\([^)]*\)|\^[-\w½]+)"
    r"|(?P<root>√\([^()]*\)|√\w)|(?P<bars>‖)|(?P<rel><=|>=|[=≤≥←])"
    r"|(?P<op>[-+*/·∘∇∂½−|!<>])|(?P<open>[([{])|(?P<close>[)\]}])|(?P<comma>,)"
)
# What an index counts.
COUNTS = {"n": "N", "m": "N", "j": "M", "k": "K", "d": "D", "i": "N"}


def statements(docstring, words):
    """The runs of mathematics in a docstring that say something.

    ``words`` are the names of more than one letter that may occur in them.
    """
    head = re.split(SECTIONS, docstring)[0]
    for paragraph in head.split("\n\n"):
        text = prepared(" ".join(paragraph.split()))
        runs, run, at, depth = [], [], 0, 0
        while at < len(text):
            found = TOKEN.match(text, at)
            kind = found.lastgroup if found else ""
            depth += {"open": 1, "close": -1}.get(kind, 0)
            known = kind != "word" or found[0] in FUNCTIONS | OPERATORS | words
            if not found or not known or (kind == "comma" and depth < 1):
                runs, run, depth = [*runs, run], [], 0
            else:
                run.append((kind, found[0]))
            at = found.end() if found else at + 1
        runs.append(run)
        for run in runs:
            kinds = [kind for kind, _ in run]
            if "rel" in kinds and kinds.count("open") == kinds.count("close"):
                yield run


def prepared(text):
    """Brackets where a logarithm or a determinant is written without."""
    text = re.sub(r" \(\d+(?:\.\d+)?\)", "", text)  # equations
    text = re.sub(r"11ᵀ", "𝕝𝕝ᵀ", text)
    text = re.sub(r"\b1(?=[φt]\u0304)|(?<=[bK])1(?=[ )])", "𝕝", text)
    text = re.sub(r"ln ?\|([^|]+)\|", r"lndet(\1)", text)
    text = re.sub(r"ln (\w+\([^()]*\)|[^\s(){|,.]+)", r"ln(\1)", text)
    text = re.sub(r"\babs\(([^()]*)\)", r"‖\1‖", text)
    text = re.sub(r"/ (Σ_\w [^\s,]+)", r"/ (\1)", text)
    products = (
        r"(?<![A-Za-z_])(KKa|Ka|Kt|Kr|Kv|HKH|Ht|Pw|Gw|Aw|WK|aa|St)(?![a-z])"
    )
    return re.sub(products, lambda m: " ".join(m[1]), text)


def translated(run):
    """LaTeX of a run."""
    made, bars = [], 0
    for i, (kind, text) in enumerate(run):
        if kind == "sum":
            index = run[i + 1][1].strip("_{}")
            large = r"\sum" if text == "Σ" else r"\prod"
            last = COUNTS.get(index)
            made.append(f"{large}_{{{index}=1}}^{{{last}}}" if last else "?")
        elif kind == "sub" and run[i - 1][0] == "sum":
            continue
        elif kind == "sub":
            made.append(f"_{{{index_list(text)}}}")
        elif kind == "sup":
            raised = text.translate(RAISED).strip("^").strip("()")
            sign, name = re.fullmatch(r"(-?)(.*)", raised).groups()
            if name.isalpha() and len(name) > 1 and name != "ᵀ":
                raised = sign + word(name)
            top = {"ᵀ": r"\top", "-ᵀ": r"-\top"}.get(raised, to_latex(raised))
            made.append(f"^{{{top}}}")
        elif kind == "letter":
            made.append(letter(text))
        elif kind == "word":
            made.append(word(text))
        elif kind == "root":
            made.append(rf"\sqrt{{{to_latex(text[1:].strip('()'))}}}")
        elif kind == "bars":
            made.append(r"\rVert " if bars % 2 else r"\lVert ")
            bars += 1
        else:
            made.append(TABLE.get(text, text))
    return "".join(made).strip()


def letter(text):
    base, mark, primes = re.fullmatch(
        r"(.)([\u0302-\u0304]?)('*)", text
    ).groups()
    base = r"\mathbf I" if base == "I" else TABLE.get(base, base)
    return (rf"\{MARKS[mark]}{{{base}}}" if mark else base) + primes


def word(text):
    if text in ("lndet", "mean"):
        return rf"\mathrm{{{text}}} "
    if text in ("tr", "diag"):
        return rf"\operatorname{{{text}}} "
    if text in FUNCTIONS:
        return rf"\{text} "
    name = NAMED.get(text, text)
    greek = name in LETTERS.values() or name == "lambda"
    return rf"\{name} " if greek else rf"\mathrm{{{text}}} "


def to_latex(text):
    return "".join(TABLE.get(c, c) for c in text)


def index_list(text):
    inner = text.strip("_{}").translate(LOWERED)
    if inner in LETTERS:
        return TABLE[inner]
    parts = inner.split(",") if "," in inner else list(inner)
    return ",".join(parts) if inner.isalnum() and len(inner) < 3 else inner


@cache
def docstrings():
    """Of the public functions and classes, by name, with the arguments."""
    found = {}
    for module in modules():
        short = module.__name__.partition(".")[2]
        for name, thing in public(module).items():
            if short != "exceptions" and thing.__doc__:
                words = set(inspect.signature(thing).parameters)
                found[f"{short}.{name}"] = inspect.getdoc(thing), words
    return found


def formulas(docstring, words):
    """The LaTeX of what a docstring states."""
    found = [translated(run) for run in statements(docstring, words)]
    return [latex for latex in found if re.search(r"[^=]=|\\[lg]e ", latex)]
