"""`--json` of every command: one line of ASCII that follows the published schema, with the numbers of the Python call."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

import click
import jsonschema
import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner, Result

import baytree as bt
from baytree.cli.console import FOUND, Interrupted
from baytree.cli.json_output import to_json
from baytree.cli.json_records import schemas
from baytree.cli.main import main

SCHEMAS = Path(__file__).parents[2] / "docs" / "schemas"
COMMANDS = ("audit", "compare", "datasets", "diff", "drift", "evaluate", "explain", "predict", "rank", "show")


def run(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


def checked(command: str, *words: object, code: int = 0) -> list:
    """Each line of a command's output, checked against its published schema."""
    result = run(command, *words, "--json")
    assert result.exit_code == code, result.output
    assert result.stdout.isascii()
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    schema = json.loads((SCHEMAS / f"{command}.json").read_text())
    for line in lines:
        jsonschema.Draft202012Validator(schema).validate(line)
    return lines


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("json")
    for model in ("nb", "cart", "c45", "logistic-fixed", "lda", "c50", "mars", "nbtree", "additive"):
        made = run("fit", "titanic", "-t", "survived", "-m", model, "-o", path / f"{model}.baytree")
        assert made.exit_code == 0, made.output
    for model in ("linear", "cart", "mars"):
        assert (
            run("fit", "penguins", "-t", "body_mass_g", "-m", model, "-o", path / f"{model}-number.baytree").exit_code == 0
        )
    return path


def test_the_published_schemas_are_those_of_the_records():
    assert {path.stem for path in SCHEMAS.glob("*.json")} == {*COMMANDS}
    for name, schema in schemas().items():
        assert json.loads((SCHEMAS / f"{name}.json").read_text()) == schema, "run python website/schemas.py"
        jsonschema.Draft202012Validator.check_schema(schema)


def test_the_commands_that_print_a_result_have_json_and_a_schema():
    with_json = {name for name, each in main.commands.items() if any("--json" in option.opts for option in each.params)}
    assert with_json == {*COMMANDS}


def test_show_prints_columns_and_the_summary(folder):
    for path in folder.glob("*.baytree"):
        (shown,) = checked("show", path)
        assert shown["summary"] is not None
    (shown,) = checked("show", folder / "nb.baytree", "--schema")
    assert shown["classes"] == ["no", "yes"]
    assert [each["name"] for each in shown["columns"]] == ["class", "sex", "age"]
    assert shown["summary"] is None


def test_evaluate_prints_the_scores_of_python(folder):
    (found,) = checked("evaluate", folder / "nb.baytree", "titanic", "--curve", "yes")
    expected = bt.evaluate(bt.load(folder / "nb.baytree"), bt.datasets.load("titanic"))
    assert found["scores"] == expected.scores
    assert found["confusion"] == expected.confusion.tolist()
    assert found["decision_curve"]["label"] == "yes"
    (found,) = checked("evaluate", folder / "linear-number.baytree", "penguins")
    assert found["confusion"] is None
    assert found["classes"] == []


def test_predict_prints_a_line_for_each_row(folder, tmp_path):
    model, rows = bt.load(folder / "nb.baytree"), bt.datasets.load("titanic")
    lines = checked("predict", folder / "nb.baytree", "titanic", "--proba", "--explain", 2, "--reject", 0.8, "--keep", "sex")
    probability = model.predict_proba(rows)
    assert [list(line["probability"].values()) for line in lines] == probability.tolist()
    answered = probability.max(axis=1) >= 0.8
    assert [line["prediction"] is not None for line in lines] == answered.tolist()
    assert [line["rejected"] is None for line in lines] == answered.tolist()
    assert [line["keep"]["sex"] for line in lines] == rows["sex"].tolist()
    assert all(len(line["reasons"]) == 2 for line in lines)
    assert run("predict", folder / "nb.baytree", "titanic", "--json", "-o", tmp_path / "a.ndjson").exit_code == 0
    written = [json.loads(line) for line in (tmp_path / "a.ndjson").read_text().splitlines()]
    assert [line["prediction"] for line in written] == model.predict(rows).tolist()
    numbers = checked("predict", folder / "cart-number.baytree", "penguins")
    assert {type(line["prediction"]) for line in numbers} == {float}


