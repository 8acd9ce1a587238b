"""Laws that hold for every estimator, on a few tables each; `make reliability` tries hundreds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone

from law_settings import settings
from metamorphic import SUBJECTS, allowed, level_classifiers, own_laws

OWN = [(name, law) for name, subject in SUBJECTS.items() for law in own_laws(subject)]


pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
@pytest.mark.parametrize(("name", "law"), OWN, ids=[f"{name}-{law.__name__}" for name, law in OWN])
def test_what_a_law_does_to_a_table_changes_no_answer(name, law, seed):
    subject = SUBJECTS[name]
    assert law(subject, seed) <= allowed(subject, law), law.__doc__


wild = st.floats(allow_nan=False, allow_infinity=False, width=64)


@pytest.mark.parametrize("name", level_classifiers())
@settings(max_examples=25, deadline=None)
@given(X=arrays(np.float64, (14, 2), elements=wild), rows=arrays(np.float64, (6, 2), elements=wild))
def test_probabilities_are_probabilities_for_all_finite_numbers(name, X, rows):
    model = clone(SUBJECTS[name].estimator).fit(X, np.arange(14) % 2)
    proba = model.predict_proba(rows)
    assert np.isfinite(proba).all()
    assert (proba >= 0).all()
    assert np.allclose(proba.sum(axis=1), 1, rtol=0, atol=1e-12)
    assert (model.predict(rows) == model.classes_[proba.argmax(axis=1)]).all()
