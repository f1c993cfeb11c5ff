"""What a level of verification is asked, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from ropewalk.finding import Finding, Level, has_errors

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

UNREACHABLE = "upstream/unreachable"
"""The rule that says nothing of a repository but that it did not answer."""


class Word(StrEnum):
    """The verdict on a source, or on a part of one.

    *holds* and *fails* are for what can be seen here; *unknown* for what could not be looked at; the others say what
    became of it upstream.
    """

    HOLDS = "holds"
    FAILS = "fails"
    UNKNOWN = "unknown"
    OK = "ok"
    ADVANCED = "advanced"
    REWRITTEN = "rewritten"
    TAG_MOVED = "tag moved"
    REF_GONE = "ref gone"
    COMMIT_GONE = "commit gone"
    REPOSITORY_GONE = "repository gone"
    IMPOSTER = "on no branch"


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What a level says of a source; `part` is the origin of a patch or the path of a submodule, empty for the source.

    `commit` is what was frozen and `now` what its ref is at, both empty where the level does not ask for them.
    """

    source: str
    part: str = ""
    word: Word
    ref: str = ""
    commit: str = ""
    now: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Verified:
    """What one level of verification found."""

    level: str
    verdicts: tuple[Verdict, ...]
    findings: tuple[Finding, ...]

    @property
    def holds(self) -> bool:
        """Whether there is no error."""
        return not has_errors(self.findings)

    @property
    def undecided(self) -> bool:
        """Whether nothing stands against it but that somebody did not answer."""
        errors = [finding for finding in self.findings if finding.level is Level.ERROR]
        return bool(errors) and all(finding.rule == UNREACHABLE for finding in errors)


@dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """What is verified, and with what."""

    lock: Path
    cache: Path
    manifest: Path | None = None


def verdicts_by_source(names: Iterable[str], findings: Iterable[Finding]) -> tuple[Verdict, ...]:
    """Return for each source whether an error stands against it; a finding's subject is its source."""
    failing = {finding.subject for finding in findings if finding.level is Level.ERROR}
    return tuple(Verdict(source=name, word=Word.FAILS if name in failing else Word.HOLDS) for name in names)
