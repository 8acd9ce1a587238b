"""C literals and constant tables of an exported model.

Strings and arrays become ASCII-only literals, so that no name can turn into code. Columns of text need further tables: which
characters belong to words and their lower case (as in the running Python), the vocabulary or hash buckets, and the calls
that count and weight the words of a document. `columns_read` lists the columns that the C function reads in advance.
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
    """C string literal of a text:

    ASCII, octal escapes for all but plain characters, so no digraph, trigraph or quote is left.
    """
    plain = (chr(b) if chr(b) in _PLAIN else f"\\{b:03o}" for b in utf8(text))
    return f'"{"".join(plain)}"'


def utf8(text: str) -> bytes:
    """UTF-8 bytes of a text; lone surrogates are encoded, too."""
    return text.encode("utf-8", "surrogatepass")


def array_of(kind: str, name: str, values: Sequence[str]) -> str:
    """Definition of a constant array; an empty one gets one element, because C has no empty arrays."""
    return f"static const {kind} {name}[{max(len(values), 1)}] = {{{', '.join(values) or '0'}}};"


def listed(names: str, codes: str, texts: Sequence[str], numbers: Sequence[int] | None = None) -> tuple[str, str]:
    """Arrays of texts sorted by their bytes, and of their numbers: their original indices unless `numbers` is given."""
    positions = [position for _, position in sorted((utf8(text), position) for position, text in enumerate(texts))]
    ordered = [literal(texts[position]) for position in positions]
    values = [str(position if numbers is None else numbers[position]) for position in positions]
    return array_of("char *const", names, ordered), array_of("int", codes, values)


_CODE_POINTS = range(0x110000)  # all of Unicode


@cache
def tables() -> str:
    """Constant arrays of Unicode properties: letters, context of a final sigma, and runs of capital letters."""
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
    """Characters that the final-sigma rule skips: the character before them decides whether a capital sigma is final."""
    return _found("a{}\u03a3") - _found(" {}\u03a3")


@cache
def _found(text: str) -> set[int]:
    """Characters after which, inserted into `text`, Python lowercases a capital sigma to a final sigma."""
    before, after = text.split("{}")
    return {c for c in _CODE_POINTS if (before + chr(c) + after).lower().endswith("\u03c2")}


def _ends(codes: set[int]) -> list[int]:
    """Code points at which ranges begin and end, alternating."""
    return sorted(codes ^ {c + 1 for c in codes})


def _runs() -> Iterator[tuple[int, int, int, int]]:
    """Capital letters as runs (first, last, step, offset of the lower case)."""
    lowercase = [(c, chr(c).lower()) for c in _CODE_POINTS]
    changed = [(c, ord(small) - c) for c, small in lowercase if len(small) == 1 and ord(small) != c]
    first, last, step, change = changed[0][0], changed[0][0], 1, changed[0][1]
    for c, offset in changed[1:]:
        distance = c - last
        if offset == change and distance in ((1, 2) if first == last else (step,)):
            last, step = c, distance
            continue
        yield first, last, step, change
        first, last, step, change = c, c, 1, offset
    yield first, last, step, change


SourceParts = tuple[list[str], tuple[str, ...]]  # constant arrays and statements, as lines of source


def counted(bag: Bag, tokens: TokenOptions, position: int, k: int) -> SourceParts:
    """Tables of a bag of words, and the statements that fill the array `s{k}` with the weighted counts of its words."""
    tables, function, extra_arguments = _buckets(bag, tokens.buckets, k) if tokens.buckets else _vocabulary(bag, k)
    stop_arrays = f"model_stops{k}", f"model_stop_codes{k}"
    max_bytes = max((len(utf8(word)) for word in (*tokens.stop_words, *bag.words)), default=0)
    document = (f"row[{position}].text", str(int(tokens.lowercase)), *map(str, tokens.ngrams))
    arguments = (
        *document,
        *stop_arrays,
        str(len(tokens.stop_words)),
        *extra_arguments,
        str(len(bag.words)),
        str(max_bytes),
        f"s{k}",
    )
    weight_call = f"model_weigh(s{k}, model_scale{k}, {len(bag.words)}, {int(bag.is_unit)});"
    return [*tables, *listed(*stop_arrays, tokens.stop_words)], (f"{function}({', '.join(arguments)});", weight_call)


def _vocabulary(bag: Bag, k: int) -> tuple[Sequence[str], str, tuple[str, ...]]:
    names = f"model_words{k}", f"model_places{k}"
    return listed(*names, bag.words), "model_words", names


def _buckets(bag: Bag, n_buckets: int, k: int) -> tuple[Sequence[str], str, tuple[str, ...]]:
    """Hash buckets by their numbers, which are in ascending order."""
    name = f"model_buckets{k}"
    return [array_of("uint32_t", name, [word[1:] for word in bag.words])], "model_hashed_words", (f"{n_buckets}u", name)


def columns_read(formula: Formula) -> frozenset[int]:
    """Indices of the columns that are read before anything is computed; nested tree conditions read numbers from the row."""
    columns_found = {j for j, column in enumerate(formula.columns) if column.domain != "any" or formula.unseen == "error"}
    for record in records(formula):
        match record:
            case Number(j) | Known(j) | Lookup(column=j):
                columns_found.add(j)
            case Matching(columns=columns):
                columns_found.update(columns)
    for nodes in formula.trees:
        tested = {test.column for node in nodes for test in node.tests}
        has_conditions = is_nested(nodes)
        columns_found.update(j for j in tested if not has_conditions or not _is_read_off_the_row(formula.tested[j]))
    columns_found.update(j for weighted_sum in formula.made for j in weighted_sum.columns if formula.columns[j].part)
    return frozenset(columns_found)


def _is_read_off_the_row(column: Input) -> bool:
    return column.kind is Kind.NUMERIC and not column.part
