r"""The formulas of docstrings, read and translated to LaTeX.

A docstring writes ``J(w) = ½ Σ_n {wᵀφ(x_n) - t_n}² + ½ λ wᵀw``.  A statement
is a run of mathematics with a relation in it, or a formula without one that
is longer than a name; words end it, other than names of arguments.  A table
makes LaTeX of it: no letter is bold, ∂C is a symbol, and so on.  What the
letters are, and over what a sum runs, the worlds say (``docstring_worlds``).
"""

import ast
import inspect
import re
from functools import cache
from itertools import pairwise

from library.examples import modules, public

from kernelbook import estimators

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
    "≈": r"\approx ",
    "≠": r"\ne ",
    "!=": r"\ne ",
    "...": r"\dots ",
    "…": r"\dots ",
    "~": r"\sim ",
    "⪰": r"\succeq ",
    "∈": r"\in ",
    "𝟙": r"\mathbb 1 ",
    "∩": r"\cap ",
    "−": "-",
    "{": r"\{",
    "}": r"\}",
    "|": r"\mid ",
}
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿˢʲ", "0123456789-+nsj")
LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉₊₋", "0123456789+-")
FUNCTIONS = {"exp", "ln", "max", "min", "sin", "cos", "tanh", "arcsin", "inf"}
OPERATORS = {"lndet", "mean", "abs", "tr", "argmax", "erf", "cov", "size"}
NAMED = {"lam": "lambda", "eps": "epsilon"}
MARKS = {"\u0303": "tilde", "\u0304": "bar", "\u0302": "hat"}
TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<number>\d+(?:\.\d+)?)"
    r"|(?P<sum>[ΣΠ](?=(?:_\{[^}]*\}|_\w+)(?:\^\{[^}]*\})? [^-+*=,./)]))"
    r"|(?P<word>[A-Za-z]{2,})"
    r"|(?P<letter>∂?(?!ln)[A-Za-zα-ωΑ-Ωℒℓ𝕝𝟙][\u0302-\u0304]?'*)"
    r"|(?P<sub>_\{[^}]*\}|_[A-Za-z0-9*α-ω]+(?:,\w+)*|[₀-₉₊₋]+)"
    r"|(?P<sup>(?<=[A-Za-z])\*(?=[\s(,=:.]|$)|ᵀ|⁻ᵀ|[⁰¹²³⁴-⁹⁻⁺ⁿˢʲ]+"
    r"|\^\([^)]*\)|\^\{[^}]*\}|\^[-\w½]+)"
    r"|(?P<root>√)|(?P<bars>‖)|(?P<rel><=|>=|!=|[=≤≥←≈≠<>~⪰∈])"
    r"|(?P<dots>\.\.\.|…)|(?P<op>[-+*/·∘∇∂½−|!∩])"
    r"|(?P<open>[([{])|(?P<close>[)\]}])|(?P<comma>[,:])"
)
PRODUCTS = re.compile(  # letters side by side that are no word
    r"(?<![A-Za-z_])"
    r"(KKa|Ka|Kt|Kr|Kv|HKH|Ht|Pw|Gw|Aw|Ax|Ap|WK|XAZ|XR|ZR|St)(?![a-z])"
    r"|(?<=[ᵀ¹])([A-Za-z]{2,3})(?![A-Za-z])"
    r"|(?<![A-Za-z_])([A-Za-z]{2})(?=[ᵀ⁻\u0302-\u0304])"
)
COUNTED = {"op", "sum", "root", "bars"}  # what makes a formula of a run


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
        runs = map(trimmed, [*runs, run])
        yield from filter(says_something, runs)


def says_something(run):
    """Whether it has a relation, or more than a name, a shape or a count."""
    kinds = [kind for kind, _ in run if kind != "space"]
    if "rel" in kinds:
        return len(kinds) > 1
    pairs = pairwise(kind for kind, _ in run if kind != "sub")
    calls = sum(b == "open" and a in ("letter", "word") for a, b in pairs)
    arguments = sum(
        kind == "word" and text not in FUNCTIONS | OPERATORS
        for kind, text in run
    )
    names = kinds.count("letter") + arguments
    turned = any(kind == "sup" and text[0] in "ᵀ⁻" for kind, text in run)
    worked = sum(k in COUNTED or text in FUNCTIONS for k, text in run)
    return names > 0 and (
        "sum" in kinds
        or calls > 1
        or worked > 1
        or (calls and "op" in kinds)
        or (turned and kinds.count("letter") > 1)
        or (arguments > 1 and "op" in kinds)
    )


def trimmed(run):
    """Without the sign that a word has cut off."""
    while run and run[-1][0] in ("space", "op", "comma"):
        run = run[:-1]
    return run


def prepared(text):
    """Brackets where a logarithm or a determinant is written without."""
    text = re.sub(r" \(\d+(?:\.\d+)?\)", "", text)  # equations
    text = re.sub(r"={2,}", "", text)  # tables
    text = re.sub(r"``.*?``", without_code, text)
    text = re.sub(r"11ᵀ", "𝕝𝕝ᵀ", text)
    text = re.sub(r"\b1(?=[φt]\u0304)|(?<=[bK])1(?=[ )])", "𝕝", text)
    text = re.sub(r"ln ?\|([^|]+)\|", r"lndet(\1)", text)
    text = re.sub(
        r"ln (\w+\([^()]*\)|\w+_\{[^}]*\}|[^\s(){|,.:]+)", r"ln(\1)", text
    )
    text = re.sub(r"/ (Σ_\w [^\s,]+)", r"/ (\1)", text)
    text = re.sub(r"(``)?\|([^|]*∩[^|]*)\|(``)?", r"size(\2)", text)
    text = text.replace("[1 X]", "(𝕝, X)").replace(" 1[", " 𝟙[")
    return PRODUCTS.sub(apart, text)


