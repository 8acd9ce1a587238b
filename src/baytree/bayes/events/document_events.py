"""Likelihoods of text columns: a document is a sequence of words, or the set of words that it holds."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import msgspec
import numpy as np

from baytree import _core
from baytree.bayes.estimation import Estimation, Group, pseudo_counts
from baytree.bayes.events.amounts import complement_weights, log_shares
from baytree.bayes.events.urns import check_concentration, open_urns
from baytree.model import Evidence
from baytree.statistics.corpora import Corpus
from baytree.statistics.tokens import Words
from baytree.summary import MOST_WORDS, TellingWords
from baytree.table.schema import Column, Kind, Schema, Text
from baytree.table.table import Table, Tokens
from baytree.table.text.bags import weighed

SHOWN_WORDS = 10  # in an explanation; the rest of a document is one line


class DocumentLikelihood(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="documents"):
    """What a word adds to the scores when it is there (times its count, unless only presence counts) and when it is not."""

    column: int
    rule: Literal["binary", "count", "amount"]
    scale: np.ndarray  # [n_words]: 0 for a word that is left out, 1, or its idf
    absent: np.ndarray  # [n_words, n_classes]
    present: np.ndarray  # [n_words, n_classes]
    length: np.ndarray  # [n_classes]: the mean number of words of a document
    is_unit: bool = False  # whether a document is brought to length 1

    def __post_init__(self) -> None:
        for table in (self.absent, self.present):
            if table.dtype != np.float64 or table.ndim != 2 or len(table) != len(self.scale) or np.isnan(table).any():
                raise ValueError("documents have a score for each word and class")
        _check_words(self.scale, self.length, self.present)
        if self.absent.shape != self.present.shape or np.isposinf(self.absent).any() or np.isposinf(self.present).any():
            raise ValueError("the scores of documents do not fit")

    @property
    def columns(self) -> tuple[int, ...]:
        """The one column."""
        return (self.column,)

    def check(self, schema: Schema) -> None:
        """Raises an error unless the column has these words and the target these classes."""
        _check_schema(self.column, self.present, schema)

    def add_scores(self, table: Table, scores: np.ndarray) -> None:
        """Adds each document's scores; a missing document adds nothing."""
        none = np.zeros_like(self.present)
        base, slope = (self.present, none) if self.rule == "binary" else (none, self.present)
        fields = _entries(table.values[self.column], self.scale, self.is_unit)
        _core.add_sparse_amount_scores(*fields, self.absent, base, slope, none + np.inf, 0.0, self.rule, scores)

    def evidence(self, table: Table) -> list[tuple[Evidence, ...]]:
        """For each row the words that tell most, then all others, then the words that are not there."""
        column = table.schema.columns[self.column]
        ledgers = []
        for code, count in _rows(table.values[self.column], self.scale, self.is_unit):
            effect = self.present[code] - self.absent[code] if self.rule == "binary" else count[:, None] * self.present[code]
            lines = _word_lines(column, code, count, effect)
            if self.rule == "binary":
                lines.append(Evidence(column.name, "words that are absent", self.absent.sum(axis=0)))
            ledgers.append(tuple(lines))
        return _unless_missing(ledgers, table.values[self.column], column.name, self.present.shape[1])

    def weights(self) -> np.ndarray:
        """How much each word speaks for each class: [n_words, n_classes]."""
        return _against_others(self.present - self.absent if self.rule == "binary" else self.present, self.scale)

    def summary(self, schema: Schema) -> list[TellingWords]:
        """The words that speak most for each class."""
        return [_telling_words(self.weights(), schema.columns[self.column])]

    def distribution(self, schema: Schema, column: int) -> tuple[list[str], np.ndarray]:
        """The probability (or the weight) of each word in each class."""
        kept = np.flatnonzero(self.scale > 0)
        words = [str(schema.columns[column].levels[k]) for k in kept]
        return words, self.present[kept] if self.rule == "amount" else np.exp(self.present[kept])

    def draw(self, random: np.random.Generator, label: np.ndarray, schema: Schema) -> list[np.ndarray]:
        """A document for each row of a class."""
        column = schema.columns[self.column]
        share = np.exp(self.present) * (self.scale > 0)[:, None]
        if self.rule == "amount":
            raise ValueError(f"column {column.name!r}: complement weights are no probabilities, so rows cannot be drawn")
        if self.rule == "binary":
            return [_drawn_sets(random, label, share, column)]
        return [_drawn_documents(random, label, share, self.length, column)]


