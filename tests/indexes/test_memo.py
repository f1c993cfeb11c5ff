from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from ropewalk.errors import ToolError, UsageError
from ropewalk.indexes.memo import Memo
from ropewalk.indexes.values import UnreadableError


def test_an_answer_is_worked_out_once() -> None:
    made = []
    gate = threading.Event()

    def make(key: int) -> int:
        made.append(key)
        gate.wait(5)
        return key * 2

    memo = Memo(make)
    with ThreadPoolExecutor(8) as pool:
        answers = [pool.submit(memo, 3) for _ in range(8)]
        gate.set()
        assert {answer.result() for answer in answers} == {6}
    assert made == [3]


@pytest.mark.parametrize(("kind", "times"), [(UnreadableError, 1), (UsageError, 1), (ToolError, 3)])
def test_a_failure_is_an_answer_where_it_lasts(kind: type[Exception], times: int) -> None:
    made = []

    def make(key: int) -> int:
        made.append(key)
        raise kind("no")

    memo = Memo(make)
    for _ in range(3):
        with pytest.raises(kind, match="no"):
            memo(1)
    assert len(made) == times
