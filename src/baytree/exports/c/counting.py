"""The words of a document in C: tables of those that count, and the calls that count and weigh them."""

from __future__ import annotations

from collections.abc import Sequence

from baytree.exports.c.literals import array_of, listed, utf8
from baytree.formula.expressions import Bag
from baytree.formula.inputs import Tokens

Told = tuple[list[str], tuple[str, ...]]  # lines of source


def counted(bag: Bag, tokens: Tokens, place: int, k: int) -> Told:
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
