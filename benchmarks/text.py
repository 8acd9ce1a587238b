"""Documents to counts and to a fitted naive Bayes, beside scikit-learn's vectorizers."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pandas as pd

import baytree as bt
from baytree.data.encoding.bag_of_words import count
from baytree.data.schema.column import Text
from harness import Row, best
from tables import documents


def counting() -> Iterator[Row]:
    from sklearn.feature_extraction.text import CountVectorizer

    texts, _ = documents()
    theirs = best(lambda: CountVectorizer().fit_transform(texts), 1)
    yield Row("count the words of 50,000 documents", "CountVectorizer", theirs, best(lambda: count(texts), 3), 8)
    theirs = best(lambda: CountVectorizer(ngram_range=(1, 2)).fit_transform(texts), 1)
    ours = best(lambda: count(texts, Text(ngrams=(1, 2))), 1)
    yield Row("words and pairs of words, 50,000 documents", "CountVectorizer", theirs, ours, 0)


def fitting() -> Iterator[Row]:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB

    texts, labels = documents()
    frame = pd.DataFrame({"text": texts})
    theirs = best(lambda: MultinomialNB().fit(CountVectorizer().fit_transform(texts), labels), 1)
    ours = best(lambda: bt.NaiveBayesClassifier(schema={"text": "text"}).fit(frame, labels), 3)
    yield Row("50,000 raw documents to naive Bayes", "CountVectorizer + MultinomialNB", theirs, ours, 6)


def weighing() -> Iterator[Row]:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.naive_bayes import MultinomialNB

    texts, labels = documents()
    frame = pd.DataFrame({"text": texts})
    theirs = best(lambda: MultinomialNB().fit(TfidfVectorizer().fit_transform(texts), labels), 1)
    ours = best(lambda: bt.NaiveBayesClassifier(schema={"text": Text(tfidf=True)}).fit(frame, labels), 3)
    yield Row("50,000 raw documents to naive Bayes by tf-idf", "TfidfVectorizer + MultinomialNB", theirs, ours, 0)


def batches() -> Iterator[Row]:
    """The last of a hundred batches by tf-idf, when nobody asks for the model, against the tenth."""
    texts, labels = documents()
    frame, model, seconds = pd.DataFrame({"text": texts}), bt.NaiveBayesClassifier(schema={"text": Text(tfidf=True)}), []
    for first in range(0, 50_000, 500):
        start = time.process_time()
        model.partial_fit(frame[first : first + 500], labels[first : first + 500])
        seconds.append(time.process_time() - start)
    early, late = sum(seconds[10:20]) / 10, sum(seconds[90:]) / 10
    yield Row("tf-idf, batches 91 to 100 of 500 documents", "batches 11 to 20", early, late, 0.5)


WORKLOADS = [counting, fitting, weighing, batches]
