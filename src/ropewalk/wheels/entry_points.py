"""entry_points.txt as a value (the PyPA's entry points specification)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ropewalk.finding import Collector

SCRIPT_GROUPS = ("console_scripts", "gui_scripts")

EntryPoints = dict[str, dict[str, str]]
"""Group → name → object reference."""

_SCRIPT_NAME = re.compile(r"[\w.-]+")
_NAME = r"[^\W\d]\w*"
_REFERENCE = re.compile(
    rf"{_NAME}(\.{_NAME})*"  # importable.module
    rf"[ \t]*(:[ \t]*{_NAME}(\.{_NAME})*)?"  # :object.attribute
    r"[ \t]*(\[[^\[\]\n]*\])?"  # [extras]
)


def parse_entry_points(data: bytes, name: str, found: Collector) -> EntryPoints:
    """Return the entry points of a wheel; every violation goes to `found`. `name` is the file's own path."""
    import configparser  # noqa: PLC0415 - many wheels have no entry points

    # The specification: configparser's syntax with `=` as the only delimiter and names kept as they are.
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None, default_section="\0")
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    # A NUL is how the parser is told that no group holds defaults for the others.
    if b"\0" in data:
        found.error("entry-points/format", "holds a NUL", member=name)
        return {}
    try:
        parser.read_string(data.decode(), source="entry_points.txt")
    except (UnicodeDecodeError, configparser.Error) as error:
        found.error("entry-points/format", " ".join(str(error).split()), member=name)
        return {}
    groups = {group: dict(parser.items(group)) for group in parser.sections()}
    for group, entries in groups.items():
        for entry, reference in entries.items():
            _check(group, entry, reference, name, found)
    return groups


def _check(group: str, entry: str, reference: str, name: str, found: Collector) -> None:
    line = f"`{entry} = {reference}` in [{group}]"
    if not (group.isprintable() and entry.isprintable() and reference.isprintable()):
        found.error("entry-points/format", f"{ascii(line)[1:-1]} is not one line of plain text", member=name)
    elif group not in SCRIPT_GROUPS:
        # Some groups have a syntax of their own, and only their readers can say whether it holds.
        if not _REFERENCE.fullmatch(reference):
            found.warning("entry-points/reference", f"{line} names no object", member=name)
    else:
        if not _REFERENCE.fullmatch(reference):
            found.error("entry-points/reference", f"{line} names no object", member=name)
        if not _SCRIPT_NAME.fullmatch(entry):
            found.error("entry-points/script-name", f"`{entry}` is not a name for a script", member=name)


def render_entry_points(groups: Mapping[str, Mapping[str, str]]) -> bytes:
    """Return entry_points.txt: groups and names sorted, one a line."""
    sections = (
        f"[{group}]\n" + "".join(f"{entry} = {reference}\n" for entry, reference in sorted(groups[group].items()))
        for group in sorted(groups)
    )
    return "\n".join(sections).encode()