class DocumentUrns(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="document_urns"):
    """The exact predictive of a document: its words drawn from an urn that the words before have filled (Pólya)."""

    column: int
    scale: np.ndarray  # [n_words]
    concentration: np.ndarray  # [n_words, n_classes]
    length: np.ndarray  # [n_classes]
    is_unit: bool = False

    def __post_init__(self) -> None:
        check_concentration(self.concentration)
        if len(self.concentration) != len(self.scale):
            raise ValueError("urns have a number for each word and class")
        _check_words(self.scale, self.length, self.concentration)

    @property
    def columns(self) -> tuple[int, ...]:
        """The one column."""
        return (self.column,)

    def check(self, schema: Schema) -> None:
        """Raises an error unless the column has these words and the target these classes."""
        _check_schema(self.column, self.concentration, schema)

    def add_scores(self, table: Table, scores: np.ndarray) -> None:
        """Adds each document's log-probability to its scores; a missing document adds nothing."""
        fields = _entries(table.values[self.column], self.scale, self.is_unit)
        _core.add_sparse_urn_scores(*fields, self.concentration, self.concentration.sum(axis=0), scores)

    def evidence(self, table: Table) -> list[tuple[Evidence, ...]]:
        """For each row the words that tell most, then all others; what the length costs is shared out by count."""
        column = table.schema.columns[self.column]
        n_classes = self.concentration.shape[1]
        ledgers = []
        for code, count in _rows(table.values[self.column], self.scale, self.is_unit):
            effect = np.zeros((len(code), n_classes))
            single = self.concentration[code], count[:, None]
            for k in range(len(code)):
                _core.add_urn_scores(single[1][k : k + 1], single[0][k : k + 1], np.zeros(n_classes), effect[k : k + 1])
            whole = np.zeros((1, n_classes))
            if count.sum() > 0:
                urn = np.ascontiguousarray(self.concentration.sum(axis=0)[None])
                _core.add_urn_scores(np.array([[count.sum()]]), urn, np.zeros(n_classes), whole)
                effect -= count[:, None] / count.sum() * whole
            ledgers.append(tuple(_word_lines(column, code, count, effect)))
        return _unless_missing(ledgers, table.values[self.column], column.name, n_classes)

    def weights(self) -> np.ndarray:
        """How much each word speaks for each class: [n_words, n_classes]."""
        with np.errstate(divide="ignore"):
            return _against_others(np.log(self._shares()), self.scale)

    def summary(self, schema: Schema) -> list[TellingWords]:
        """The words that speak most for each class."""
        return [_telling_words(self.weights(), schema.columns[self.column])]

    def distribution(self, schema: Schema, column: int) -> tuple[list[str], np.ndarray]:
        """The expected share of each word in each class."""
        kept = np.flatnonzero(self.scale > 0)
        return [str(schema.columns[column].levels[k]) for k in kept], self._shares()[kept]

    def draw(self, random: np.random.Generator, label: np.ndarray, schema: Schema) -> list[np.ndarray]:
        """A document for each row of a class."""
        return [_drawn_documents(random, label, self._shares(), self.length, schema.columns[self.column])]

    def _shares(self) -> np.ndarray:
        return self.concentration / self.concentration.sum(axis=0)


class TextEvent:
    """What the events of text columns share."""

    can_subtract = False
    weighs_words: ClassVar[bool] = True  # tf-idf changes what the event sees

    def observe(self, table: Table, group: Group) -> Words | Corpus:
        """Words and documents of each class."""
        (column,) = group.columns
        return (Corpus if self._keeps_documents(table.schema.columns[column]) else Words).of(table, column)

    def check(self, seen: Any, group: Group, schema: Schema) -> None:
        """Raises an error unless the statistic fits this column."""
        column = schema.columns[group.columns[0]]
        if len(group.columns) != 1 or column.kind is not Kind.TEXT:
            raise ValueError("an event of words looks at one text column")
        if not isinstance(seen, Corpus if self._keeps_documents(column) else Words):
            raise ValueError(f"column {column.name!r}: the model keeps other things of its documents")
        seen.check(len(column.levels), len(schema.classes))

    def _keeps_documents(self, column: Column) -> bool:
        return self.weighs_words and _is_unit(column)


