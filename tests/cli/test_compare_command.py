"""The choosing commands: what they print at eighty columns, what they save, and what they say when a call is wrong."""

from __future__ import annotations

import json
import os
import pty
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import baytree as bt
from baytree.cli import output as terminal_output
from baytree.data.schema import Column, Kind, Schema, Target
from baytree.model_selection import model_registry
from shared_tables import bands


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(*words: str, **options):
    from click.testing import CliRunner

    from baytree.cli.main import main

    return CliRunner().invoke(main, list(words), **options)


def test_the_command_prints_schema_leaderboard_and_model_and_saves_them(tmp_path):
    table = tmp_path / "rows.csv"
    bands().to_csv(table, index=False)
    done = run("compare", str(table), "--target", "label", "--models", "majority,nb", "-o", str(tmp_path / "out"))
    assert done.exit_code == 0, done.output
    for words in ("numeric", "accuracy", "Recommended: ", "naive Bayes for label"):
        assert words in done.output
    assert max(len(line) for line in done.output.splitlines() if not line.startswith(("saved", "  baytree fit"))) <= 80
    assert {file.name for file in (tmp_path / "out" / "models").iterdir()} == {"majority.baytree", "nb.baytree"}
    assert bt.load(tmp_path / "out" / "model.baytree").predict({"x": [9.0], "noise": [0.0]}).tolist() == ["high"]
    assert json.loads((tmp_path / "out" / "results.json").read_text())["recommended"] == "nb"


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["--target", "lable"], "did you mean 'label'"),
        (["--target", "label", "--models", "forest"], "no model 'forest'"),
        (["--target", "label", "--cv", "1"], "--cv"),
    ],
)
def test_a_wrong_call_is_answered_with_a_sentence(tmp_path, words, answer):
    bands(20).to_csv(tmp_path / "rows.csv", index=False)
    done = run("compare", str(tmp_path / "rows.csv"), *words)
    assert done.exit_code == 2
    assert answer in done.output


def test_the_rank_command_prints_and_writes_the_ranking(tmp_path):
    bands().to_csv(tmp_path / "rows.csv", index=False)
    done = run("rank", str(tmp_path / "rows.csv"), "-t", "label", "--by", "anova", "-o", str(tmp_path / "rank.csv"))
    assert done.exit_code == 0, done.output
    assert list(pd.read_csv(tmp_path / "rank.csv")["column"]) == ["x", "noise"]
    assert run("rank", str(tmp_path / "rows.csv"), "-t", "label", "--by", "luck").exit_code == 2


def test_results_are_saved_beside_unless_that_is_not_wanted(tmp_path):
    bands().to_csv(tmp_path / "my rows.csv", index=False)
    assert run("compare", "my rows.csv", "-t", "label", "-m", "nb", "--no-save").exit_code == 0
    assert not (tmp_path / "my-rows-compared").exists()
    done = run("compare", "my rows.csv", "-t", "label", "-m", "nb")
    assert json.loads((tmp_path / "my-rows-compared" / "results.json").read_text())["recommended"] == "nb"
    assert "saved in my-rows-compared: model.baytree" in done.output


def test_not_being_able_to_save_what_nobody_asked_for_is_only_a_note(tmp_path):
    bands().to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "rows-compared").write_text("in the way")
    done = run("compare", "rows.csv", "-t", "label", "-m", "nb")
    assert done.exit_code == 0
    assert "not saved: rows-compared" in done.output
    assert run("compare", "rows.csv", "-t", "label", "-m", "nb", "-o", "rows-compared/deep").exit_code == 1


def test_the_command_that_is_printed_learns_the_recommended_model_from_the_table_as_it_was_read(tmp_path):
    rng = np.random.default_rng(0)
    frame = bands().assign(code=rng.integers(0, 3, 120), size=rng.choice(["S", "M", "L"], 120), gone=1.5)
    frame.to_csv(tmp_path / "my rows.csv", index=False)
    reading = ("--nominal", "code", "--ordinal", "size=S<M<L", "--drop", "gone", "--drop", "noise")
    said = run("compare", "my rows.csv", "-t", "label", "-m", "cart-cp,nb", "--repeats", "1", *reading, "-o", "out").output
    command = said.split("to fit it again:\n")[1].splitlines()[0].strip()
    assert command.startswith("baytree fit 'my rows.csv' --target label --model ")
    assert shlex.split(command)[-10:-2] == list(reading)
    assert run(*shlex.split(command)[1:]).exit_code == 0
    advised, again = bt.load("out/model.baytree"), bt.load("m.baytree")
    rows = frame.astype({"code": str})  # as they are in a file
    np.testing.assert_array_equal(advised.predict_proba(rows), again.predict_proba(rows))


