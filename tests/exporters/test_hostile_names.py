"""No name can become code: hundreds of random names of columns, levels and classes in one model, run and compared."""

import shutil

import pytest
from export_compared import difference_of
from export_runners import NEEDS, RUNNERS
from hostile_names import ESTIMATORS, drawn, pieces_for

import baytree as bt


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(
    "target", [pytest.param(name, marks=[pytest.mark.databases] if name == "pmml" else []) for name in RUNNERS]
)
def test_no_name_can_become_code(target, estimator, tmp_path):
    if (need := NEEDS.get(target)) and not shutil.which(need):
        pytest.skip(f"{need} is not installed")
    model, columns, rows = drawn(5, estimator, pieces_for(target))
    source = bt.export(model, target)
    run = RUNNERS[target]
    assert difference_of(model, columns, rows, lambda given, named: run(source, given, named, tmp_path)) <= 1e-9
