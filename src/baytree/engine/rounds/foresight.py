"""What will be asked of rows, asked of their pieces as they pass, so that nobody has to keep them.

A learner that adds up asks one round. What it asks follows from the schema and the number of rows, and of a large table the
first pieces show the one and the files say the other. So the first pieces, for which there is room, are learnt from as if
they were all; the round that this asks is answered of each later piece while it is at hand. If the table turns out to be as
it was foreseen, the answer is there before the question; if not, the pieces that nobody kept are read once more.
"""

from __future__ import annotations

import pickle  # nosec B403
from collections.abc import Callable
from typing import Any

import msgspec

from baytree import notices
from baytree.engine.elsewhere import Content, Packs, Rehearse, Round
from baytree.engine.sighting import Sighting
from baytree.engine.told import Told, telling, telling_errors
from baytree.table.schema import Schema


class Foreseen:
    """A round that is likely to be asked, and its answer so far, in the order of the pieces."""

    def __init__(self, asked: Round, answer: Told):
        self.asked, self.answer = asked, answer
        self.first = dict(asked.encoding.first)  # how many rows come before each piece, if every row counts

    def seen(self, content: Content, place: str, first: int) -> Told:
        """The answer of one more piece, which stands here among all rows."""
        encoding = msgspec.structs.replace(self.asked.encoding, first={place: first})
        return telling_errors(msgspec.structs.replace(self.asked, encoding=encoding), content)

    def add(self, answer: Told, place: str, first: int) -> None:
        """Adds the answer of the next piece."""
        self.answer = self.answer + answer
        self.first[place] = first

    def is_of(self, work: Callable[[Content], Any]) -> bool:
        """Whether this is the round that was foreseen: the same questions, of the same schema, with rows in these places."""
        return isinstance(work, Round) and work.encoding.first == self.first and _key(work) == _key(self.asked)


def foreseen(rehearse: Rehearse, n_rows: int, packs: Packs, seen: Sighting) -> Foreseen | None:
    """What will be asked of so many rows, by what was seen in the first pieces of them; None where that is not clear.

    It is not where some rows do not count, for then nobody knows the place of a later one, and where more than one round is
    asked, for then the pieces have to be there.
    """
    if seen.n_rows != seen.n_given:
        return None
    rehearsal = _Rehearsal(packs)
    try:
        with notices.keeping():  # all rows may tell something else
            rehearse(rehearsal, msgspec.structs.replace(seen, n_rows=n_rows))
    except (ValueError, TypeError, _Unforeseen):  # of some rows; all of them may be in order
        return None
    return rehearsal.found


class _Unforeseen(Exception):
    """More is asked than one round."""


class _Rehearsal:
    """The first pieces, which remember what was asked of them."""

    def __init__(self, packs: Packs):
        self.packs = packs
        self.found: Foreseen | None = None

    def total(self, work: Callable[[Content], Any]) -> Any:
        if self.found is not None or not isinstance(work, Round):
            raise _Unforeseen
        answer = telling(self.packs.total, work)
        self.found = Foreseen(work, answer)
        return answer.value

    def gather(self, work: Callable[[Content], Any]) -> Any:
        raise _Unforeseen

    def made(self, make: Callable[[Content], bytes]) -> Packs:
        raise _Unforeseen


def _key(work: Round) -> tuple[Schema, bool, bool, bytes]:
    """What two rounds have in common that ask the same; what is told of a table changes no answer."""
    encoding = work.encoding
    schema = msgspec.structs.replace(encoding.schema, notes=())
    return schema, encoding.is_unweighted, encoding.accepts_infinite, _asked(work)


def _asked(work: Round) -> bytes:
    try:
        return pickle.dumps(work.questions)
    except (pickle.PicklingError, AttributeError, TypeError):  # a function without a name is the same as no other
        return str(id(work)).encode()
