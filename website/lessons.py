"""Lessons are Markdown whose ```pycon blocks run from top to bottom: they are tested, and made into notebooks.

python website/lessons.py docs/course/*.md      # writes what each example prints into the lesson, and its notebook beside it
"""

from __future__ import annotations

import contextlib
import doctest
import io
import json
import os
import re
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

BLOCK = re.compile(r"^```pycon\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
FOLDER = 'from pathlib import Path\n\nPath("images").mkdir(exist_ok=True)  # for the pictures below'
PICTURES = {"backend": "Agg", "svg.fonttype": "none", "svg.hashsalt": "baytree"}  # small files, the same each time


def failures(text: str, name: str) -> str:
    """What the examples of a lesson print otherwise than it says; empty where all is as it says."""
    told, blocks = io.StringIO(), "\n".join(BLOCK.findall(text))
    test = doctest.DocTestParser().get_doctest(blocks, {}, name, name, 0)
    with _pictures():
        doctest.DocTestRunner(optionflags=FLAGS).run(test, out=told.write)
    return told.getvalue()


def answered(text: str) -> str:
    """The lesson with what each example prints."""
    names: dict = {}
    with _pictures():
        return BLOCK.sub(lambda block: "```pycon\n" + "".join(_answered(block[1], names)) + "```", text)


def notebook(text: str) -> str:
    """The lesson as a Jupyter notebook: words and code in cells, with the output that the lesson shows."""
    cells, end = [_code(FOLDER, "")], 0
    for block in BLOCK.finditer(text):
        cells += _words(text[end : block.start()])
        cells += [_code(example.source, example.want) for example in doctest.DocTestParser().get_examples(block[1])]
        end = block.end()
    cells += _words(text[end:])
    numbered = [{"id": f"cell-{number}", **cell} for number, cell in enumerate(cells)]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    about = {"kernelspec": kernel, "language_info": {"name": "python"}}
    whole = {"cells": numbered, "metadata": about, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def script_of(written: str) -> str:
    """The code of a notebook as one program."""
    cells = json.loads(written)["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


def _answered(block: str, names: dict) -> Iterator[str]:
    for part in doctest.DocTestParser().parse(block):
        if isinstance(part, str):
            yield part
            continue
        lines = part.source.splitlines()
        yield "".join(f"{'>>>' if not number else '...'} {line}".rstrip() + "\n" for number, line in enumerate(lines))
        printed = _printed(part.source, names)
        yield re.sub(r"^\s*$", "<BLANKLINE>", printed.rstrip("\n"), flags=re.MULTILINE) + "\n" if printed else ""


def _printed(source: str, names: dict) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as told:
        try:
            exec(compile(source, "<lesson>", "single"), names)
        except Exception:
            lines = traceback.format_exc().splitlines()
            return f"{lines[0]}\n    ...\n{lines[-1]}\n"
    return told.getvalue()


@contextlib.contextmanager
def _pictures() -> Iterator[None]:
    import matplotlib as mpl

    os.makedirs("images", exist_ok=True)
    with mpl.rc_context(PICTURES):
        yield


def _words(text: str) -> list[dict]:
    return [{"cell_type": "markdown", "metadata": {}, "source": text.strip()}] if text.strip() else []


def _code(source: str, printed: str) -> dict:
    text = printed.replace("<BLANKLINE>", "")
    shown = [{"name": "stdout", "output_type": "stream", "text": text}] if text else []
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": shown, "source": source.rstrip("\n")}


if __name__ == "__main__":
    for path in map(Path.absolute, map(Path, sys.argv[1:])):
        os.chdir(path.parent)
        path.write_text(answered(path.read_text()))
        path.with_suffix(".ipynb").write_text(notebook(path.read_text()))
