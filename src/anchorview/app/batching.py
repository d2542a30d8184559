"""Requests that come together are answered together: a model labels a hundred rows in little more time than one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from starlette.concurrency import run_in_threadpool

MOST_TOGETHER = 64  # requests of one batch


class Batcher:
    """Calls a function with all requests that wait; nobody waits for others to come.

    Parameters
    ----------
    work : callable
        Takes a list of requests, returns a list of answers; an answer that is an exception is raised to who asked.
    """

    def __init__(self, work: Callable[[list[Any]], Sequence[Any]]) -> None:
        self._work = work
        self._waiting: list[tuple[Any, asyncio.Future[Any]]] = []
        self._task: asyncio.Task[None] | None = None

    async def ask(self, request: Any) -> Any:
        """Return the answer to a request."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, answer))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        return await answer

    async def _run(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:MOST_TOGETHER], self._waiting[MOST_TOGETHER:]
            try:
                answers = await run_in_threadpool(self._work, [request for request, _ in batch])
            except Exception as error:
                answers = [error] * len(batch)
            for (_, future), answer in zip(batch, answers, strict=True):
                if future.done():  # who asked has gone
                    continue
                if isinstance(answer, Exception):
                    future.set_exception(answer)
                else:
                    future.set_result(answer)
