"""Naive Bayes of documents beside scikit-learn's and Weka's on the same counts."""

import re

import numpy as np
import pytest
import reference
import scipy.sparse as sp

import baytree as bt

MODELS = {
    "multinomial_alpha1": (bt.MultinomialNB, {}),
    "multinomial_alpha0.1": (bt.MultinomialNB, {"alpha": 0.1}),
    "multinomial_uniform_prior": (bt.MultinomialNB, {"fit_prior": False}),
    "bernoulli_alpha1": (bt.BernoulliNB, {}),
    "complement_alpha1": (bt.ComplementNB, {}),
}


@pytest.fixture(scope="module")
def messages():
    whole, about = reference.frame("sms_spam")
    documents = [re.findall(r"[a-z0-9]+", text.lower()) for text in whole["text"].fillna("")]
    words = sorted({word for document in documents for word in document})
    place = {word: k for k, word in enumerate(words)}
    entries = [(row, place[word]) for row, document in enumerate(documents) for word in document]
    rows, codes = np.array(entries).T
    counts = sp.csr_matrix((np.ones(len(rows)), (rows, codes)), shape=(len(documents), len(words)))
    return counts, whole[about["target"]].astype(str).to_numpy(dtype=object), words


@pytest.mark.parametrize("key", MODELS)
def test_documents_get_the_probabilities_of_scikit_learn(messages, key):
    counts, labels, words = messages
    expected = reference.expected("text_nb", "sms_spam")["fits"][key]
    kind, parameters = MODELS[key]
    model = kind(**parameters).fit(counts, labels)
    probes = [words.index(word) for word in expected["probe_words"]]
    assert np.allclose(model.class_log_prior_, expected["class_log_prior"], atol=1e-12)
    assert np.allclose(model.feature_log_prob_[:, probes], expected["feature_log_prob"], atol=1e-10)
    answer = model.predict_proba(counts)[expected["rows"]]
    assert np.abs(answer - np.exp(expected["log_prob"])).max() <= 1e-8
    assert model.score(counts, labels) == pytest.approx(expected["train_accuracy"], abs=1e-12)


def test_documents_get_the_probabilities_of_weka(messages):
    counts, labels, _ = messages
    expected = reference.expected("text_nb", "sms_spam")["fits"]["weka_multinomial"]
    events = {f"x{j}": "multinomial" for j in range(counts.shape[1])}
    model = bt.NaiveBayesClassifier(events=events, conventions="weka").fit(counts, labels)
    assert np.abs(model.predict_proba(counts)[expected["rows"]] - np.array(expected["prob"])).max() <= 1e-8
