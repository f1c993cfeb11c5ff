"""RECORD: the strict reader's rules, and the hash of every file (PEP 376)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ropewalk.checks.check import Subject
    from ropewalk.finding import Collector
    from ropewalk.wheels.archive import Member
    from ropewalk.wheels.record import Row


class _Hash:
    """The hash of one member, held against its row."""

    def __init__(self, row: Row) -> None:
        self.row = row
        self.holds: bool | None = None
        self._hash = hashlib.new(row.algorithm)

    def feed(self, piece: bytes) -> None:
        """Hash a piece."""
        self._hash.update(piece)

    def finish(self, *, whole: bool) -> None:
        """Compare; what is damaged is no matter of RECORD."""
        self.holds = self._hash.digest() == self.row.digest if whole else None


@dataclass(frozen=True, slots=True)
class TrueHashes:
    """Every member that RECORD lists has the hash that RECORD states."""

    record: Mapping[str, Row]
    hashes: list[_Hash] = field(default_factory=list)

    def scanner(self, member: Member) -> _Hash | None:
        """Return what hashes a member."""
        row = self.record.get(member.name)
        if row is None:
            return None
        self.hashes.append(_Hash(row))
        return self.hashes[-1]

    def judge(self, found: Collector) -> None:
        """Name the members whose hash is another one."""
        for one in self.hashes:
            if one.holds is False:
                found.error(
                    "record/hash",
                    f"its {one.row.algorithm} is not the one in RECORD",
                    member=one.row.path,
                    hint="it was changed after the wheel was built: build the wheel again",
                )


def start(subject: Subject) -> TrueHashes:
    """Return the check of an archive and its RECORD."""
    return TrueHashes(subject.record)
