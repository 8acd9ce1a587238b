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
MAX_BATCH_ROWS = MAX_FEW_ROWS


class _PendingRequest(NamedTuple):
    columns: Columns
    future: asyncio.Future[dict[str, Any]]


class BatchQueue:
    """Requests that wait for the end of the current turn of the event loop, by model version.

    Only requests whose values do not depend on other rows are joined.
    """

    def __init__(self) -> None:
        self._pending: dict[Served, list[_PendingRequest]] = {}

    async def predict(self, served: Served, columns: Columns) -> dict[str, Any]:
        """Return the predictions of these rows, possibly computed together with other requests."""
        if not 0 < columns.n_rows <= MAX_BATCH_ROWS or not served.required.is_rowwise(columns):
            return predict_now(served, columns)
        loop = asyncio.get_running_loop()
        pending = self._pending.setdefault(served, [])
        if pending and sum(request.columns.n_rows for request in pending) + columns.n_rows > MAX_BATCH_ROWS:
            self._answer(served)
            pending = self._pending.setdefault(served, [])
        if not pending:
            loop.call_soon(self._answer, served)
        pending.append(_PendingRequest(columns, loop.create_future()))
        return await pending[-1].future

    def _answer(self, served: Served) -> None:
        requests = self._pending.pop(served, [])
        if len(requests) == 1 or not _answer_batch(served, requests):
            for request in requests:
                _answer_one(served, request)


def _answer_one(served: Served, request: _PendingRequest) -> None:
    if request.future.done():  # the client has disconnected
        return
    try:
        request.future.set_result(predict_now(served, request.columns))
    except Exception as error:
        request.future.set_exception(error)


def _answer_batch(served: Served, requests: list[_PendingRequest]) -> bool:
    """Try to answer all in one call; return False if it fails, since one bad request must not fail the others."""
    try:
        results = predict_now(served, joined([request.columns for request in requests]))
    except Exception:
        return False
    first = 0
    for request in requests:
        last = first + request.columns.n_rows
        if not request.future.done():
            request.future.set_result({name: values[first:last] for name, values in results.items()})
        first = last
    return True


def predict_now(served: Served, columns: Columns) -> dict[str, Any]:
    """Return the predictions of these rows, computed now."""
    frame = from_json(served.required, columns)
    table = encoded(served.predictor, frame) if frame.n_rows else None
    served.drift_monitor.add_few(columns, frame)
    return predictions(served, table)