def test_models_can_be_judged_by_other_scores_and_costs(tmp_path):
    bands().to_csv(tmp_path / "rows.csv", index=False)
    call = ("compare", "rows.csv", "-t", "label", "-m", "majority,nb", "--no-save", "--repeats", "1")
    assert "log loss within one standard error" in run(*call, "--by", "log_loss").output
    costs = '{"low": {"high": 5}, "high": {"low": 1}}'
    assert "expected cost within one standard error" in run(*call, "--costs", costs).output
    done = run(*call, "--costs", "{low: 5}")
    assert done.exit_code == 2
    assert "is not JSON" in done.output


def test_costs_reach_the_models_that_fit_and_compare_save_and_predict_replaces_them():
    frame = bands()
    frame.to_csv("rows.csv", index=False)
    costs = '{"low": {"high": 9}, "high": {"low": 1}}'
    call = ("compare", "rows.csv", "-t", "label", "-m", "nb,cart", "--repeats", "1", "--costs", costs, "-o", "out")
    output = run(*call).output
    command = shlex.split(output.split("to fit it again:")[1].strip().splitlines()[0])
    assert costs in command
    assert run(*command[1:]).exit_code == 0
    advised, again = bt.load("out/model.baytree"), bt.load("m.baytree")
    assert advised.predict(frame).tolist() == again.predict(frame).tolist()
    assert bt.load("out/models/nb.baytree").costs == json.loads(costs)
    assert run("fit", "rows.csv", "-t", "label", "--costs", costs, "-o", "nb.baytree").exit_code == 0
    model = bt.load("nb.baytree")
    done = run("predict", "nb.baytree", "rows.csv").stdout.split()[1:]
    assert done == model.predict(frame).tolist() != bt.NaiveBayesClassifier().fit(frame, "label").predict(frame).tolist()
    even = run("predict", "nb.baytree", "rows.csv", "--costs", '{"low": {"high": 1}, "high": {"low": 1}}').stdout.split()[1:]
    assert even == bt.NaiveBayesClassifier().fit(frame, "label").predict(frame).tolist()


def test_wrong_costs_are_named_on_the_command_line():
    bands().to_csv("rows.csv", index=False)
    assert run("fit", "rows.csv", "-t", "label", "--costs", "{low: 5}").exit_code == 2
    unknown = run("fit", "rows.csv", "-t", "label", "--costs", '{"low": {"hi": 5}, "high": {"low": 1}}')
    assert unknown.exit_code == 1
    assert "costs['low'] names 'hi', but the classes are 'high', 'low'" in unknown.output
    number = run("fit", "rows.csv", "-t", "x", "-m", "linear", "--costs", '{"low": {"high": 5}}')
    assert number.exit_code == 2
    assert "costs" in number.output


def test_colour_is_for_terminals_only(tmp_path):
    bands().to_csv(tmp_path / "rows.csv", index=False)
    call = ("compare", "rows.csv", "-t", "label", "-m", "majority,nb", "--no-save")
    assert "\x1b" not in run(*call).output
    painted = run(*call, color=True).output
    assert "\x1b[32m*  naive Bayes" in painted
    assert "\x1b[1mRecommended: " in painted


def test_missing_values_are_told_before_the_leaderboard(tmp_path):
    bands().assign(gone=np.nan).to_csv(tmp_path / "rows.csv", index=False)
    said = run("compare", "rows.csv", "-t", "label", "-m", "nb", "--no-save").output
    assert "120 rows; missing: gone 100 %, x 15 %" in said


def test_a_remedy_is_said_in_options_and_not_in_python(tmp_path):
    bands(30).assign(name=[f"person {i}" for i in range(30)]).to_csv(tmp_path / "rows.csv", index=False)
    said = run("compare", "rows.csv", "-t", "label", "-m", "nb", "--no-save").output
    assert "use --keep 'name'" in said
    assert "schema=" not in said


def test_a_long_model_does_not_push_the_leaderboard_out_of_sight():
    assert terminal_output.first_lines("\n".join(["line"] * 100)).splitlines()[-1] == "… and 60 more lines"
    assert terminal_output.first_lines("a\nb") == "a\nb"
    assert len(terminal_output.first_lines("long " * 40)) == 80


def test_a_schema_fits_eighty_columns_whatever_its_names_and_levels():
    many = tuple(f"level {k}" for k in range(200))
    columns = (Column("a name " * 12, Kind.NOMINAL, many), Column("x", Kind.ORDINAL, ("low" * 30, "high")))
    shown = str(Schema(columns, Target("y", many), ("a name " * 12, "x", "id" * 50)))
    assert max(map(len, shown.splitlines())) <= 80
    assert "200 levels: " in shown


