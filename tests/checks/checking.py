"""What the tests of checks share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ropewalk.checks.run import check

if TYPE_CHECKING:
    from pathlib import Path


def said(path: Path, *only: str) -> list[str]:
    """Return what the checks say of a wheel, a line each: level, member, message, rule."""
    return [
        f"{finding.level}: {finding.member + ': ' if finding.member else ''}{finding.message} [{finding.rule}]"
        for finding in check(path, only=only).findings
    ]


def hints(path: Path, *only: str) -> list[str]:
    """Return the hints that the checks give for a wheel, in the same order."""
    return [finding.hint for finding in check(path, only=only).findings]
