"""A formula is a value: closed, plain, and the same after a journey through JSON."""

import json
from pathlib import Path

import msgspec
import pytest

from baytree import storage
from baytree.exporters import formula_of
from baytree.formula import expressions, from_json, to_json
from baytree.formula.builder import parts, width, widths
from baytree.naive_bayes.model import NaiveBayes

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.baytree"))
RECORDS = {
    value for value in vars(expressions).values() if isinstance(value, type) and issubclass(value, expressions.Record)
}


def formula(path):
    return formula_of(storage.read_predictor(path))


def of_all(record):
    yield record
    for part in parts(record):
        yield from of_all(part)


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_a_formula_comes_back_from_json(path):
    content = to_json(formula(path))
    assert json.loads(content)["target"] == formula(path).target
    assert from_json(content) == formula(path)


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_answers_are_as_many_as_classes_and_the_choice_is_one_place(path):
    found = formula(path)
    assert width(found.answers, widths(found)) == len(found.classes or (1,))
    assert (found.choice is None) == (found.classes is None)
    assert found.choice is None or width(found.choice, widths(found)) == 1


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_a_step_reads_only_what_stands_before_it(path):
    for k, step in enumerate(formula(path).steps):
        assert all(part.step < k for part in of_all(step.value) if isinstance(part, expressions.Named))


def test_every_expression_is_in_the_closed_set_under_a_tag_of_its_own():
    known = {*expressions.Expression.__args__, *expressions.Condition.__args__, expressions.Record}
    assert known == RECORDS
    tags = [record.__struct_config__.tag for record in RECORDS - {expressions.Record}]
    assert len(set(tags)) == len(tags)
    assert "log_density" in tags


def test_what_a_file_could_invent_is_no_expression():
    content = to_json(formula(GOLDEN[0])).replace(b'"spread"', b'"system"')
    with pytest.raises(msgspec.ValidationError, match="system"):
        from_json(content)


def test_every_event_of_naive_bayes_has_a_formula():
    (union,) = (
        field.type.item_type for field in msgspec.inspect.type_info(NaiveBayes).fields if field.name == "likelihoods"
    )
    assert len(union.types) > 10
    assert all("formula" in vars(kind.cls) for kind in union.types)
