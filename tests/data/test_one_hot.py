"""One-hot features and bags of words as frames."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

import baytree as bt

TEXTS = ["the cat sat", "the dog sat on the cat", "", "dogs and cats"]


def test_levels_become_columns_and_ranks_numbers():
    frame = pd.DataFrame({"colour": ["red", "green", "blue"], "state": ["bad", "good", "fair"], "size": [1.5, 2, 3]})
    encoded = bt.one_hot(frame, schema={"state": ["bad", "fair", "good"]})
    assert encoded["colour=red"].tolist() == [1, 0, 0]
    assert encoded[["colour=blue", "colour=green", "colour=red"]].sum(axis=1).tolist() == [1, 1, 1]
    assert encoded["state"].tolist() == [0, 2, 1]
    assert encoded["size"].tolist() == [1.5, 2, 3]


def test_numbers_can_be_encoded_on_request_and_missing_values_are_marked():
    frame = pd.DataFrame(
        {"zip": [8001, 3011, 8001], "size": [1.0, None, 2.0], "colour": ["red", None, "red"]}, index=[3, 4, 5]
    )
    encoded = bt.one_hot(frame, ["zip"])
    assert encoded.columns.tolist() == ["zip=3011", "zip=8001", "size", "colour"]
    assert encoded.index.tolist() == [3, 4, 5]
    pd.testing.assert_frame_equal(encoded[["size", "colour"]], frame[["size", "colour"]], check_dtype=False)
    whole = bt.one_hot(frame)
    assert whole["size is missing"].tolist() == whole["colour is missing"].tolist() == [0, 1, 0]


@pytest.mark.parametrize("name", ["penguins", "titanic", "play-tennis"])
def test_without_first_levels_the_columns_are_those_of_linear_models(name):
    frame, target = bt.datasets.load(name), bt.datasets.describe(name).target
    model = bt.LogisticRegression().fit(frame, target)
    encoded = bt.one_hot(frame.drop(columns=target), drop_first=True)
    names = model.model_.linear.design.names(model.schema_.columns)
    assert [each for each in encoded.columns if each in names] == names


@pytest.mark.parametrize("options", [{}, {"ngram_range": (1, 2)}, {"min_df": 2}, {"stop_words": "english"}])
def test_words_are_those_of_scikit_learn(options):
    ours = {"ngrams" if name == "ngram_range" else name: value for name, value in options.items()}
    for tfidf, vectorizer in ((False, CountVectorizer(**options)), (True, TfidfVectorizer(**options))):
        expected = vectorizer.fit_transform(TEXTS).toarray()
        counted = bt.bag_of_words(pd.Series(TEXTS), tfidf=tfidf, **ours)
        assert list(counted.columns) == list(vectorizer.get_feature_names_out())
        assert np.allclose(counted.to_numpy(), expected)


def test_frames_are_of_the_library_of_the_input_and_large_ones_are_sparse():
    assert isinstance(bt.one_hot(pl.DataFrame({"colour": ["red", "blue"]})), pl.DataFrame)
    assert isinstance(bt.bag_of_words(pl.Series(["a word"])), pl.DataFrame)
    large = bt.one_hot(pd.DataFrame({"group": np.arange(12_000) % 1_000}), ["group"])
    assert large.shape == (12_000, 1_000)
    assert isinstance(large.dtypes.iloc[0], pd.SparseDtype)
    assert large["group=7"].sum() == 12


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bt.one_hot({"a": ["x"]}, ["b"]), "no column 'b'; the columns are 'a'"),
        (lambda: bt.one_hot({"a": ["x"]}, "a"), "give a list of names"),
        (lambda: bt.one_hot({"a": []}), "at least one row"),
        (lambda: bt.one_hot({"a": ["some words"]}, schema={"a": "text"}), "give it to bag_of_words"),
        (lambda: bt.bag_of_words("a word"), "list of strings"),
        (lambda: bt.bag_of_words([1, 2]), "1 is not a text"),
        (lambda: bt.bag_of_words([]), "no word is left"),
        (lambda: bt.bag_of_words(["a word"], (2, 1)), "ngrams"),
    ],
)
def test_bad_input_is_refused_with_a_remedy(call, message):
    with pytest.raises(ValueError, match=message):
        call()