def without_code(found):
    return ";" if "=" in found[0] else found[0]


def apart(found):
    return " ".join(found[0])


def translated(run):
    """LaTeX of a run."""
    made, bars, place = [], 0, 0
    while place < len(run):
        kind, text = run[place]
        kinds = [kind for kind, _ in run[place:]]
        place += 1
        if run[place - 1 : place + 1] == [("letter", "E"), ("open", "[")]:
            made.append(r"\mathbb E ")
            continue
        if kind == "root" and kinds[1] in ("letter", "number"):
            end = place + (2 if kinds[2:3] == ["sub"] else 1)
            if kinds[2:3] != ["open"]:  # √λ_1, but √k(x, x) is of all of it
                made.append(rf"\sqrt{{{translated(run[place:end])}}}")
                place = end
                continue
        if kind == "bars":
            bars += 1
        made.append(piece(kind, text, bars))
    return "".join(made).strip()


def piece(kind, text, bars):
    """LaTeX of a token."""
    match kind:
        case "sum":
            return r"\sum" if text == "Σ" else r"\prod"
        case "sub":
            return f"_{{{indices(text)}}}"
        case "sup":
            return f"^{{{raised(text)}}}"
        case "letter":
            return letter(text)
        case "word":
            return word(text)
        case "root":
            return r"\mathrm{sqrt} "
        case "bars":
            return r"\lVert " if bars % 2 else r"\rVert "
    return TABLE.get(text, text)


def raised(text):
    if text in ("ᵀ", "⁻ᵀ"):
        return {"ᵀ": r"\top", "⁻ᵀ": r"-\top"}[text]
    inner = text.translate(RAISED).strip("^").strip("(){}")
    sign, name = re.fullmatch(r"(-?)(.*)", inner).groups()
    if name.isalpha() and len(name) > 1:
        return sign + word(name)
    return translated(tokens(inner))


def tokens(text):
    return [(found.lastgroup, found[0]) for found in TOKEN.finditer(text)]


def letter(text):
    if text[0] == "∂":
        return rf"\dot{{{letter(text[1:])}}}"
    base, mark, primes = re.fullmatch(
        r"(.)([\u0302-\u0304]?)('*)", text
    ).groups()
    base = r"\mathbf I" if base == "I" else TABLE.get(base, base)
    return (rf"\{MARKS[mark]}{{{base}}}" if mark else base) + primes


def word(text):
    if text == "tr":
        return rf"\operatorname{{{text}}} "
    if text == "argmax":
        return r"\arg\max "
    if text in FUNCTIONS:
        return rf"\{text} "
    name = NAMED.get(text, text)
    greek = name in LETTERS.values() or name == "lambda"
    return rf"\{name} " if greek else rf"\mathrm{{{text}}} "


def indices(text):
    """Σ_nm is over n and m, Σ_{t_n = k} under a condition."""
    inner = text.removeprefix("_").strip("{}").translate(LOWERED)
    if not inner.isalnum() and set(inner) & set("=<>≠∈"):
        return translated(tokens(inner))
    parts = inner.split(",") if "," in inner else list(inner)
    short = inner.isalnum() and len(inner) < 3
    if inner in LETTERS or not short:
        return TABLE.get(inner, inner)
    return ",".join(TABLE.get(part, part) for part in parts)


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


@cache
def documented():
    """The same and, besides, modules and what classes have of their own.

    That are methods, and fields with a string below them.
    """
    found = {}
    for module in [*modules(), estimators]:
        short = module.__name__.partition(".")[2]
        found[short] = module.__doc__, set()
        for kind in filter(inspect.isclass, public(module).values()):
            name, words = f"{short}.{kind.__name__}", fields(kind)
            found[name] = inspect.getdoc(kind), words
            for own, thing in vars(kind).items():
                said = inspect.isfunction(thing) or hasattr(thing, "fget")
                if said and thing.__doc__ and re.match("__call|[^_]", own):
                    text = inspect.cleandoc(thing.__doc__)
                    found[f"{name}.{own}"] = text, words
            for field, text in told(kind):
                found[f"{name}.{field}"] = text, words
    return docstrings() | found


def told(kind):
    """The strings below fields, which Python itself forgets."""
    (tree,) = ast.parse(inspect.getsource(kind)).body
    for field, below in pairwise(tree.body):
        match field, below:
            case ast.AnnAssign(), ast.Expr(ast.Constant(value=str(text))):
                yield field.target.id, text


def fields(kind):
    built_in = issubclass(kind, Warning)
    return set() if built_in else {*inspect.signature(kind).parameters}


def formulas(docstring, words):
    """The LaTeX of what a docstring states."""
    return [translated(run) for run in statements(docstring, words)]


def written(run):
    """A statement as it is written, but for spaces."""
    return " ".join("".join(text for _, text in run).split())
