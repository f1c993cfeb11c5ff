"""What a check is: it may look at the members while they are read, and judges when all have been."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ropewalk.finding import Collector
    from ropewalk.wheels.archive import Archive, Member
    from ropewalk.wheels.record import Row
    from ropewalk.wheels.wheel import Wheel


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """A wheel under check, as far as the strict reader could make it out.

    `wheel` is None where METADATA or WHEEL say nothing sure. `record` holds the rows of RECORD that could be read.
    `home` is the home folder of whoever runs the check.
    """

    archive: Archive
    wheel: Wheel | None = None
    record: Mapping[str, Row] = field(default_factory=dict, repr=False)
    home: str = ""


class Scanner(Protocol):
    """Looks at the content of one member. It is used by one thread at a time and keeps no more than it needs."""

    def feed(self, piece: bytes) -> None:
        """Take the next piece of the content; pieces have any length."""

    def finish(self, *, whole: bool) -> None:
        """Take note of the end; `whole` says that all of the content came, and is what the archive says."""


class Check(Protocol):
    """One check of one wheel."""

    def scanner(self, member: Member) -> Scanner | None:
        """Return what is to see a member's content, None where it does not matter. Called once for each member."""

    def judge(self, found: Collector) -> None:
        """Say what is wrong; every scanner has seen its member by now."""


class CheckModule(Protocol):
    """What a module of this package offers where it is named in `CHECKS`."""

    def start(self, subject: Subject) -> Check | None:
        """Return the check of a wheel, None where too little is known of the wheel."""


@dataclass(frozen=True, slots=True)
class Rules:
    """A check that needs no member's content: rules over the wheel as the strict reader gives it."""

    wheel: Wheel
    rules: tuple[Callable[[Wheel, Collector], None], ...]

    def scanner(self, member: Member) -> Scanner | None:  # noqa: ARG002 - rules look at no member
        """Return None: no content matters."""
        return None

    def judge(self, found: Collector) -> None:
        """Apply one rule after the other."""
        for rule in self.rules:
            rule(self.wheel, found)


def and_more(first: str, count: int) -> str:
    """Return the first of several as code, with the number of the others."""
    return f"`{first}`" if count == 1 else f"`{first}` and {count - 1} more"
