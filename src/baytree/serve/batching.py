"""Micro-batching: requests that arrive in the same turn of the event loop are predicted in one call of the model."""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

from baytree.data.frames.raw import MAX_FEW_ROWS
from baytree.serve.cell_values import from_json
from baytree.serve.json_body import Columns, joined
from baytree.serve.models import Served
from baytree.serve.request_body import encoded
from baytree.serve.responses import predictions

# rows predicted in one call: with more, matrix products may round a row differently depending on the others
MOST_ROWS = MAX_FEW_ROWS


class _Waiting(NamedTuple):
    columns: Columns
    answer: asyncio.Future[dict[str, Any]]


class BatchQueue:
    """Requests that wait for the end of the current turn of the event loop, by model version.

    Only requests whose values do not depend on other rows are joined.
    """

    def __init__(self) -> None:
        self._waiting: dict[Served, list[_Waiting]] = {}

    async def predicted(self, served: Served, columns: Columns) -> dict[str, Any]:
        """Return the predictions of these rows, possibly computed together with other requests."""
        if not 0 < columns.n_rows <= MOST_ROWS or not served.wanted.is_rowwise(columns):
            return predicted(served, columns)
        loop = asyncio.get_running_loop()
        waiting = self._waiting.setdefault(served, [])
        if waiting and sum(each.columns.n_rows for each in waiting) + columns.n_rows > MOST_ROWS:
            self._answer(served)
            waiting = self._waiting.setdefault(served, [])
        if not waiting:
            loop.call_soon(self._answer, served)
        waiting.append(_Waiting(columns, loop.create_future()))
        return await waiting[-1].answer

    def _answer(self, served: Served) -> None:
        waiting = self._waiting.pop(served, [])
        if len(waiting) == 1 or not _answer_together(served, waiting):
            for each in waiting:
                _answer_alone(served, each)


def _answer_alone(served: Served, waiting: _Waiting) -> None:
    if waiting.answer.done():  # the client has disconnected
        return
    try:
        waiting.answer.set_result(predicted(served, waiting.columns))
    except Exception as error:
        waiting.answer.set_exception(error)


def _answer_together(served: Served, waiting: list[_Waiting]) -> bool:
    """Try to answer all in one call; return False if it fails, since one bad request must not fail the others."""
    try:
        results = predicted(served, joined([each.columns for each in waiting]))
    except Exception:
        return False
    first = 0
    for each in waiting:
        last = first + each.columns.n_rows
        if not each.answer.done():
            each.answer.set_result({name: values[first:last] for name, values in results.items()})
        first = last
    return True


def predicted(served: Served, columns: Columns) -> dict[str, Any]:
    """Return the predictions of these rows, computed now."""
    frame = from_json(served.wanted, columns)
    table = encoded(served.predictor, frame) if frame.n_rows else None
    served.watch.see(columns, frame)
    return predictions(served, table)
