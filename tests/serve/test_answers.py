"""What the server answers is what the model answers, however the rows came."""

import asyncio
import io

import numpy as np
import polars as pl
import pytest

import baytree as bt
from baytree.serve.request_body import ARROW, CSV
from in_process import Server, rows_of


def probabilities(answer, model):
    return np.array([[row[str(c)] for c in model.classes_] for row in answer.json()["probabilities"]])


@pytest.mark.parametrize("name", ["nb", "cart"])
def test_the_answers_are_those_of_the_model(server, fitted, table, name):
    answer = server.predict(name, rows_of(table[0]))
    assert answer.status == 200
    assert np.array_equal(probabilities(answer, fitted[name]), fitted[name].predict_proba(table[0]))
    assert answer.json()["predictions"] == fitted[name].predict(table[0]).tolist()


def test_numbers_are_answered_by_numbers(server, fitted, table):
    answer = server.predict("amount", rows_of(table[0])).json()
    assert np.allclose(answer["predictions"], fitted["amount"].predict(table[0]), rtol=1e-12)
    assert "probabilities" not in answer


def test_rows_lists_columns_csv_and_arrow_get_the_same_answer(server, table):
    X = table[0][:20]
    names, rows = list(X), rows_of(X)
    cells = [[row[name] for name in names] for row in rows]
    buffer = io.BytesIO()
    pl.DataFrame(rows, infer_schema_length=None).write_ipc_stream(buffer, compression="uncompressed")
    bodies = [
        ({"rows": rows}, "application/json"),
        ({"columns": names, "rows": cells}, "application/json"),
        ({"columns": {name: [row[name] for row in rows] for name in names}}, "application/json; charset=utf-8"),
        (X.to_csv(index=False).encode(), CSV),
        (X.to_csv(index=False, sep=";").encode("utf-8-sig"), CSV),
        (buffer.getvalue(), ARROW),
    ]
    answers = [server.ask("POST", "/models/nb/predict", body, media) for body, media in bodies]
    assert [answer.status for answer in answers] == [200] * len(bodies)
    assert len({answer.body for answer in answers}) == 1


def test_a_column_that_is_left_out_is_missing_and_a_new_level_is_what_predict_takes_it_for(server, fitted):
    size = 'it\'s "size"'
    rows = [{}, {"x0": None}, {size: "XXL"}, {"x0": 1e300, "x1": -1}]
    frame = {"x0": [None, None, None, 1e300], "x1": [None, None, None, -1.0], "x2": [None] * 4}
    with pytest.warns(bt.BaytreeWarning, match="XXL"):
        expected = fitted["nb"].predict_proba(pl.DataFrame({**frame, size: [None, None, "XXL", None]}))
    assert np.array_equal(probabilities(server.predict("nb", rows), fitted["nb"]), expected)


def test_no_row_has_no_answer(server):
    assert server.predict("nb", []).json()["predictions"] == []


def test_explanations_are_the_models_own(server, fitted, table):
    answer = server.ask("POST", "/models/nb/explain", {"rows": rows_of(table[0][:3])}).json()
    own = [each.to_dict() for each in fitted["nb"].explain(table[0][:3])]
    assert [each["scores"] for each in answer["explanations"]] == [each["scores"] for each in own]


def test_requests_of_one_moment_get_the_answers_that_each_gets_alone(server, table):
    rows = rows_of(table[0][:12])
    rows[5] = {"x1": "no number"}
    alone = [server.predict("nb", [row]) for row in rows]

    async def at_once():
        asked = (server.asked("POST", "/models/nb/predict", {"rows": [row]}) for row in rows)
        return await asyncio.gather(*asked)

    together = asyncio.run(at_once())
    assert [(a.status, a.body) for a in together] == [(a.status, a.body) for a in alone]
    assert [a.status for a in alone].count(422) == 1


def test_every_answer_carries_the_digest_of_its_file(server, paths):
    told = paths["nb"].read_bytes()[:120].decode()
    for answer in (server.predict("nb", [{}]), server.ask("GET", "/models/nb")):
        assert answer.json()["digest"] in told
        assert answer.json()["digest"].startswith(answer.json()["version"])


def test_an_interview_without_memory_asks_what_an_interview_asks(server, fitted):
    talk, answers = fitted["nb"].interview(), {}
    for _ in range(3):
        told = server.ask("POST", "/models/nb/interview", {"answers": answers}).json()
        question = talk.next()
        if question is None:
            assert told["question"] is None
            break
        assert told["question"]["column"] == question.column
        assert list(told["belief"].values()) == list(talk.belief.values())
        choice = question.choices[0]
        talk.answer(choice)
        answers[question.column] = choice


def test_an_interview_with_question_costs_asks_for_what_is_cheap(server, fitted):
    names = fitted["nb"].schema_.names
    first = fitted["nb"].interview().next().column
    costs = {name: 1000.0 if name == first else 1.0 for name in names}
    told = server.ask("POST", "/models/nb/interview", {"question_costs": costs}).json()["question"]
    question = fitted["nb"].interview(question_costs=costs).next()
    assert (told["column"], told["gain"], told["cost"]) == (question.column, question.gain, 1.0)
    assert server.ask("POST", "/models/nb/interview", {"costs": costs}).json()["question"] == told  # the older name
    for wrong in ({"nobody": 1}, {first: -1}):
        assert 400 <= server.ask("POST", "/models/nb/interview", {"question_costs": wrong}).status <= 422
        assert 400 <= server.ask("POST", "/models/nb/interview", {"costs": wrong}).status <= 422