class DocumentMultinomial(TextEvent):
    """Documents as sequences of words, with plugged-in shares (N_w + α) / (N + αV)."""

    def derive(
        self, seen: Words | Corpus, group: Group, schema: Schema, estimation: Estimation
    ) -> DocumentLikelihood | DocumentUrns:
        """The log-share of each word that is within the limits."""
        words = _weighed(seen, group, schema, estimation)
        present = np.zeros_like(words.total)
        kept = words.scale > 0
        present[kept] = log_shares(words.total[kept], words.alpha[kept])
        return _likelihood(group, "count", words, present)


class PredictiveDocuments(DocumentMultinomial):
    """Documents as sequences of words; by Bayes the exact Dirichlet–multinomial predictive."""

    def derive(
        self, seen: Words | Corpus, group: Group, schema: Schema, estimation: Estimation
    ) -> DocumentLikelihood | DocumentUrns:
        """An urn for each class, or plugged-in shares by mle and map."""
        if estimation.estimate != "bayes":
            return super().derive(seen, group, schema, estimation)
        words = _weighed(seen, group, schema, estimation)
        concentration = np.where(words.scale[:, None] > 0, words.total + words.alpha[:, None], 0.0)
        if not len(concentration):
            return super().derive(seen, group, schema, estimation)
        return DocumentUrns(group.columns[0], words.scale, open_urns(concentration), words.length, words.is_unit)


class DocumentComplement(TextEvent):
    """Words weighed by how rare they are in all other classes."""

    def derive(self, seen: Words | Corpus, group: Group, schema: Schema, estimation: Estimation) -> DocumentLikelihood:
        """The weight of each word that is within the limits."""
        words = _weighed(seen, group, schema, estimation)
        present = np.zeros_like(words.total)
        kept = words.scale > 0
        present[kept] = complement_weights(words.total[kept], words.alpha[kept], estimation.is_normalised)
        return _likelihood(group, "amount", words, present)


class DocumentBernoulli(TextEvent):
    """Documents as sets of words: the words that are not there count too; (documents + α) / (n + 2α)."""

    weighs_words = False

    def derive(self, seen: Words, group: Group, schema: Schema, estimation: Estimation) -> DocumentLikelihood:
        """The log-probability that each word is there, and that it is not."""
        column = schema.columns[group.columns[0]]
        scale = seen.scale(column.levels, column.text or Text()) > 0
        added = pseudo_counts(estimation, column.name, column.levels)[:, None]
        holding, whole = seen.documents.rounded(), seen.weight.rounded()
        total = whole + 2 * added
        with np.errstate(divide="ignore", invalid="ignore"):
            present = np.log(np.where(total > 0, (holding + added) / total, 0.5))
            absent = np.log(np.where(total > 0, (whole - holding + added) / total, 0.5))
        kept = scale[:, None]
        tables = np.where(kept, absent, 0.0), np.where(kept, present, 0.0)
        return DocumentLikelihood(group.columns[0], "binary", scale.astype(np.float64), *tables, _lengths(seen))


def _likelihood(group: Group, rule: Literal["count", "amount"], words: _Weighed, present: np.ndarray) -> DocumentLikelihood:
    return DocumentLikelihood(
        group.columns[0], rule, words.scale, np.zeros_like(present), present, words.length, words.is_unit
    )


def top_words(weights: np.ndarray, vocabulary: tuple, n: int) -> list[list[str]]:
    """For each class the words that speak most for it."""
    order = np.argsort(-weights, axis=0, kind="stable")[:n]
    return [[str(vocabulary[k]) for k in column if np.isfinite(weights[k, c])] for c, column in enumerate(order.T)]


def _is_unit(column: Column) -> bool:
    """Whether the documents of a column are brought to length 1."""
    options = column.text or Text()
    return options.tfidf and options.norm is not None


class _Weighed(msgspec.Struct, frozen=True):
    """The words of a column as its options weigh them."""

    scale: np.ndarray  # [n_words]
    total: np.ndarray  # [n_words, n_classes], scaled
    alpha: np.ndarray  # [n_words]: pseudo-counts
    length: np.ndarray  # [n_classes]: the mean number of words of a document
    is_unit: bool


