"""What a model is, for a person: records of names and numbers. Text, HTML and JSON are printers of them."""

from __future__ import annotations

import msgspec


class Summary(msgspec.Struct, frozen=True):
    """A model in words and numbers: a title, and blocks that follow each other."""

    title: str
    blocks: tuple[msgspec.Struct, ...] = ()
