"""Reading the ledger, and the pages it points to.

``chapters/ledger.yml`` says of every equation, claim and erratum of the five
sources where it lives in this book.  It is read entry by entry, so that one
malformed entry is reported, with its line, and the others are still read.
"""

import ast
import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from docutils.nodes import make_id

ROOT = Path(__file__).parent.parent
CHAPTERS = ROOT / "chapters"
LEDGER = CHAPTERS / "ledger.yml"
CHECKS = (
    "identity",
    "monte-carlo",
    "finite-difference",
    "oracle",
    "count",
    "figure",
    "prose",
)
CHINESE = re.compile("[\u4e00-\u9fff]")
KINDS = ("wrong", "misprint", "condition", "notation", "typography")

# The fields an entry must have, and those it may have.
CLAIM = ({"title", "source", "home", "check"}, {"function"})
REPEAT = ({"source", "same"}, set())
ERRATUM = (
    {"kind", "source", "quote", "right", "home", "check"},
    {"function", "result", "english"},
)


@dataclass(frozen=True)
class Problem:
    """What is wrong with an entry, and where to mend it."""

    line: int
    id: str
    reason: str

    def __str__(self):
        where = LEDGER.relative_to(ROOT)
        return f"{where}:{self.line}: {self.id}: {self.reason}"


@dataclass(frozen=True)
class Entry:
    """One id with its fields; a repeat has the home of what it repeats."""

    id: str
    line: int
    fields: dict[str, str]

    def __getattr__(self, name):
        """Give a field, or an empty string."""
        if name.startswith("_"):
            raise AttributeError(name)
        return self.fields.get(name, "")

    @property
    def is_erratum(self):
        return self.id.startswith("E")

    @property
    def page(self):
        return self.home.partition("#")[0]

    @property
    def anchor(self):
        return self.home.partition("#")[2]


def read(text=None):
    """The entries of the ledger, and what is wrong with the others."""
    if text is None:
        text = LEDGER.read_text("utf-8")
    entries, problems = {}, []
    for line, block in blocks(text):
        name = block.partition(":")[0].strip()
        try:
            fields = read_block(block)
            check_fields(name, fields)
        except yaml.MarkedYAMLError as error:
            mark = error.context_mark or error.problem_mark
            reason = f"no YAML: {error.problem}"
            problems.append(Problem(line + mark.line, name, reason))
        except ValueError as error:
            problems.append(Problem(line, name, str(error)))
        else:
            if name in entries:
                first = entries[name].line
                reason = f"doubled, it is also on line {first}"
                problems.append(Problem(line, name, reason))
            else:
                entries[name] = Entry(name, line, fields)
    for entry in entries.values():
        if entry.same and (
            entry.same not in entries or entries[entry.same].same
        ):
            reason = f"same: {entry.same} is no entry with a home of its own"
            problems.append(Problem(entry.line, entry.id, reason))
    return entries, problems


def blocks(text):
    """Each entry's text with the number of its first line."""
    starts = list(re.finditer(r"^(?![\s#])", text, re.M))
    ends = [match.start() for match in starts[1:]] + [len(text)]
    for match, end in zip(starts, ends, strict=True):
        if match.start() < end:
            block = text[match.start() : end]
            yield text.count("\n", 0, match.start()) + 1, block


def read_block(block):
    """The fields of one entry, as written."""
    node = yaml.compose(block)
    if not isinstance(node, yaml.MappingNode) or len(node.value) != 1:
        raise ValueError("expected an id and its fields")
    ((_, body),) = node.value
    if not isinstance(body, yaml.MappingNode):
        raise ValueError("expected fields below the id")
    fields = {}
    for key, value in body.value:
        if not isinstance(value, yaml.ScalarNode) or not value.value.strip():
            raise ValueError(f"{key.value} must be a piece of text")
        if key.value in fields:
            raise ValueError(f"{key.value} is given twice")
        fields[key.value] = value.value
    return fields


def check_fields(name, fields):
    """Raise ValueError unless the fields are those of such an entry."""
    must, may = CLAIM
    if name.startswith("E"):
        must, may = ERRATUM
    elif "same" in fields:
        must, may = REPEAT
    if missing := sorted(must - set(fields)):
        raise ValueError(f"without {', '.join(missing)}")
    if unknown := sorted(set(fields) - must - may):
        raise ValueError(f"unknown field {', '.join(unknown)}")
    for key, allowed in [("check", CHECKS), ("kind", KINDS)]:
        if key in fields and fields[key] not in allowed:
            raise ValueError(
                f"{key} must be one of {', '.join(allowed)}, got {fields[key]}"
            )
    if "home" in fields and not re.fullmatch(r"\w+#[\w-]+", fields["home"]):
        raise ValueError(f"home must be page#anchor, got {fields['home']}")
    if fields.get("check") not in (None, "prose") and (
        name.startswith("E") and "result" not in fields
    ):
        raise ValueError("without result")
    if CHINESE.search(fields.get("quote", "")) and "english" not in fields:
        raise ValueError("without english: the quote is Chinese")


