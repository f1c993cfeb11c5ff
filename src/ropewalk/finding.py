"""What a rule has to say about a wheel, as a value."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

LONGEST_QUOTE = 200
"""Characters of an input that are quoted in a message."""


class Level(StrEnum):
    """How much a finding weighs: an error stops a release, the others inform."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One statement of one rule.

    `rule` is `room/name`, for example `archive/duplicate-member`; `subject` is what was looked at (a wheel's
    file name, a component, a manifest's path), `member` the archive member or key inside it, empty where the
    rule speaks of the whole.
    """

    rule: str
    message: str
    subject: str = ""
    member: str = ""
    level: Level = Level.ERROR
    hint: str = ""

    def __str__(self) -> str:
        place = ": ".join(part for part in (self.subject, self.member) if part)
        return f"{place}: {self.message} [{self.rule}]" if place else f"{self.message} [{self.rule}]"


def cut(text: str) -> str:
    """Return a text as a message can hold it."""
    return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}…"


def has_errors(findings: tuple[Finding, ...] | list[Finding]) -> bool:
    """Whether one of the findings is an error."""
    return any(finding.level is Level.ERROR for finding in findings)


class Collector:
    """Gathers findings about one subject, so that one run names every fault."""

    def __init__(self, subject: str) -> None:
        self.subject = subject
        self.findings: list[Finding] = []

    def error(self, rule: str, message: str, *, member: str = "", hint: str = "") -> None:
        """Add an error."""
        self._add(Level.ERROR, rule, message, member, hint)

    def warning(self, rule: str, message: str, *, member: str = "", hint: str = "") -> None:
        """Add a warning."""
        self._add(Level.WARNING, rule, message, member, hint)

    def note(self, rule: str, message: str, *, member: str = "", hint: str = "") -> None:
        """Add a note."""
        self._add(Level.NOTE, rule, message, member, hint)

    def _add(self, level: Level, rule: str, message: str, member: str, hint: str) -> None:
        self.findings.append(
            Finding(rule=rule, message=message, subject=self.subject, member=member, level=level, hint=hint)
        )
