"""The lessons of the course: what they say is what happens, and their notebooks run."""

import doctest
import json
import re
from pathlib import Path

import pytest

import lessons
from as_delivered import result_of

COURSE = Path(__file__).parents[2] / "docs" / "course"
LESSONS = sorted(COURSE.glob("[0-9]*.md"))


def test_there_are_eight_lessons_and_the_course_lists_them():
    assert [int(path.name[0]) for path in LESSONS] == list(range(1, 9))
    assert re.findall(r"\]\((\d[^)]+)\)", (COURSE / "index.md").read_text()) == [path.name for path in LESSONS]


@pytest.mark.slow
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_what_a_lesson_shows_is_what_happens_where_only_baytree_all_is_installed(lesson, tmp_path):
    pytest.importorskip("matplotlib")
    run = result_of(lesson, tmp_path)
    assert run.returncode == 0, (run.stdout + run.stderr)[-2000:]
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", lesson.read_text())
    assert pictures
    assert all((tmp_path / picture).exists() for picture in pictures), "the code of the lesson draws its pictures"


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_has_exercises_and_each_has_an_answer(lesson):
    exercises = lesson.read_text().split("## Exercises")[1]
    assert len(re.findall(r"^\*\*\d\.\*\*", exercises, re.MULTILINE)) == exercises.count("<summary>Answer</summary>") >= 2


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_the_program_of_a_notebook_is_the_code_that_its_lesson_runs(lesson):
    examples = doctest.DocTestParser().get_examples("\n".join(lessons.BLOCK.findall(lesson.read_text())))
    code = [example.source.rstrip("\n") for example in examples]
    assert lessons.script_of(lessons.notebook(lesson.read_text())) == "\n".join([lessons.FOLDER, *code])
    assert not any(example.exc_msg for example in examples), "a notebook would stop there"


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_the_notebook_beside_a_lesson_is_the_lesson(lesson):
    remedy = f"run python website/lessons.py {lesson.name}"
    assert lesson.with_suffix(".ipynb").read_text() == lessons.notebook(lesson.read_text()), remedy


@pytest.mark.slow
def test_the_notebook_of_the_first_lesson_runs(tmp_path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    program = lessons.script_of(lessons.notebook(LESSONS[0].read_text()))
    exec(compile(program, LESSONS[0].stem, "exec"), {})


def test_a_notebook_holds_the_words_the_code_and_the_output():
    cells = json.loads(lessons.notebook("# A\n\n```pycon\n>>> 1 + 1\n2\n>>> x = 3\n```\n\nB\n"))["cells"]
    assert [cell["cell_type"] for cell in cells] == ["code", "markdown", "code", "code", "markdown"]
    assert cells[2]["source"] == "1 + 1"
    assert cells[2]["outputs"][0]["text"] == "2\n"
    assert cells[3]["outputs"] == []


def test_a_lesson_that_tells_something_else_is_found(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    assert "Expected" in lessons.failures("```pycon\n>>> 1 + 1\n3\n```\n", "wrong")
    assert lessons.answered("```pycon\n>>> 1 + 1\n3\n```\n") == "```pycon\n>>> 1 + 1\n2\n```\n"