@pytest.mark.slow
def test_ctrl_c_on_a_terminal_prints_and_saves_what_is_finished(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(20_000, 12)), columns=[f"x{j}" for j in range(12)])
    frame.assign(y=np.where(frame["x0"] + rng.normal(size=20_000) > 0, "a", "b")).to_csv(tmp_path / "rows.csv", index=False)
    ours, theirs = pty.openpty()
    program = Path(sys.executable).with_name("baytree")
    call = [program, "compare", "rows.csv", "--target", "y", "--models", "majority,nb,lasso"]
    process = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=theirs, cwd=tmp_path)
    seen = b""
    while b"logistic, L1" not in seen:
        seen += os.read(ours, 1000)
    process.send_signal(signal.SIGINT)
    start = time.monotonic()
    printed = process.communicate(timeout=60)[0].decode()
    assert time.monotonic() - start < 30
    assert process.returncode == 130
    assert "interrupted before all models were finished" in printed
    assert json.loads((tmp_path / "rows-compared" / "results.json").read_text())["is_interrupted"]
    assert b"left" in seen


def leaking(tmp_path: Path) -> str:
    bands().assign(score=lambda rows: rows.label.map({"low": 1, "high": 2})).to_csv(tmp_path / "leak.csv", index=False)
    return str(tmp_path / "leak.csv")


def test_audit_prints_findings_and_the_remedy_as_text_or_json(tmp_path):
    done = run("audit", leaking(tmp_path), "-t", "label")
    assert done.exit_code == 0
    assert "leak: 'score' alone predicts 'label'" in done.output
    assert "use --drop 'score'" in done.output
    assert "schema=" not in done.output
    found = json.loads(run("audit", leaking(tmp_path), "-t", "label", "--json", "-q").stdout)
    assert found["findings"][0]["columns"] == ["score"]
    assert set(found) == {"target", "rows", "findings", "left_out"}


def test_audit_fails_with_code_3_only_if_it_is_asked_to_and_finds_something(tmp_path):
    bands().to_csv(tmp_path / "rows.csv", index=False)
    assert run("audit", leaking(tmp_path), "-t", "label", "--fail").exit_code == 3
    assert run("audit", leaking(tmp_path), "-t", "label", "--fail", "--drop", "score").exit_code == 0
    assert run("audit", str(tmp_path / "rows.csv"), "-t", "label", "--fail").exit_code == 0


def test_audit_names_the_columns_that_there_are(tmp_path):
    done = run("audit", leaking(tmp_path), "-t", "label", "--time", "scoer")
    assert done.exit_code != 0
    assert "did you mean 'score'" in done.output


def test_compare_writes_all_findings_to_the_results(tmp_path):
    done = run("compare", leaking(tmp_path), "-t", "label", "-m", "majority,nb", "--cv", "3", "-o", str(tmp_path / "out"))
    assert "leak: 'score'" in done.output
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert results["audit"]["findings"][0]["kind"] == "leak"
    assert 'data-kind="leak"' in (tmp_path / "out" / "report.html").read_text()


def test_compare_takes_groups_and_times_and_names_the_scheme(tmp_path):
    rng = np.random.default_rng(0)
    dates = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, 120), "D")
    bands().assign(who=rng.integers(0, 15, 120), day=dates).to_csv(tmp_path / "rows.csv", index=False)
    call = ["compare", "rows.csv", "-t", "label", "-m", "majority,nb", "--cv", "3", "--no-save"]
    done = run(*call, "--groups", "who", "--time", "day", "--gap", "5")
    assert done.exit_code == 0, done.output
    assert "with a gap of 5 days, by group (who)" in " ".join(done.output.split())
    again = done.output.split("to fit it again:\n  baytree ")[1].splitlines()[0]
    assert "--groups who --time day --gap 5.0" in again
    assert run(*shlex.split(again)).exit_code == 0
    assert bt.load(tmp_path / "m.baytree").feature_names_in_.tolist() == ["x", "noise"]
    failed = run(*call, "--time", "day", "--gap", "5000")
    assert failed.exit_code == 1
    assert "give a smaller gap" in failed.output


def test_fit_takes_groups_and_times_for_the_folds_inside_a_model(tmp_path):
    rng = np.random.default_rng(0)
    dates = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, 120), "D")
    rows = bands().assign(who=rng.integers(0, 15, 120), day=dates)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    call = ["fit", "rows.csv", "-t", "label", "-m", "logistic", "-o", "m.baytree", "--date", "day"]
    assert run(*call, "--groups", "who", "--time", "day", "--gap", "5").exit_code == 0
    kind = type(model_registry.named("logistic")["classification"].made())
    assert issubclass(kind, bt.LogisticRegressionCV)
    expected = model_registry.named("logistic")["classification"].made().fit(rows, "label", groups="who", time="day", gap=5)
    assert np.array_equal(bt.load(tmp_path / "m.baytree").coef_, expected.coef_)
    for model in ("nb", "tree"):  # no folds inside: the columns are no features
        assert run(*call, "-m", model, "--groups", "who", "--time", "day").exit_code == 0
        assert bt.load(tmp_path / "m.baytree").feature_names_in_.tolist() == ["x", "noise"]
    assert "--gap needs --time" in run(*call, "--gap", "5").output
    assert "did you mean 'who'" in run(*call, "--groups", "woh").output
    assert "needs all rows in memory" in run(*call, "--groups", "who", "--memory", "1GB").output
