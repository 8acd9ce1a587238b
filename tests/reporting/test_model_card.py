"""Model cards: everything in them is in the model, and what is not known is said to be not recorded."""

from __future__ import annotations

import copy
import pickle

import msgspec
import numpy as np
import pytest

import baytree as bt

ROWS = bt.datasets.load("penguins")


def sections(card: str) -> dict[str, str]:
    return {part.splitlines()[0]: part for part in card.split("\n## ")[1:]}


@pytest.fixture(scope="module")
def compared() -> bt.compare:
    return bt.compare(ROWS, "species", models=["majority", "nb", "cart"], cv=3, repeats=1)


def test_a_compared_model_knows_its_folds_its_scores_and_the_audit(compared):
    for entry in compared.entries:
        card = sections(entry.fitted.card())
        assert entry.validation.how in card["Validation"]
        mean, low, high = entry.validation.summary("accuracy")
        assert f"| accuracy | {mean:.4f} | {low:.4f} | {high:.4f} |" in card["Validation"]
        assert "| time | 'year' orders the rows in time" in card["Audit"]
    assert "Not recorded" not in entry.fitted.card()
    assert "not recorded" in sections(entry.fitted.card())["Limits"]
    assert "better than a constant" in sections(compared.models["majority"].card())["Limits"]
    assert "better than a constant" not in sections(compared.models["nb"].card())["Limits"]


def test_a_fitted_model_says_what_is_not_recorded():
    card = sections(bt.CARTClassifier(profile=False).fit(ROWS, "species").card())
    for name in ("Training data", "Validation", "Audit", "Drift reference"):
        assert "Not recorded" in card[name], name
    assert "not recorded" in card["Columns"]
    assert "How well it predicts new rows is not recorded" in card["Limits"]


def test_results_can_be_given_and_are_printed():
    model = bt.NaiveBayesClassifier().fit(ROWS, "species")
    validation, audit = bt.cross_validate(model, ROWS, "species", cv=4), bt.audit(ROWS, "species")
    card = sections(model.card(validation=validation, audit=audit))
    assert validation.how in card["Validation"]
    assert audit.findings[0].message in card["Audit"]
    assert "Not recorded" in sections(model.card())["Validation"]  # the model itself is unchanged


def test_the_card_of_data_counts_what_the_table_holds():
    card = sections(bt.CARTClassifier().fit(ROWS, "species").card())
    assert "344 rows" in card["Training data"]
    assert "| Adelie | 152 | 44.2 % |" in card["Training data"]
    assert "| sex | nominal | female, male | 3.2 % |" in card["Columns"]
    assert "| body_mass_g | numeric | 2700 to 6300 | 0.6 % |" in card["Columns"]
    number = sections(bt.CARTRegressor().fit(ROWS, "body_mass_g").card())
    assert "range from 2700 to 6300" in number["Training data"]


def test_the_card_is_stored_with_the_model_and_gone_after_another_fit(compared, tmp_path):
    model = compared.models["nb"]
    bt.save(model, tmp_path / "m.baytree")
    loaded = bt.load(tmp_path / "m.baytree")
    assert loaded.card() == model.card()
    assert np.array_equal(loaded.predict_proba(ROWS), model.predict_proba(ROWS))
    assert "Not recorded" in sections(loaded.partial_fit(ROWS, "species").card())["Validation"]
    assert "Not recorded" in sections(loaded.fit(ROWS, "species").card())["Validation"]


def test_a_copy_keeps_its_card_and_a_pruned_tree_does_not(compared):
    tree = compared.models["cart"]
    assert copy.deepcopy(tree).card() == pickle.loads(pickle.dumps(tree)).card() == tree.card()
    assert "Not recorded" in sections(tree.snip(0).card())["Validation"]
    assert "Not recorded" not in sections(tree.card())["Validation"]


def test_a_file_without_provenance_is_as_before(tmp_path):
    bt.save(bt.CARTClassifier().fit(ROWS, "species"), tmp_path / "m.baytree")
    assert "provenance" not in (tmp_path / "m.baytree").read_text()


def test_a_damaged_provenance_is_refused(compared):
    from baytree import storage
    from baytree.storage import document

    _, stored = document.read(storage.dumps(compared.models["nb"]), "m")
    wrong = msgspec.structs.replace(stored.provenance.audit, rows=-1)
    damaged = document.write(
        msgspec.structs.replace(stored, provenance=msgspec.structs.replace(stored.provenance, audit=wrong))
    )
    for read in (storage.loads, storage.predictor_of):
        with pytest.raises(storage.ModelFileError, match="provenance"):
            read(damaged, "m.baytree")


def test_names_from_a_table_do_not_form_markup():
    rows = {"a|b": [1.0, 2.0] * 10, "<i>": ["*x*", "[y](z)"] * 10, "# y": ["no\n## Faked", "yes"] * 10}
    card = bt.CARTClassifier(min_split=2).fit(rows, "# y").card()
    assert "\n## Faked" not in card
    assert "| a\\|b | numeric |" in card
    assert "\\*x\\*, \\[y\\](z)" in card
    assert "\\<i\\>" in card


def test_the_page_has_the_card(compared, tmp_path):
    page = compared.models["nb"].report(path=tmp_path / "page.html").read_text()
    assert 'id="card"' in page
    assert compared.entries[0].validation.how in page
    assert "Drift reference" in page
