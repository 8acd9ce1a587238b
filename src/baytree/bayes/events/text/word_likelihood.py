"""What the likelihoods of text columns share: words as evidence, the words that tell most, and drawn documents."""

from __future__ import annotations

import numpy as np

from baytree.bayes.events.likelihood import ColumnLikelihood
from baytree.model import Evidence
from baytree.summary.bayes import MOST_WORDS, TellingWords
from baytree.table.schema import Column, Kind, Schema
from baytree.table.table import Table, Tokens
from baytree.table.text.bags import weighed

SHOWN_WORDS = 10  # in an explanation; the rest of a document is one line


class WordLikelihood(ColumnLikelihood, frozen=True):
    """The distribution of the words of a text column in each class."""

    def weights(self) -> np.ndarray:
        """How much each word speaks for each class: [n_words, n_classes]."""
        raise NotImplementedError(f"{type(self).__name__} must weigh its words")

    def word_evidence(self, table: Table) -> list[tuple[Evidence, ...]]:
        """The lines of each row's ledger: the words that tell most, then all others."""
        raise NotImplementedError(f"{type(self).__name__} must say what its words tell")

    def evidence(self, table: Table) -> dict[int, list[tuple[Evidence, ...]]]:
        """A line for each telling word of a row."""
        return {self.column: self.word_evidence(table)}

    def summary(self, schema: Schema) -> list[TellingWords]:
        """The words that speak most for each class."""
        column = schema.columns[self.column]
        return [TellingWords(column.name, tuple(map(tuple, top_words(self.weights(), column.levels, MOST_WORDS))))]


def top_words(weights: np.ndarray, vocabulary: tuple, n: int) -> list[list[str]]:
    """For each class the words that speak most for it."""
    order = np.argsort(-weights, axis=0, kind="stable")[:n]
    return [[str(vocabulary[k]) for k in column if np.isfinite(weights[k, c])] for c, column in enumerate(order.T)]


def entries(tokens: Tokens, scale: np.ndarray, is_unit: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """What the kernels take of documents."""
    return tokens.start, tokens.code, weighed(tokens, scale, is_unit), tokens.missing


def rows(tokens: Tokens, scale: np.ndarray, is_unit: bool) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each row its kept words and their scaled counts."""
    rows = []
    count = weighed(tokens, scale, is_unit)
    for first, last in zip(tokens.start[:-1], tokens.start[1:], strict=True):
        code = tokens.code[first:last]
        kept = scale[code] > 0
        rows.append((code[kept], count[first:last][kept]))
    return rows


def word_lines(column: Column, code: np.ndarray, count: np.ndarray, effect: np.ndarray) -> list[Evidence]:
    """A line for each of the words that tell most, and one for all others."""
    spread = effect.max(axis=1) - effect.min(axis=1) if len(effect) else np.zeros(0)
    order = np.argsort(-np.nan_to_num(spread, nan=np.inf), kind="stable")
    shown, rest = order[:SHOWN_WORDS], order[SHOWN_WORDS:]
    lines = [Evidence(column.name, f"‘{column.levels[code[k]]}’ × {count[k]:g}", effect[k]) for k in shown]
    if len(rest):
        lines.append(Evidence(column.name, f"{len(rest)} other words", effect[rest].sum(axis=0)))
    return lines or [Evidence(column.name, "no known word", np.zeros(effect.shape[1]))]


def unless_missing(
    ledgers: list[tuple[Evidence, ...]], tokens: Tokens, name: str, n_classes: int
) -> list[tuple[Evidence, ...]]:
    """The ledgers, that of a missing document empty."""
    missing = (Evidence(name, "missing", np.zeros(n_classes)),)
    return [missing if is_missing else lines for lines, is_missing in zip(ledgers, tokens.missing, strict=True)]


def against_others(score: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Each class's score less the mean of the other classes'; −∞ for a word that is left out."""
    n_others = max(score.shape[1] - 1, 1)
    finite = np.maximum(score, -1e300)
    others = (finite.sum(axis=1, keepdims=True) - finite) / n_others
    return np.where(scale[:, None] > 0, finite - others if score.shape[1] > 1 else finite, -np.inf)


def drawn_documents(
    random: np.random.Generator, label: np.ndarray, share: np.ndarray, length: np.ndarray, column: Column
) -> np.ndarray:
    """A document for each row of a class: as many words as they have on average, drawn one by one."""
    documents = np.empty(len(label), object)
    for row, c in enumerate(label):
        n_words = random.poisson(min(length[c], 1e6))
        chosen = random.choice(len(share), n_words, p=share[:, c] / share[:, c].sum())
        documents[row] = " ".join(str(column.levels[k]) for k in chosen)
    return documents


def drawn_sets(random: np.random.Generator, label: np.ndarray, chance: np.ndarray, column: Column) -> np.ndarray:
    """A document for each row of a class: each word is there or not."""
    documents = np.empty(len(label), object)
    for row, c in enumerate(label):
        chosen = np.flatnonzero(random.random(len(chance)) < chance[:, c])
        documents[row] = " ".join(str(column.levels[k]) for k in chosen)
    return documents


def check_words(scale: np.ndarray, length: np.ndarray, table: np.ndarray) -> None:
    """Raises an error unless scales and lengths are numbers that can be meant."""
    for array in (scale, length):
        if array.dtype != np.float64 or array.ndim != 1 or not np.isfinite(array).all() or (array < 0).any():
            raise ValueError("scales and lengths of documents are finite and not negative")
    if len(length) != table.shape[1]:
        raise ValueError("documents have a length in each class")


def check_schema(column: int, table: np.ndarray, schema: Schema) -> None:
    """Raises an error unless the column has these words and the target these classes."""
    known = schema.columns[column]
    if known.kind is not Kind.TEXT or table.shape != (len(known.levels), len(schema.classes)):
        raise ValueError(f"the likelihood of column {known.name!r} does not fit its words")
