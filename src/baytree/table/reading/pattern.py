"""Regular expressions that are compiled when they are first asked: who loads a model to answer a row needs few of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property


class Pattern:
    """As `re.compile` gives it, later; each way to ask is kept, so that asking again costs no more.

    >>> Pattern(r"a+").fullmatch("aa").group()
    'aa'
    """

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        return re.compile(self.text)

    @cached_property
    def fullmatch(self) -> Callable[[str], re.Match[str] | None]:
        return self.compiled.fullmatch

    @cached_property
    def search(self) -> Callable[[str], re.Match[str] | None]:
        return self.compiled.search

    @cached_property
    def sub(self) -> Callable[[str, str], str]:
        return self.compiled.sub