def _weighed(seen: Words | Corpus, group: Group, schema: Schema, estimation: Estimation) -> _Weighed:
    column = schema.columns[group.columns[0]]
    words = seen.words if isinstance(seen, Corpus) else seen
    scale = words.scale(column.levels, column.text or Text())
    total = seen.totals(scale) if isinstance(seen, Corpus) else seen.total.rounded() * scale[:, None]
    alpha = pseudo_counts(estimation, column.name, column.levels)
    return _Weighed(scale, total, alpha, _lengths(words), isinstance(seen, Corpus))


def _lengths(seen: Words) -> np.ndarray:
    return seen.total.rounded().sum(axis=0) / np.maximum(seen.weight.rounded()[0], 1e-300)


def _entries(tokens: Tokens, scale: np.ndarray, is_unit: bool) -> tuple[np.ndarray, ...]:
    return tokens.start, tokens.code, weighed(tokens, scale, is_unit), tokens.missing


def _rows(tokens: Tokens, scale: np.ndarray, is_unit: bool) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each row its kept words and their scaled counts."""
    rows = []
    count = weighed(tokens, scale, is_unit)
    for first, last in zip(tokens.start[:-1], tokens.start[1:], strict=True):
        code = tokens.code[first:last]
        kept = scale[code] > 0
        rows.append((code[kept], count[first:last][kept]))
    return rows


def _word_lines(column: Column, code: np.ndarray, count: np.ndarray, effect: np.ndarray) -> list[Evidence]:
    spread = effect.max(axis=1) - effect.min(axis=1) if len(effect) else np.zeros(0)
    order = np.argsort(-np.nan_to_num(spread, nan=np.inf), kind="stable")
    shown, rest = order[:SHOWN_WORDS], order[SHOWN_WORDS:]
    lines = [Evidence(column.name, f"‘{column.levels[code[k]]}’ × {count[k]:g}", effect[k]) for k in shown]
    if len(rest):
        lines.append(Evidence(column.name, f"{len(rest)} other words", effect[rest].sum(axis=0)))
    return lines or [Evidence(column.name, "no known word", np.zeros(effect.shape[1]))]


def _unless_missing(ledgers: list, tokens: Tokens, name: str, n_classes: int) -> list[tuple[Evidence, ...]]:
    missing = (Evidence(name, "missing", np.zeros(n_classes)),)
    return [missing if is_missing else lines for lines, is_missing in zip(ledgers, tokens.missing, strict=True)]


def _against_others(score: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Each class's score less the mean of the other classes'; −∞ for a word that is left out."""
    n_others = max(score.shape[1] - 1, 1)
    finite = np.maximum(score, -1e300)
    others = (finite.sum(axis=1, keepdims=True) - finite) / n_others
    return np.where(scale[:, None] > 0, finite - others if score.shape[1] > 1 else finite, -np.inf)


def _telling_words(weights: np.ndarray, column: Column) -> TellingWords:
    return TellingWords(column.name, tuple(map(tuple, top_words(weights, column.levels, MOST_WORDS))))


def _drawn_documents(
    random: np.random.Generator, label: np.ndarray, share: np.ndarray, length: np.ndarray, column: Column
) -> np.ndarray:
    documents = np.empty(len(label), object)
    for row, c in enumerate(label):
        n_words = random.poisson(min(length[c], 1e6))
        chosen = random.choice(len(share), n_words, p=share[:, c] / share[:, c].sum())
        documents[row] = " ".join(str(column.levels[k]) for k in chosen)
    return documents


def _drawn_sets(random: np.random.Generator, label: np.ndarray, chance: np.ndarray, column: Column) -> np.ndarray:
    documents = np.empty(len(label), object)
    for row, c in enumerate(label):
        chosen = np.flatnonzero(random.random(len(chance)) < chance[:, c])
        documents[row] = " ".join(str(column.levels[k]) for k in chosen)
    return documents


def _check_words(scale: np.ndarray, length: np.ndarray, table: np.ndarray) -> None:
    for array in (scale, length):
        if array.dtype != np.float64 or array.ndim != 1 or not np.isfinite(array).all() or (array < 0).any():
            raise ValueError("scales and lengths of documents are finite and not negative")
    if len(length) != table.shape[1]:
        raise ValueError("documents have a length in each class")


def _check_schema(column: int, table: np.ndarray, schema: Schema) -> None:
    known = schema.columns[column]
    if known.kind is not Kind.TEXT or table.shape != (len(known.levels), len(schema.classes)):
        raise ValueError(f"the likelihood of column {known.name!r} does not fit its words")
