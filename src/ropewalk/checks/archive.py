"""The zip archive: the strict reader's rules, and the checksum, sizes and deflate stream of every member."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ropewalk.checks.check import Scanner, Subject
    from ropewalk.finding import Collector
    from ropewalk.wheels.archive import Member


class WholeData:
    """Has every member read to its end; whoever reads it reports what is damaged."""

    def scanner(self, member: Member) -> Scanner | None:  # noqa: ARG002 - every member alike
        """Return what sees a member's content."""
        return _Reader()

    def judge(self, found: Collector) -> None:
        """Nothing is left to say."""


class _Reader:
    """Sees that the data are read, and nothing else."""

    def feed(self, piece: bytes) -> None:
        """Take a piece."""

    def finish(self, *, whole: bool) -> None:
        """Take note of the end."""


def start(subject: Subject) -> WholeData:  # noqa: ARG001 - every archive alike
    """Return the check of an archive."""
    return WholeData()
