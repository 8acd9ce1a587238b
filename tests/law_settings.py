"""`settings` of Hypothesis whose laws try few examples in the fast suite."""

from typing import Any

import hypothesis

FEW = 5  # examples of a law in the fast suite; `make test` tries as many as the law asks for
_limit = {"max_examples": 1 << 30}


def try_few_examples() -> None:
    """Limits the examples of every law that is defined from now on."""
    _limit["max_examples"] = FEW
    hypothesis.settings.register_profile("few examples", hypothesis.settings(), max_examples=FEW)
    hypothesis.settings.load_profile("few examples")


def settings(*, max_examples: int = 100, **others: Any) -> hypothesis.settings:
    """Settings of a law, with at most as many examples as this run of the suite tries."""
    return hypothesis.settings(max_examples=min(max_examples, _limit["max_examples"]), **others)
