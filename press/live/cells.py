"""Run a cell in the browser as a notebook would, and say what it showed.

The outputs have the form of the record in ``tests/expected``: a list of
``{kind: text}``, where the kind is a stream or a MIME type.
"""

import ast
import base64
import io
import os
import sys
import time
import traceback

os.environ["MPLBACKEND"] = "agg"
LONGEST = 200_000  # characters that a cell may print
LARGEST = 4_000_000  # characters of a drawing; a larger one is shown as dots
WORDS: dict[str, str] = {}  # what it says, in the language of the page
OFTEN = 0.3  # seconds between two looks at what was printed
names = {"__name__": "__main__"}


class Printed(io.TextIOBase):
    """A stream that hands on what was printed, now and then, up to a bound."""

    def __init__(self, kind, show):
        self.kind, self.show = kind, show
        self.parts, self.length, self.shown = [], 0, time.monotonic()

    def write(self, text):
        room = LONGEST - self.length
        if room > 0:
            self.parts.append(text[:room])
            self.length += len(text)
            if len(text) >= room:
                self.parts.append(f"\n{WORDS['more']}\n")
        # Whole lines, else what two streams print would be mixed up.
        if text.endswith("\n") and time.monotonic() - self.shown > OFTEN:
            self.hand_on()
        return len(text)

    def hand_on(self):
        if self.parts:
            self.show({self.kind: "".join(self.parts)})
        self.parts, self.shown = [], time.monotonic()


def bundle(value):
    """What a notebook would show of the last value of a cell."""
    if hasattr(value, "_repr_mimebundle_"):
        return value._repr_mimebundle_()
    text = repr(value)
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}\n{WORDS['more']}"
    return {"text/plain": text}


def figures():
    """Figures that the cell has drawn, as SVG, and closed."""
    plt = sys.modules.get("matplotlib.pyplot")
    for number in plt.get_fignums() if plt else ():
        fig, file = plt.figure(number), io.BytesIO()
        tight = {"bbox_inches": "tight"}
        fig.savefig(file, format="svg", metadata={"Date": None}, **tight)
        if file.tell() < LARGEST:
            shown = {"image/svg+xml": file.getvalue().decode()}
        else:
            file = io.BytesIO()
            fig.savefig(file, format="png", dpi=150, **tight)
            shown = {"image/png": base64.b64encode(file.getvalue()).decode()}
        yield shown | {"text/plain": repr(fig)}
        plt.close(fig)


def run(source, show):
    """Run one cell; ``show`` gets its outputs.  Gives the error, or None."""
    streams = Printed("stdout", show), Printed("stderr", show)
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = streams
    error = None
    try:
        body = ast.parse(source, "<cell>").body
        last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
        exec(compile(ast.Module(body, []), "<cell>", "exec"), names)
        if last is not None:
            code = compile(ast.Expression(last.value), "<cell>", "eval")
            value = eval(code, names)
            if value is not None and not source.rstrip().endswith(";"):
                streams[0].hand_on()
                show(bundle(value))
        for stream in streams:
            stream.hand_on()
        for figure in figures():
            show(figure)
    except BaseException as problem:  # also KeyboardInterrupt: it is told
        error = describe(problem, source)
    finally:
        for stream in streams:
            stream.hand_on()
        sys.stdout, sys.stderr = before
        if error and "matplotlib.pyplot" in sys.modules:
            sys.modules["matplotlib.pyplot"].close("all")
    return error


def describe(problem, source):
    """Name, words and place of an error, without the frames of this file."""
    lines = source.splitlines()
    places = [
        WORDS["line"].format(number, lines[number - 1].strip())
        for frame, number in traceback.walk_tb(problem.__traceback__)
        if frame.f_code.co_filename == "<cell>" and number <= len(lines)
    ]
    if isinstance(problem, SyntaxError):
        text = (problem.text or "").strip()
        places = [WORDS["line"].format(problem.lineno, text)]
    name = type(problem).__name__
    return {
        "name": name,
        "words": str(problem).strip() or WORDS.get(name, ""),
        "place": "\n".join([*places[:3], *places[3:][-2:]]),
    }


def look(name):
    """What a name of the notation table is now, in one line, or nothing."""
    try:
        tree = ast.parse(name, mode="eval")
        if any(isinstance(node, ast.Call) for node in ast.walk(tree)):
            return ""  # what it costs, nobody knows
        value = eval(compile(tree, "<name>", "eval"), names)
    except Exception:  # not assigned yet, or a form such as X[n]
        return ""
    shape = getattr(value, "shape", None)
    if shape:
        return WORDS["shape"].format(name, shape)
    if isinstance(value, (int, float)) or shape == ():
        return f"{name} = {value:.6g}"
    return ""
