"""Entry points and scripts of several components, joined or refused (the PyPA's entry points specification)."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from ropewalk.wheels.entry_points import SCRIPT_GROUPS, EntryPoints
from ropewalk.wheels.names import folded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from packaging.utils import NormalizedName

    from ropewalk.bundling.ownership import Owned
    from ropewalk.finding import Collector
    from ropewalk.wheels.wheel import Wheel


class _Entry(NamedTuple):
    """An entry point and the component it is from."""

    owner: NormalizedName
    group: str
    name: str
    reference: str


class _Script(NamedTuple):
    """Something that becomes a file in an environment's `bin`, and what it is."""

    owner: NormalizedName
    name: str
    what: str


def merge_entry_points(wheels: Iterable[Wheel], files: Iterable[Owned], found: Collector) -> EntryPoints:
    """Return the entry points of all components; every conflict goes to `found`.

    Equal name and equal target are one. Names of scripts are held against one another and against the files that
    components put into `bin`, as a file system that ignores case sees them and without Windows' `.exe`.
    """
    merged: EntryPoints = {}
    first_of: dict[tuple[str, str], _Entry] = {}
    for entry in _entries(wheels):
        first = first_of.setdefault((entry.group, entry.name), entry)
        if first.reference == entry.reference:
            merged.setdefault(entry.group, {})[entry.name] = entry.reference
            continue
        found.error(
            "bundle/entry-point",
            f"`{entry.name}` in [{entry.group}] is `{first.reference}` in `{first.owner}` "
            f"and `{entry.reference}` in `{entry.owner}`",
            member=entry.name,
            hint="rename it in one of the components",
        )
    _check_scripts([*_scripts(first_of), *_script_files(files)], found)
    return merged


def _entries(wheels: Iterable[Wheel]) -> Iterator[_Entry]:
    for wheel in wheels:
        for group, entries in sorted(wheel.entry_points.items()):
            for name, reference in sorted(entries.items()):
                # White space means nothing in a reference to an object; other groups may have a syntax of their own.
                plain = "".join(reference.split()) if group in SCRIPT_GROUPS else reference
                yield _Entry(wheel.name, group, name, plain)


def _scripts(entries: Mapping[tuple[str, str], _Entry]) -> Iterator[_Script]:
    for (group, name), entry in entries.items():
        if group in SCRIPT_GROUPS:
            yield _Script(entry.owner, name, f"`{name}` in [{group}]")


def _script_files(files: Iterable[Owned]) -> Iterator[_Script]:
    for file in files:
        place, _, name = file.installed.partition(":")
        if place == "bin":
            yield _Script(file.owner, name, f"the file `{file.path.partition('.data/')[2]}`")


def _check_scripts(scripts: Sequence[_Script], found: Collector) -> None:
    by_file: dict[str, list[_Script]] = defaultdict(list)
    for script in scripts:
        by_file[folded(script.name).removesuffix(".exe")].append(script)
    for name, group in sorted(by_file.items()):
        first = group[0]
        for other in group[1:]:
            found.error(
                "bundle/script-collision",
                f"{first.what} of `{first.owner}` and {other.what} of `{other.owner}` become one script",
                member=name,
                hint="rename or drop one of the two",
            )
