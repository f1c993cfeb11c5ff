"""Findings and failures as plain text, readable without colour."""

from __future__ import annotations

import unicodedata
from collections import Counter
from typing import TYPE_CHECKING

from ropewalk.finding import Level

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ropewalk.checks.run import Report
    from ropewalk.errors import RopewalkError
    from ropewalk.finding import Finding

_ORDER = {Level.ERROR: 0, Level.WARNING: 1, Level.NOTE: 2}


def visible(text: str) -> str:
    """Return a text in which everything that a terminal would obey rather than show is written out.

    Names in archives and manifests are anybody's: control characters move the cursor, and characters that change
    the direction of writing make a name look like another.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character
        if character == "\n" or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
        else ascii(character)[1:-1]
        for character in text
    )


def render_findings(findings: Iterable[Finding]) -> str:
    """Return findings by what they speak of, the heaviest first; a hint is given once for findings in a row."""
    in_order = sorted(findings, key=lambda finding: (finding.subject, _ORDER[finding.level], finding.rule))
    lines = []
    subject, hint = None, ""
    for at, finding in enumerate(in_order):
        if finding.subject != subject:
            subject = finding.subject
            lines.append(visible(f"{subject}:\n") if subject else "")
        following = in_order[at + 1] if at + 1 < len(in_order) else None
        hint = finding.hint
        again = following is not None and (following.subject, following.rule, following.hint) == (
            finding.subject,
            finding.rule,
            hint,
        )
        place = f"{finding.member}: " if finding.member else ""
        indent = "  " if subject else ""
        lines.append(visible(f"{indent}{finding.level.value}: {place}{finding.message} [{finding.rule}]\n"))
        if hint and not again:
            lines.append(visible(f"{indent}  hint: {hint}\n"))
    return "".join(lines)


def render_error(error: RopewalkError) -> str:
    """Return a failure: what failed, every single fault, and what to do about it."""
    text = visible(f"error: {error.message}\n")
    text += render_findings(error.findings)
    return text + (visible(f"hint: {error.hint}\n") if error.hint else "")


def render_report(report: Report) -> str:
    """Return what the checks found in a wheel, its verdict last."""
    counts = Counter(finding.level for finding in report.findings)
    listed = [f"{counts[level]} {level.value}{'s' * (counts[level] != 1)}" for level in _ORDER if counts[level]]
    verdict = "passed" if report.passed else "failed"
    ending = f"{report.file}: {verdict} {', '.join(report.checks)}" + (f" ({', '.join(listed)})" if listed else "")
    return render_findings(report.findings) + visible(f"{ending}\n")
