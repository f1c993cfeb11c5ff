"""Reports and failures as plain text that reads well without colour.

Names in archives and manifests are anybody's, so everything that comes from outside is shown with its control
characters written out: none of it can move the cursor, change colours or begin a line of its own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ropewalk.finding import Finding, Level

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ropewalk.checks.run import Report
    from ropewalk.errors import RopewalkError

SHOWN_OF_A_KIND = 5
"""Warnings or notes of one rule about one subject that are shown; the rest is counted. Errors are all shown."""

_ORDER = {Level.ERROR: 0, Level.WARNING: 1, Level.NOTE: 2}
_COLOURS = {"error": "\x1b[1;31m", "warning": "\x1b[1;33m", "note": "\x1b[1;34m", "hint": "\x1b[1;36m", "": "\x1b[1m"}
_PLAIN = "\x1b[0m"


def visible(text: str) -> str:
    r"""Return lines of text in which all that a terminal would obey rather than show is written out: `\x1b`.

    That is every character but line ends that Python does not call printable: controls, changes of the direction of
    writing, marks without width, halves of surrogate pairs, and spaces that are not one.
    """
    return "\n".join(map(one_line, text.split("\n")))


def one_line(text: str) -> str:
    """Return the same of a text that must not begin a line of its own: line ends are written out as well."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)


def render_report(report: Report, *, colour: bool = False) -> str:
    """Return a report of checks: the file, what was found in it, and the verdict."""
    known = f"{report.name} {report.version}" if report.name else "not a wheel that can be read"
    lines = [_painted("", one_line(report.file), colour=colour) + one_line(f" ({known})")]
    for finding, text in _shown(report.findings):
        lines += ["  " + line for line in _finding_lines(finding, text, colour=colour)]
    return "\n".join([*lines, "  " + _verdict(report)]) + "\n"


def _verdict(report: Report) -> str:
    counts = [(level, sum(finding.level is level for finding in report.findings)) for level in Level]
    found = ", ".join(f"{count} {level}{'s' if count > 1 else ''}" for level, count in counts if count)
    verdict = "passed" if report.passed else "failed"
    checks = ", ".join(report.checks) or "none could be run"
    return f"{verdict}{f': {found}' if found else ''} (checks: {checks})"


def render_findings(findings: Iterable[Finding], *, colour: bool = False) -> str:
    """Return findings, grouped by what they speak of, the heaviest first."""
    return "".join(f"{line}\n" for line in _by_subject(findings, colour=colour))


def _by_subject(findings: Iterable[Finding], *, colour: bool) -> Iterator[str]:
    subject = ""
    for finding, text in _shown(findings):
        if finding.subject != subject:
            subject = finding.subject
            yield _painted("", f"{one_line(subject)}:", colour=colour)
        yield from ("  " + line for line in _finding_lines(finding, text, colour=colour))


def render_error(error: RopewalkError, *, colour: bool = False) -> str:
    """Return a failure: what failed, every single fault on a line of its own, and what to do about it."""
    first, *more = error.message.split("\n")
    lines = [f"{_painted('error', 'error', colour=colour)}: {one_line(first)}"]
    lines += [f"  | {one_line(line)}" for line in more]
    lines += _by_subject(error.findings, colour=colour)
    if error.hint:
        lines.append(f"{_painted('hint', 'hint', colour=colour)}: {one_line(error.hint)}")
    return "\n".join(lines) + "\n"


def _shown(findings: Iterable[Finding]) -> Iterator[tuple[Finding, str]]:
    """Yield findings in order, each with its text; many of one kind end with their number."""
    kinds: dict[tuple[str, Level, str], list[Finding]] = {}
    for finding in sorted(findings, key=lambda finding: (finding.subject, _ORDER[finding.level], finding.rule)):
        kinds.setdefault((finding.subject, finding.level, finding.rule), []).append(finding)
    for (_, level, rule), group in kinds.items():
        # One more than is shown would only be traded for the line that counts it.
        is_short = level is Level.ERROR or len(group) <= SHOWN_OF_A_KIND + 1
        shown = group if is_short else group[:SHOWN_OF_A_KIND]
        for at, finding in enumerate(shown):
            place = f"{finding.member}: " if finding.member else ""
            # A hint that the next finding repeats is given there.
            hint = "" if at + 1 < len(shown) and shown[at + 1].hint == finding.hint else finding.hint
            yield replace(finding, hint=hint), f"{place}{finding.message} [{rule}]"
        if len(shown) < len(group):
            yield replace(group[-1], hint=""), f"and {len(group) - len(shown)} more like these [{rule}]"


def _finding_lines(finding: Finding, text: str, *, colour: bool) -> list[str]:
    lines = [f"{_painted(finding.level, finding.level, colour=colour)}: {one_line(text)}"]
    if finding.hint:
        lines.append(f"  {_painted('hint', 'hint', colour=colour)}: {one_line(finding.hint)}")
    return lines


def _painted(kind: str, text: str, *, colour: bool) -> str:
    return f"{_COLOURS[kind]}{text}{_PLAIN}" if colour else str(text)
