"""Executors of threads."""

from __future__ import annotations

import threading

import pytest

from ropewalk.tools.workers import processors, threads


def test_there_is_a_processor() -> None:
    assert processors() >= 1


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_as_many_at_once_as_asked_for(jobs: int) -> None:
    """Nobody passes the barrier before all have come to it."""
    barrier = threading.Barrier(jobs, timeout=10)
    with threads(jobs) as pool:
        names = list(pool.map(lambda _: (barrier.wait(), threading.current_thread().name)[1], range(jobs)))
    assert len(set(names)) == jobs
    assert all(name.startswith("ropewalk") for name in names)


def test_one_a_processor_by_default() -> None:
    barrier = threading.Barrier(processors(), timeout=10)
    with threads() as pool:
        assert len(list(pool.map(lambda _: barrier.wait(), range(processors())))) == processors()