def test_explain_prints_effects_that_add_up(folder):
    for name in ("nb", "cart", "c45", "logistic-fixed", "linear-number"):
        (found,) = checked("explain", folder / f"{name}.baytree", "penguins" if "number" in name else "titanic", "--row", 3)
        (row,) = found["rows"]
        assert row["row"] == 3
        sums = np.sum([row["start"], *(line["effect"] for line in row["evidence"])], axis=0)
        assert np.allclose(sums, row["scores"])


def test_rank_prints_every_column_best_first():
    (found,) = checked("rank", "titanic", "-t", "survived", "--by", "chi2")
    assert [each["column"] for each in found["columns"]] == bt.rank_features(
        bt.datasets.load("titanic"), "survived", "chi2"
    ).columns
    (found,) = checked("rank", "titanic", "-t", "survived")
    assert {each["p"] for each in found["columns"]} == {None}


def test_compare_prints_its_results_and_nothing_else(tmp_path):
    call = ("play-tennis", "-t", "PlayTennis", "-m", "majority,nb", "--cv", 3, "-o", tmp_path / "out")
    (found,) = checked("compare", *call)
    assert found == json.loads((tmp_path / "out" / "results.json").read_text())
    (found,) = checked("compare", "penguins", "-t", "body_mass_g", "-m", "mean,linear", "--cv", 3, "--no-save")
    assert found["metric"] == "squared error"


def test_audit_and_drift_exit_with_3_only_with_fail(folder, tmp_path):
    titanic = bt.datasets.load("titanic", as_="polars")
    titanic.filter(pl.col("sex") == "female").write_csv(tmp_path / "women.csv")
    (found,) = checked("drift", folder / "nb.baytree", tmp_path / "women.csv")
    assert "sex" in found["alarms"]
    checked("drift", folder / "nb.baytree", tmp_path / "women.csv", "--fail", code=3)
    checked("drift", folder / "nb.baytree", "titanic", "--fail")
    titanic.with_columns(copy=pl.col("survived")).write_csv(tmp_path / "leak.csv")
    (found,) = checked("audit", tmp_path / "leak.csv", "-t", "survived")
    assert found["findings"][0]["kind"] == "leak"
    checked("audit", tmp_path / "leak.csv", "-t", "survived", "--fail", code=3)


def test_diff_prints_the_differences(folder):
    for old, new in (("nb", "nb"), ("c45", "cart"), ("linear-number", "cart-number")):
        rows = "penguins" if "number" in old else "titanic"
        (found,) = checked("diff", folder / f"{old}.baytree", folder / f"{new}.baytree", rows)
        assert found["is_empty"] == (old == new)


def test_datasets_prints_one_or_all():
    (found,) = checked("datasets")
    assert [each["name"] for each in found["tables"]] == list(bt.datasets.names())
    (found,) = checked("datasets", "iris")
    assert found["tables"][0]["rows"] == 150


def test_hostile_names_stay_json_and_do_not_reach_the_terminal(tmp_path):
    rows = {"x\x9b2J\u202e\x7f": [1.0, 2.0, 3.0, 4.0] * 5, "y": ["a", "b\x85"] * 10}
    pl.DataFrame(rows).write_csv(tmp_path / "t.csv")
    (found,) = checked("rank", tmp_path / "t.csv", "-t", "y")
    assert found["columns"][0]["column"] == "x\x9b2J\u202e\x7f"
    assert "\x7f" not in to_json(found)


def test_the_guide_lists_every_exit_code_and_every_command_with_json():
    guide = (SCHEMAS.parent / "guide" / "programs.md").read_text()
    codes = [int(cell) for cell in re.findall(r"^\| (\d+) \|", guide, flags=re.MULTILINE)]
    errors = (click.ClickException.exit_code, click.UsageError.exit_code)
    assert codes == [0, *errors, FOUND, Interrupted.exit_code, 128 + signal.SIGTERM]
    assert re.findall(r"^\| `(\w+)` \|.*\(\.\./schemas/\1\.json\) \|$", guide, flags=re.MULTILINE) == [*COMMANDS]