def test_a_model_with_costs_answers_by_them(table, tmp_path):
    X, y = table
    labels = np.unique(y)
    costs = (1 - np.eye(len(labels))) * np.arange(1, len(labels) + 1)[:, None] ** 3
    model = bt.NaiveBayesClassifier(costs=costs).fit(X, y)
    plain = bt.NaiveBayesClassifier().fit(X, y)
    assert model.predict(X).tolist() != plain.predict(X).tolist()
    bt.save(model, tmp_path / "costly.baytree")
    server = Server([tmp_path / "costly.baytree"])
    assert server.predict("costly", rows_of(X)).json()["predictions"] == model.predict(X).tolist()
    assert server.ask("POST", "/models/costly/interview", {}).json()["prediction"] == model.interview().prediction
    explained = server.ask("POST", "/models/costly/explain", {"rows": rows_of(X)}).json()["explanations"]
    assert [each["prediction"] for each in explained] == model.predict(X).tolist()


def test_an_answer_that_cannot_be_is_refused(server):
    for answers in ({"x0": "many"}, {"nobody": 1}, {"x0": [1, 2, 3]}, {'it\'s "size"': "XXL"}):
        assert server.ask("POST", "/models/nb/interview", {"answers": answers}).status == 422
    assert server.ask("POST", "/models/amount/interview", {}).status == 422


def test_tensors_of_the_inference_protocol_give_the_same_numbers(server, fitted, table):
    X = table[0][:4]
    kinds = dict.fromkeys(X, "FP64") | {'it\'s "size"': "BYTES"}
    inputs = [{"name": name, "shape": [4], "datatype": kinds[name], "data": [row[name] for row in rows_of(X)]} for name in X]
    told = server.ask("POST", "/v2/models/nb/infer", {"id": "7", "inputs": inputs}).json()
    assert (told["model_name"], told["id"]) == ("nb", "7")
    label, probability = told["outputs"]
    assert label["data"] == fitted["nb"].predict(X).tolist()
    assert np.array_equal(np.reshape(probability["data"], probability["shape"]), fitted["nb"].predict_proba(X))
    metadata = server.ask("GET", "/v2/models/nb").json()
    assert {each["name"]: each["datatype"] for each in metadata["inputs"]} == kinds


def test_an_unseen_level_is_named_in_the_explanation_as_by_the_model(tmp_path):
    rows = {"colour": ["red", "blue"] * 10, "size": [1.0, 2.0] * 10, "y": ["a", "b"] * 10}
    model = bt.NaiveBayesClassifier().fit(rows, "y")
    row = {"colour": "green", "size": 1.0}
    bt.save(model, tmp_path / "m.baytree")
    server = Server([tmp_path / "m.baytree"])
    answer = server.ask("POST", "/models/m/explain", {"rows": [row]}).json()
    assert answer["explanations"] == [each.to_dict() for each in model.explain([row])]
    assert "green (not seen in training)" in str(answer["explanations"])
    partial = server.ask("POST", "/models/m/explain", {"rows": [{"size": 1.0, "colour": None}]})
    assert partial.status == 200


def test_dates_come_as_strings():
    frame = {"day": ["2024-01-01", "2024-02-01", "2025-01-01", "2025-02-01"] * 5, "y": ["a", "a", "b", "b"] * 5}
    model = bt.CARTClassifier(min_split=2).fit(pl.DataFrame(frame).with_columns(pl.col("day").str.to_date()), "y")
    from baytree.serve.cell_values import RequiredColumns
    from baytree.serve.request_body import encoded, frame_of

    predictor = model._predictor
    body = b'{"rows": [{"day": "2024-01-15"}, {"day": null}]}'
    table = encoded(predictor, frame_of(RequiredColumns(predictor), body, "application/json", 9))
    assert table.values[0][0] == 19737
    assert np.isnan(table.values[0][1])


def test_the_page_of_a_model_and_the_list_of_models_are_shown(server):
    assert b"NaiveBayesClassifier" in server.ask("GET", "/models/nb/page").body
    assert b"/models/cart/page" in server.ask("GET", "/").body


def test_levels_of_an_arrow_dictionary_are_levels_unless_they_are_immense(server):
    def body(level, n):
        buffer = io.BytesIO()
        levels = pl.Series('it\'s "size"', [level] * n, dtype=pl.Categorical)
        pl.DataFrame([levels]).write_ipc_stream(buffer, compression="uncompressed")
        return buffer.getvalue()

    answer = server.ask("POST", "/models/nb/predict", body("S", 2), ARROW)
    assert answer.json()["probabilities"] == server.predict("nb", [{'it\'s "size"': "S"}] * 2).json()["probabilities"]
    assert server.ask("POST", "/models/nb/predict", body("S" * 100_000, 1000), ARROW).status == 413


def test_a_class_of_too_small_a_probability_is_not_told(paths, fitted, table):
    with_limit = Server([paths["nb"], paths["amount"]], least=0.8)
    rows = rows_of(table[0])
    told, expected = with_limit.predict("nb", rows).json(), fitted["nb"].predict(table[0], reject=0.8).tolist()
    assert None in expected
    assert told["predictions"] == expected
    assert [reason is None for reason in told["unanswered"]] == [label is not None for label in expected]
    assert "the predicted class has probability 0." in next(filter(None, told["unanswered"]))
    tensors = [{"name": c, "datatype": "BYTES", "shape": [1], "data": [None]} for c in table[0]]
    told = with_limit.ask("POST", "/v2/models/nb/infer", {"inputs": tensors}).json()["outputs"][0]
    assert told == {"name": "prediction", "datatype": "BYTES", "shape": [1], "data": [""]}
    assert "unanswered" not in with_limit.predict("amount", rows).json()
    assert with_limit.predict("nb", []).json()["unanswered"] == []
