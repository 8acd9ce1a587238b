"""The words of a text column as features."""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.linear.design.array_checks import check_floats
from baytree.table.table import Tokens
from baytree.table.text.bags import weighed


class Words(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="words"):
    """The weights of a text column's words: a row's features are count · idf, divided by the length of that vector."""

    column: int
    idf: np.ndarray  # float64 [n_words]; 0 for a word outside the limits on documents
    is_unit: bool = True  # otherwise not divided

    def __post_init__(self) -> None:
        check_floats("words", idf=self.idf)

    def weigh(self, tokens: Tokens) -> np.ndarray:
        """The tf-idf weight of each entry. [n_entries]"""
        return weighed(tokens, self.idf, self.is_unit)
