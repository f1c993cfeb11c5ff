"""The difference between two states in Markdown, fit for the body of a pull request.

A forge looks for mentions, references to issues and words that close them in all text but code, even where Markdown
escapes it. So whatever comes from a repository is written as code.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ropewalk.report.diff import counted, details, headline
from ropewalk.report.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ropewalk.lock.diff import SourceDiff, StateDiff

MOST = 60_000
"""Characters of a body; the forges with the lowest limit take 65,536."""

_PLAIN = re.compile(r"[A-Za-z0-9 ,:>-]*")


def code(text: str) -> str:
    """Return a text as inline code, on one line."""
    plain = visible(" ".join(text.split()))
    fence = "`" * (_longest_run(plain) + 1)
    pad = " " if plain[:1] == "`" or plain[-1:] == "`" else ""
    return f"{fence}{pad}{plain}{pad}{fence}" if plain else ""


def block(lines: Iterable[str]) -> list[str]:
    """Return lines as a block of code that none of them can end."""
    shown = [visible(" ".join(line.splitlines())) for line in lines]
    fence = "`" * max(3, max(map(_longest_run, shown), default=0) + 1)
    return [f"{fence}diff", *shown, fence] if shown else []


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def _cell(text: str) -> str:
    # Escapes of `|` within code in a table are read in more than one way, so there is none.
    return text if _PLAIN.fullmatch(text) else code(text.replace("|", r"\x7c"))


def render_diff_markdown(diff: StateDiff, *, most: int = MOST) -> str:
    """Return the difference in Markdown of at most `most` characters; what is left out is said."""
    if diff.same:
        return "The states are the same.\n"
    rows = [f"| {_cell(one.name)} | {_cell(headline(one))} |\n" for one in diff.changed]
    text, left_out = _fitting("| source | what happened |\n| --- | --- |\n", ([row] for row in rows), most // 2)
    if left_out:
        text += f"\n{counted(left_out, 'source')} more.\n"
    text, left_out = _fitting(text, (_sections(one) for one in diff.changed), most)
    return text + (f"\nThe details of {counted(left_out, 'source')} are left out.\n" if left_out else "")


def _fitting(text: str, pieces: Iterable[Iterable[str]], most: int) -> tuple[str, int]:
    """Add of each piece the first form that fits; return the text, and how many have none."""
    left_out = 0
    for forms in pieces:
        fitting = next((form for form in forms if len(text) + len(form) <= most - 100), None)
        if fitting is None:
            left_out += 1
        else:
            text += fitting
    return text, left_out


def _sections(diff: SourceDiff) -> Iterator[str]:
    """Yield the details of a source: with the interdiffs of its patches, and without."""
    for interdiffs in (True, False):
        lines = _listed(details(diff, interdiffs=interdiffs))
        yield "\n".join(["", f"### {code(diff.name)}", "", *lines, ""]) if lines else ""


def _listed(lines: Iterable[str]) -> list[str]:
    """Return lines as a list; those of an interdiff become a block below their change."""
    listed: list[str] = []
    within: list[str] = []
    for line in [*lines, ""]:
        if line.startswith("    | "):
            within.append(line.removeprefix("    | "))
            continue
        if within:
            listed += ["", *(f"  {row}" for row in block(within)), ""]
            within = []
        if line:
            listed.append(f"- {code(line)}")
    return listed
