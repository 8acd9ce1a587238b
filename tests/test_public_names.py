"""What `import baytree as bt` offers: each name comes from its home, and editors see the same."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

import baytree as bt
from baytree._registry import PUBLIC_MODULES

STUB = Path(bt.__file__).with_suffix(".pyi")


@pytest.mark.parametrize("name", bt.__all__)
def test_every_public_name_is_there(name):
    assert getattr(bt, name).__doc__


def test_editors_are_told_where_every_name_comes_from():
    imports = [node for node in ast.parse(STUB.read_text()).body if isinstance(node, ast.ImportFrom)]
    told = {alias.asname: node.module for node in imports for alias in node.names if alias.asname}
    expected = {name: f"baytree.{home}" for name, home in PUBLIC_MODULES.items()}
    assert told == {**expected, "datasets": "baytree", "__version__": "baytree.version"}


def test_an_unknown_name_is_refused():
    with pytest.raises(AttributeError, match="no attribute 'Forest'"):
        getattr(bt, "Forest".title())


def test_older_names_of_attributes_and_parameters_still_work_with_a_warning():
    rows = {"x": [1.0, 2.0, 3.0, 4.0] * 8, "y": ["a", "a", "b", "b"] * 8}
    model = bt.CARTClassifier(min_split=4).fit(rows, "y")
    found = bt.compare(rows, "y", models=["nb"], cv=4, repeats=1)
    sets, curve = bt.conformal(bt.NaiveBayesClassifier(), rows, "y"), bt.reject_curve(model, rows, "y")
    pairs = [
        (found, "bar", found.baseline),
        (found, "judged", found.criterion),
        (found, "cautions", found.warnings),
        (sets, "promise", sets.guarantee_settings),
        (curve, "least", curve.threshold),
        (curve, "share", curve.coverage),
        (bt.drift(model, rows), "unlike", 0.0),
        (bt.diff(model, model), "is_untold", False),
        (model.explain(rows)[0].evidence[0], "told", model.explain(rows)[0].evidence[0].label),
    ]
    for value, name, expected in pairs:
        with pytest.warns(DeprecationWarning, match=name):
            assert np.all(getattr(value, name) == expected), name
    with pytest.warns(DeprecationWarning, match="train_sizes"):
        assert bt.learning_curve(bt.NaiveBayesClassifier(), rows, "y", shares=(0.5, 1.0), cv=4).n_rows == (12, 24)
    with pytest.warns(DeprecationWarning, match="n_bootstrap"):
        assert bt.root_stability(bt.DecisionTreeClassifier(), rows, "y", n_times=5).n_bootstrap == 5


def test_help_lists_every_public_name_under_one_topic():
    lines = [line for line in bt.__doc__.splitlines() if line.startswith("    ")]
    listed = [name for line in lines for name in re.split(r"  +", line.strip())[0].split(", ")]
    assert sorted(listed) == sorted(bt.__all__)
    assert all(len(re.split(r"  +", line.strip())) == 2 for line in lines)
