"""Texts and arrays as literals of C: ASCII only, so that no name can become code.

The characters of words in C: which ones these are and what they are in lower case, as this Python has them.

The words of a document in C: tables of those that count, and the calls that count and weigh them.

Which columns C reads before it computes anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from string import ascii_letters, digits

import numpy as np

from baytree.data.encoding.tokenize import word_characters
from baytree.data.schema.column import Kind
from baytree.exporters.c.trees import is_nested
from baytree.formula import Formula
from baytree.formula.expressions import Bag, Known, Lookup, Matching, Number
from baytree.formula.inputs import Input, TokenOptions
from baytree.formula.transforms import records

_PLAIN = frozenset(ascii_letters + digits + " _-.,()")


def literal(text: str) -> str:
    """A text as a C string: ASCII, in octal where it is not plain; no digraph, trigraph or quote is left."""
    plain = (chr(b) if chr(b) in _PLAIN else f"\\{b:03o}" for b in utf8(text))
    return f'"{"".join(plain)}"'


def utf8(text: str) -> bytes:
    """The bytes of a text, also of half a character."""
    return text.encode("utf-8", "surrogatepass")


def array_of(kind: str, name: str, values: Sequence[str]) -> str:
    """A constant array; C has none without elements."""
    return f"static const {kind} {name}[{max(len(values), 1)}] = {{{', '.join(values) or '0'}}};"


def listed(names: str, codes: str, texts: Sequence[str], numbers: Sequence[int] | None = None) -> tuple[str, str]:
    """Texts in the order of their bytes, and their numbers: the places that they had unless others are given."""
    order = [place for _, place in sorted((utf8(text), place) for place, text in enumerate(texts))]
    ordered = [literal(texts[place]) for place in order]
    values = [str(place if numbers is None else numbers[place]) for place in order]
    return array_of("char *const", names, ordered), array_of("int", codes, values)


_EVERYTHING = range(0x110000)


@cache
def tables() -> str:
    """Constant arrays: letters, what comes before a final sigma, and runs of capital letters."""
    ranges = {"letters": _letters(), "cased": _found(" {}\u03a3") - _ignored(), "ignored": _ignored()}
    lines = [_array(f"uint32_t model_{name}", "", map(str, _ends(codes))) for name, codes in ranges.items()]
    runs = ("{" + ", ".join(map(str, run)) + "}" for run in _runs())
    return "\n".join([*lines, _array("int32_t model_lowered", "[4]", runs)])


def _array(name: str, inner: str, values: Iterator[str]) -> str:
    return f"static const {name}[]{inner} = {{{', '.join(values)}}};"


def _letters() -> set[int]:
    return set(np.flatnonzero(np.unpackbits(word_characters(), bitorder="little")).tolist())


@cache
def _ignored() -> set[int]:
    """Characters that a capital sigma does not see: one before them decides whether it is final."""
    return _found("a{}\u03a3") - _found(" {}\u03a3")


@cache
def _found(text: str) -> set[int]:
    """The characters after which, in a text, Python writes a final sigma."""
    before, after = text.split("{}")
    return {c for c in _EVERYTHING if (before + chr(c) + after).lower().endswith("\u03c2")}


def _ends(codes: set[int]) -> list[int]:
    """The code points at which ranges begin and end, in turn."""
    return sorted(codes ^ {c + 1 for c in codes})


def _runs() -> Iterator[tuple[int, int, int, int]]:
    """Capital letters in runs: the first, the last, the step from one to the next, and how far away their lower case is."""
    lowered = [(c, chr(c).lower()) for c in _EVERYTHING]
    moved = [(c, ord(small) - c) for c, small in lowered if len(small) == 1 and ord(small) != c]
    first, last, step, change = moved[0][0], moved[0][0], 1, moved[0][1]
    for c, by in moved[1:]:
        gap = c - last
        if by == change and gap in ((1, 2) if first == last else (step,)):
            last, step = c, gap
            continue
        yield first, last, step, change
        first, last, step, change = c, c, 1, by
    yield first, last, step, change


Told = tuple[list[str], tuple[str, ...]]  # lines of source


def counted(bag: Bag, tokens: TokenOptions, place: int, k: int) -> Told:
    """The tables of a bag, and the statements that fill the array `s{k}` with the amounts of its words."""
    tables, function, told = _buckets(bag, tokens.buckets, k) if tokens.buckets else _vocabulary(bag, k)
    stops = f"model_stops{k}", f"model_stop_codes{k}"
    most = max((len(utf8(word)) for word in (*tokens.stop_words, *bag.words)), default=0)
    document = (f"row[{place}].text", str(int(tokens.lowercase)), *map(str, tokens.ngrams))
    asked = (*document, *stops, str(len(tokens.stop_words)), *told, str(len(bag.words)), str(most), f"s{k}")
    weighed = f"model_weigh(s{k}, model_scale{k}, {len(bag.words)}, {int(bag.is_unit)});"
    return [*tables, *listed(*stops, tokens.stop_words)], (f"{function}({', '.join(asked)});", weighed)


def _vocabulary(bag: Bag, k: int) -> tuple[Sequence[str], str, tuple[str, ...]]:
    names = f"model_words{k}", f"model_places{k}"
    return listed(*names, bag.words), "model_words", names


def _buckets(bag: Bag, n_buckets: int, k: int) -> tuple[Sequence[str], str, tuple[str, ...]]:
    """Buckets by their numbers, which ascend."""
    name = f"model_buckets{k}"
    return [array_of("uint32_t", name, [word[1:] for word in bag.words])], "model_hashed_words", (f"{n_buckets}u", name)


def columns_read(formula: Formula) -> frozenset[int]:
    """The columns that are read before anything is computed; conditions of trees read numbers themselves."""
    found = {j for j, column in enumerate(formula.columns) if column.domain != "any" or formula.unseen == "error"}
    for record in records(formula):
        match record:
            case Number(j) | Known(j) | Lookup(column=j):
                found.add(j)
            case Matching(columns=columns):
                found.update(columns)
    for nodes in formula.trees:
        tested = {test.column for node in nodes for test in node.tests}
        has_conditions = is_nested(nodes)
        found.update(j for j in tested if not has_conditions or not _is_read_off_the_row(formula.tested[j]))
    found.update(j for made in formula.made for j in made.columns if formula.columns[j].part)
    return frozenset(found)


def _is_read_off_the_row(column: Input) -> bool:
    return column.kind is Kind.NUMERIC and not column.part
