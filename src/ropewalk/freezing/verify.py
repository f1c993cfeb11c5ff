"""Whether a frozen state still holds: by itself, upstream, and on this machine. No level implies another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ropewalk.freezing.verify_lint import lint
from ropewalk.freezing.verify_sources import verify_sources
from ropewalk.freezing.verify_upstream import verify_upstream
from ropewalk.freezing.verify_values import Work

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from ropewalk.freezing.verify_values import Verified


def verify(level: str, *, lock: Path, cache: Path, manifest: Path | None = None) -> Verified:
    """Verify a lock folder at one level: `lint`, `upstream` or `sources`.

    Only `lint` looks at the manifest, where there is one, and says of a lock that cannot be read what is wrong with it.

    Raises:
        UsageError: the lock cannot be read.
        IntegrityError: its parts are not what it says they are.
    """
    return LEVELS[level](Work(lock=lock, cache=cache, manifest=manifest))


LEVELS: Mapping[str, Callable[[Work], Verified]] = {
    "lint": lint,
    "upstream": verify_upstream,
    "sources": verify_sources,
}
"""The levels of verification."""
