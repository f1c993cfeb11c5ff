"""Which file of a bundle belongs to which component, and where each comes to lie.

Ownership is total and unique: a path is one component's, or shared by several that bring the same bytes.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ropewalk.wheels.content import read_whole
from ropewalk.wheels.names import folded, parents
from ropewalk.wheels.record import Row
from ropewalk.wheels.write import Spliced, sha256_of_member

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from packaging.utils import NormalizedName

    from ropewalk.finding import Collector
    from ropewalk.wheels.archive import Member
    from ropewalk.wheels.wheel import Wheel

SCHEMES = ("purelib", "platlib", "headers", "scripts", "data")
"""What a `.data` folder may hold (the binary distribution format, and sysconfig's paths)."""

_BIN = re.compile(r"(?:bin|Scripts)/", re.IGNORECASE)
_SITE = re.compile(r"(?:lib(?:64)?/python\d(?:\.\d+)?/site-packages|Lib/site-packages)/", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Layout:
    """The mapping of a component's own paths to those in the bundle.

    `stem` is `NAME-VERSION` of the bundle, `component_stem` that of the component as its folders are named.
    `old_licenses` are licence files that lie beside METADATA, where they were before PEP 639.
    """

    name: NormalizedName
    component_stem: str
    stem: str
    old_licenses: frozenset[str]

    @property
    def data_dir(self) -> str:
        """The bundle's data folder."""
        return f"{self.stem}.data"

    def place(self, path: str) -> str:
        """Return where a member of the component lies in the bundle."""
        top, _, rest = path.partition("/")
        if top == f"{self.component_stem}.data":
            return f"{self.data_dir}/{rest}"
        if top != f"{self.component_stem}.dist-info":
            return path
        info = f"{self.stem}.dist-info"
        for folder in ("licenses", "sboms"):
            if rest.startswith(f"{folder}/"):
                return f"{info}/{folder}/{self.name}/{rest.removeprefix(f'{folder}/')}"
        if rest in self.old_licenses:
            return f"{info}/licenses/{self.name}/{rest}"
        return f"{info}/{component_folder(self.name)}/{rest}"


def component_folder(name: str) -> str:
    """Return the folder in a bundle's dist-info that keeps the dist-info of a component."""
    return f"ropewalk/components/{name}"


def layout_of(
    name: NormalizedName, dist_info: str, license_files: Iterable[str], paths: Container[str], stem: str
) -> Layout:
    """Return the layout of a component; `paths` are those of its members."""
    old = frozenset(
        file for file in license_files if f"{dist_info}/{file}" in paths and f"{dist_info}/licenses/{file}" not in paths
    )
    component_stem = dist_info.removesuffix(".dist-info")
    return Layout(name=name, component_stem=component_stem, stem=stem, old_licenses=old)


@dataclass(frozen=True, kw_only=True, slots=True)
class Owned:
    """A member of a component and its place in the bundle; `installed` is where an installer puts it."""

    owner: NormalizedName
    item: Spliced
    installed: str

    @property
    def path(self) -> str:
        """The path in the bundle."""
        return self.item.name


@dataclass(frozen=True, kw_only=True, slots=True)
class Ownership:
    """All files of the components, each once.

    `shared` are the paths that several bring, with their names. `copies` are paths in the dist-info that are left out
    because another one there has the same bytes: a dozen components have a dozen times the same licence.
    """

    files: tuple[Owned, ...]
    shared: Mapping[str, tuple[NormalizedName, ...]]
    copies: Mapping[str, str]


def installed_path(path: str, data_dir: str) -> str:
    """Return where an installer puts a member, as `PLACE:path`.

    The root of a wheel, purelib and platlib are one folder in every common environment; scripts lie in the `bin`
    of data.
    """
    if not path.startswith(f"{data_dir}/"):
        return f"site:{path}"
    scheme, _, rest = path.removeprefix(f"{data_dir}/").partition("/")
    if scheme in ("purelib", "platlib"):
        return f"site:{rest}"
    if scheme == "scripts":
        return f"bin:{rest}"
    if scheme == "data" and (match := _BIN.match(rest)):
        return f"bin:{rest[match.end() :]}"
    if scheme == "data" and (match := _SITE.match(rest)):
        return f"site:{rest[match.end() :]}"
    return f"{scheme}:{rest}"


def own(wheels: Iterable[Wheel], head: NormalizedName, stem: str, found: Collector) -> Ownership:
    """Give each member of the components its place; every collision goes to `found`.

    `stem` is `NAME-VERSION` of the bundle. Of a file that several bring, the first of `wheels` is the owner; of one
    that stands for others in the dist-info, the head if it has it.
    """
    everything = [file for wheel in wheels for file in _files_of(wheel, stem, found)]
    groups: dict[str, list[Owned]] = defaultdict(list)
    for file in everything:
        groups[folded(file.installed)].append(file)
    shared = {}
    files = []
    for group in groups.values():
        files.append(group[0])
        if len(group) > 1 and _judge(group, found):
            shared[group[0].path] = tuple(file.owner for file in group)
    _check_folders(groups, found)
    copies = _copies([file for file in files if file.path.startswith(f"{stem}.dist-info/")], head)
    kept = (file for file in files if file.path not in copies)
    return Ownership(
        files=tuple(sorted(kept, key=lambda file: file.path)),
        shared=dict(sorted(shared.items())),
        copies=dict(sorted(copies.items())),
    )


def _copies(files: Iterable[Owned], head: NormalizedName) -> dict[str, str]:
    """Return which files are left out for which other one with the same bytes and mode."""
    first: dict[tuple[bytes, int], str] = {}
    copies = {}
    for file in sorted(files, key=lambda file: (file.owner != head, file.path)):
        # By these two the rest of a component is found.
        if file.item.member.size and file.path.rpartition("/")[2] not in ("METADATA", "RECORD"):
            original = first.setdefault((sha256_of_member(file.item), file.item.mode), file.path)
            if original != file.path:
                copies[file.path] = original
    return copies


def _files_of(wheel: Wheel, stem: str, found: Collector) -> Iterator[Owned]:
    inside = wheel.archive.by_name
    layout = layout_of(wheel.name, wheel.dist_info, wheel.metadata.license_files, inside, stem)
    unknown = set()
    for member in sorted(wheel.archive.members, key=lambda member: member.name):
        path = layout.place(member.name)
        top, _, rest = path.partition("/")
        if top == layout.data_dir and rest.partition("/")[0] not in SCHEMES:
            unknown.add(rest.partition("/")[0])
        item = Spliced(name=path, archive=wheel.archive, member=member, row=_row_of(wheel, member))
        yield Owned(owner=wheel.name, item=item, installed=installed_path(path, layout.data_dir))
    for scheme in sorted(unknown):
        found.error(
            "bundle/data-scheme",
            f"`{wheel.name}` has files in `{wheel.data_dir}/{scheme}`, which no installer knows",
            member=f"{wheel.data_dir}/{scheme}",
            hint=f"use one of {', '.join(SCHEMES)}",
        )


def _row_of(wheel: Wheel, member: Member) -> Row:
    """Return what RECORD says of a member; RECORD and its signatures, of which it says nothing, are hashed here."""
    if member.name in wheel.record:
        return wheel.record[member.name]
    content = read_whole(wheel.archive, member.name)
    digest = hashlib.sha256(content).digest()
    return Row(path=member.name, algorithm="sha256", digest=digest, size=len(content))


def _judge(group: Sequence[Owned], found: Collector) -> bool:
    """Report files that installers would put in one place; return whether they are the same file in all respects."""
    first = group[0]
    same = True
    for other in group[1:]:
        fault = _difference(first, other)
        if fault:
            found.error(
                "bundle/path-collision",
                fault,
                member=first.path,
                hint="rename or drop the file in one of the components",
            )
            same = False
    return same


def _difference(first: Owned, other: Owned) -> str:
    owners = f"`{first.owner}` and `{other.owner}`" if first.owner != other.owner else f"`{first.owner}` twice"
    if first.installed != other.installed:
        return f"`{other.path}` and it are one file where case or composition of characters is ignored, from {owners}"
    if first.path != other.path:
        return f"is installed to the same place as `{other.path}`, from {owners}"
    one, two = sha256_of_member(first.item), sha256_of_member(other.item)
    if one != two:
        return f"differs between {owners} (SHA-256 {one.hex()[:12]}… and {two.hex()[:12]}…)"
    if first.item.mode != other.item.mode:
        return f"is executable in one of {owners} only"
    return ""


def _check_folders(groups: Mapping[str, Sequence[Owned]], found: Collector) -> None:
    """Find paths that are a file of one component and a folder of another."""
    reported = set()
    for path in sorted(groups):
        place, _, inside = path.partition(":")
        for folder in parents(inside):
            above = groups.get(f"{place}:{folder}")
            if above is not None and folder not in reported:
                reported.add(folder)
                file, below = above[0], groups[path][0]
                found.error(
                    "bundle/path-collision",
                    f"is a file in `{file.owner}` and a folder in `{below.owner}`",
                    member=file.path,
                    hint="rename the file or the folder in one of the components",
                )
