"""The bundled tables are complete, described, and theirs to give."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import polars as pl
import pytest

from baytree import datasets

FOLDER = Path(datasets.__file__).parent / "tables"


@pytest.mark.parametrize("name", datasets.names())
def test_every_table_is_what_its_description_says(name):
    table, columns = datasets.describe(name), datasets.load(name, as_="dict")
    assert list(columns) == list(table.columns)
    assert {len(values) for values in columns.values()} == {table.rows}
    assert table.target in columns
    assert None not in columns[table.target]


@pytest.mark.parametrize("name", datasets.names())
def test_pandas_polars_and_dict_hold_the_same_table(name):
    columns = datasets.load(name, as_="dict")
    assert datasets.load(name, as_="polars").equals(pl.DataFrame(columns), null_equal=True)
    pd.testing.assert_frame_equal(datasets.load(name, as_="pandas"), pd.DataFrame(columns))


@pytest.mark.parametrize("name", datasets.names())
def test_every_table_names_its_source_and_free_terms(name):
    table = datasets.describe(name)
    assert table.source
    assert any(free in table.terms for free in ("CC0", "CC BY 4.0", "facts"))
    assert "GPL" not in table.terms
    assert table.source in str(table)
    assert table.terms in str(table)


def test_the_tables_the_guide_speaks_of_are_there():
    promised = "play-tennis enjoy-sport loans gladiator iris mushroom titanic penguins sms-spam zoo"
    assert set(promised.split()) <= set(datasets.names())


def test_all_tables_together_stay_under_half_a_megabyte():
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) < 500_000


def test_underscores_and_capitals_are_forgiven():
    assert datasets.describe("Play_Tennis") == datasets.describe("play-tennis")


def test_a_misspelt_name_gets_a_suggestion():
    with pytest.raises(ValueError, match=r"there is no data set 'titanik'; did you mean 'titanic'\?"):
        datasets.load("titanik")


def test_an_unknown_frame_is_refused():
    with pytest.raises(ValueError, match="as_ must be 'pandas', 'polars' or 'dict', not 'arrow'"):
        datasets.load("iris", as_="arrow")


def test_iris_is_as_fisher_printed_it():
    iris = datasets.load("iris", as_="dict")
    rows = list(zip(*iris.values(), strict=True))
    assert rows[34] == (4.9, 3.1, 1.5, 0.2, "setosa")
    assert rows[37] == (4.9, 3.6, 1.4, 0.1, "setosa")
    assert "rows 35 and 38" in datasets.describe("iris").changes
