"""Where work fans out: executors of `concurrent.futures`."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor


def processors() -> int:
    """How many processors this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads(jobs: int | None = None) -> ThreadPoolExecutor:
    """Return an executor of `jobs` threads, one a processor by default."""
    return ThreadPoolExecutor(max_workers=jobs or processors(), thread_name_prefix="ropewalk")
