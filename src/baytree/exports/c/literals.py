"""Texts and arrays as literals of C: ASCII only, so that no name can become code."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters, digits

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