def with_repeats(entries):
    """Each entry with a home, and the repeats that share it."""
    repeats = defaultdict(list)
    for entry in entries.values():
        if entry.same:
            repeats[entry.same].append(entry)
    return [
        (entry, repeats[entry.id])
        for entry in entries.values()
        if not entry.same
    ]


@dataclass
class Place:
    """Somewhere in a page one can point to, and the code cells there."""

    title: str
    line: int
    sort: str  # section, equation, theorem, figure or exercise
    cells: list[str] = field(default_factory=list)
    section: str = ""
    latex: str = ""
    source: str = ""  # the small line below an equation
    explicit: bool = False


def page_path(page):
    """The file of a page: of a chapter by its number, of others by name."""
    found = sorted(CHAPTERS.glob(f"{page}_*.md")) if page.isdigit() else []
    return found[0] if found else CHAPTERS / f"{page}.md"


FENCE = re.compile(r"(`{3,})(?:\{([\w:-]+)\})?(.*)")
SORTS = {"math": "equation", "exercise-start": "exercise"}


def places(text):
    """The places of a page, by the anchor that leads to them."""
    found, sections, names, solution = {}, [], [], None
    lines = text.splitlines()
    checks = defaultdict(list)
    i = 0
    while i < len(lines):
        line, i = lines[i], i + 1
        if heading := re.match(r"(#+) (.*)", line):
            level, title = len(heading[1]), heading[2]
            sections = [s for s in sections if s[0] < level]
            place = Place(title, i, "section", explicit=bool(names))
            for name in [*names, make_id(title)]:
                found.setdefault(name, place)
            sections.append((level, place))
            names = []
        elif target := re.fullmatch(r"\(([\w-]+)\)=", line):
            names.append(target[1])
        elif fence := FENCE.match(line):
            start = i
            while i < len(lines) and lines[i] != fence[1]:
                i += 1
            body, i = lines[start:i], i + 1
            inside = [place for _, place in sections]
            if fence[2] == "code-cell":
                source, about = split_cell(body)
                if solution in found:
                    inside.append(found[solution])
                if figure := re.search(r"^ +name: (\S+)", about, re.M):
                    place = Place(figure[1], start, "figure")
                    found[figure[1]] = place
                    inside.append(place)
                for tag in re.findall(r"check-([\w-]+)", about):
                    checks[tag].append(source)
                for place in inside:
                    place.cells.append(source)
            elif fence[2] == "solution-start":
                solution = fence[3].strip()
            elif fence[2] == "solution-end":
                solution = None
            elif label := re.match(r":label: (\S+)", "\n".join(body)):
                found[label[1]] = Place(
                    fence[3].strip() or label[1],
                    start,
                    SORTS.get(fence[2], "theorem"),
                    section=inside[-1].title if inside else "",
                    latex="\n".join(body[1:]),
                    source=source_line(lines[i : i + 4]),
                )
    for label, cells in checks.items():
        if label in found:
            found[label].cells.extend(cells)
    return found


def split_cell(body):
    """A code cell's source, and the lines about it."""
    if body and body[0] == "---":
        end = body.index("---", 1)
        return "\n".join(body[end + 1 :]), "\n".join(body[1:end])
    about = [line for line in body if line.startswith(":")]
    return "\n".join(body[len(about) :]), "\n".join(about)


def source_line(lines):
    """The small italic line that says where an equation comes from."""
    text = " ".join(" ".join(lines).split())
    match = re.match(r"\*(?!\*)(.+?)\*(?:\s|$)", text)
    return match[1] if match else ""


def calls(source):
    """The functions a cell calls: ``ridge.predict``, or just ``predict``."""
    named = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if re.fullmatch(r"[\w.]+", name):
                named.add(".".join(name.split(".")[-2:]))
    return named


def asserts(source):
    """Whether a cell asserts anything."""
    tree = list(ast.walk(ast.parse(source)))
    return any(isinstance(node, ast.Assert) for node in tree) or any(
        name.rpartition(".")[2].startswith("assert_") for name in calls(source)
    )
