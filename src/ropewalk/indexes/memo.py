"""Answers that are worked out once, whichever thread asks first."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Generic, TypeVar

from ropewalk.errors import UsageError
from ropewalk.indexes.values import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

Key = TypeVar("Key", bound="Hashable")
Value = TypeVar("Value")

_LASTING = (UnreadableError, UsageError)
"""Failures that are answers; after any other, the next who asks tries again."""


class Memo(Generic[Key, Value]):
    """A function whose answers are kept. Who asks for one that is being worked out waits for it."""

    def __init__(self, make: Callable[[Key], Value]) -> None:
        self._make = make
        self._answers: dict[Key, Future[Value]] = {}
        self._lock = threading.Lock()

    def __call__(self, key: Key) -> Value:
        """Return the answer, or raise what working it out raised."""
        new: Future[Value] = Future()
        with self._lock:
            answer = self._answers.setdefault(key, new)
        if answer is new:
            self._work_out(key, answer)
        fault = answer.exception()
        if fault is not None:
            # It is raised once for each who asks, and each time adds to what it says of where it was raised.
            raise fault.with_traceback(None)
        return answer.result()

    def _work_out(self, key: Key, answer: Future[Value]) -> None:
        try:
            answer.set_result(self._make(key))
        except BaseException as error:
            if not isinstance(error, _LASTING):
                with self._lock:
                    del self._answers[key]
            answer.set_exception(error)
            if not isinstance(error, Exception):
                raise
