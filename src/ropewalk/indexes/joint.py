"""Several environments as one index, so that one resolution finds versions for all of them.

Environment number 2 sees the package `numpy` as `e2-numpy`, whose every version also requires `sh-numpy` at the same
version. What requires one `sh-numpy` in two environments has one version of numpy in both; where `sh-numpy` is left out
of a resolution, each environment has its own. The names `sh-…` in the report of a resolution that failed are packages
that cannot all be the same.
"""

from __future__ import annotations

import json
import re
import threading
from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from ropewalk.indexes.targets import serves
from ropewalk.indexes.values import Metadata, UnreadableError
from ropewalk.tools.loopback import Answer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from packaging.utils import NormalizedName

    from ropewalk.indexes.values import Catalogue, File, Release, Target

ALONE = "alone"
"""The view in which every environment is by itself."""
JOINT = "joint"
"""The view in which all packages are shared that a resolution does not leave out."""
ONLY = "only."
"""The view in which only the packages are shared whose names follow."""
UNREADABLE = "ropewalk-cannot-read"
"""A package that is nowhere: a release that requires it is passed over."""

SOURCE = "source"
"""Stands for the file where metadata are those of a release, not of one of its wheels."""

_OWN = re.compile(r"e(\d+)-(.+)")
_SHARED = re.compile(r"(?<![\w.-])sh-([a-z0-9]+(?:-[a-z0-9]+)*)")
_SIMPLE = "application/vnd.pypi.simple.v1+json"


def own_name(number: int, name: str) -> str:
    """Return what a package is called in the environment of a number."""
    return f"e{number}-{name}"


def shared_name(name: str) -> str:
    """Return what stands for a package being the same everywhere."""
    return f"sh-{name}"


def parse_own(name: str) -> tuple[int, NormalizedName] | None:
    """Return the environment's number and the package's name, `None` for what stands for sharing."""
    found = _OWN.fullmatch(name)
    return (int(found[1]), canonicalize_name(found[2])) if found else None


def shared_in(report: str) -> frozenset[NormalizedName]:
    """Return the packages whose being shared a report of uv speaks of."""
    return frozenset(canonicalize_name(name) for name in _SHARED.findall(report))


def requirement_of(number: int, line: str) -> str:
    """Return a requirement as the environment of a number has it.

    Raises:
        InvalidRequirement: it is none, or it names a URL.
    """
    name, rest = _split(line)
    return own_name(number, name) + rest


@lru_cache(maxsize=1 << 16)
def _split(line: str) -> tuple[NormalizedName, str]:
    parsed = Requirement(line)
    if parsed.url is not None:
        raise InvalidRequirement(f"`{line}` names a URL")
    extras = f"[{','.join(sorted(parsed.extras))}]" if parsed.extras else ""
    marker = f" ; {parsed.marker}" if parsed.marker else ""
    return canonicalize_name(parsed.name), f"{extras}{parsed.specifier}{marker}"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Row:
    """A file that is shown; `kept` names the file whose metadata it has, `SOURCE` for those of the release."""

    version: str
    early: bool
    tags: str
    kept: str
    requires_python: str
    yanked: str | None


@dataclass(kw_only=True)
class JointIndex:
    """Answers paths of a simple API (PEP 691) below `/VIEW/simple/`.

    Only releases with a file for one of `targets` are there. Of pre-releases the shared views hold those in `early`
    alone, the others would be taken just to share more. `exact` are yanked releases that an environment asks for by
    their exact version, as (environment, name, version). What could not be read is noted in `unreadable`.
    """

    catalogue: Catalogue
    targets: tuple[Target, ...]
    early: set[tuple[NormalizedName, str]] = field(default_factory=set)
    exact: set[tuple[int, NormalizedName, str]] = field(default_factory=set)
    unreadable: dict[tuple[NormalizedName, str], str] = field(default_factory=dict)
    pinned: set[tuple[int, NormalizedName, str]] = field(default_factory=set)
    asked: dict[NormalizedName, set[int]] = field(default_factory=lambda: defaultdict(set))
    _answers: dict[str, Answer | None] = field(default_factory=dict, repr=False)
    _shown: dict[NormalizedName, tuple[_Row, ...]] = field(default_factory=dict, repr=False)
    _guard: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def answer(self, path: str) -> Answer | None:
        """Return what a path holds, `None` for one that holds nothing."""
        with self._guard:
            if path in self._answers:
                return self._answers[path]
        parts = path.strip("/").split("/")
        answer = None
        if len(parts) == 3 and parts[1] == "simple":
            answer = self._page(parts[0], parts[2])
        elif len(parts) == 7 and parts[1] == "files" and parts[6].endswith(".metadata"):
            view, _, number, name, version, file, _ = parts
            answer = self._metadata(view, number, canonicalize_name(name), version, file)
        with self._guard:
            self._answers[path] = answer
        return answer

    def allow_early(self, releases: set[tuple[NormalizedName, str]]) -> None:
        """Serve these pre-releases in the shared views, too; uv must not have asked for any of them yet."""
        with self._guard:
            self.early |= releases
            self._answers = {path: answer for path, answer in self._answers.items() if path.startswith(f"/{ALONE}/")}

    def asked_in_several(self) -> frozenset[NormalizedName]:
        """Return the packages that more than one environment has asked for."""
        with self._guard:
            return frozenset(name for name, numbers in self.asked.items() if len(numbers) > 1)

    def _page(self, view: str, name: str) -> Answer | None:
        found = parse_own(name)
        if found is None:
            files = list(self._shared_files(view, name))
        else:
            with self._guard:
                self.asked[found[1]].add(found[0])
            files = list(self._files(view, *found))
        page = {"meta": {"api-version": "1.1"}, "name": name, "versions": [], "files": files}
        return Answer(content_type=_SIMPLE, body=json.dumps(page).encode()) if files else None

    def _files(self, view: str, number: int, name: NormalizedName) -> Iterator[dict[str, object]]:
        """Yield the files of a package as the environment of a number sees them."""
        for row in self._rows(name):
            if view != ALONE and row.early and (name, row.version) not in self.early:
                continue
            shown = f"e{number}_{name.replace('-', '_')}-{row.version}-{row.tags}.whl"
            yanked = row.yanked if (number, name, row.version) not in self.exact else None
            yield {
                "filename": shown,
                "url": f"/{view}/files/{number}/{name}/{row.version}/{row.kept}/{shown}",
                "hashes": {},
                "core-metadata": True,
                "yanked": False if yanked is None else yanked or True,
                **({"requires-python": row.requires_python} if row.requires_python else {}),
            }

    def _rows(self, name: NormalizedName) -> tuple[_Row, ...]:
        """Return the files of a package that are shown, one for each target at the most; the same to everybody."""
        with self._guard:
            known = self._shown.get(name)
        if known is None:
            known = tuple(row for release in self.catalogue.releases(name) for row in _rows_of(release, self.targets))
            with self._guard:
                self._shown[name] = known
        return known

    def _shared_files(self, view: str, name: str) -> Iterator[dict[str, object]]:
        if not name.startswith("sh-"):
            return
        original = canonicalize_name(name.removeprefix("sh-"))
        for number, release in enumerate(self.catalogue.releases(original)):
            version = self._shared_version(original, release.version, number)
            shown = f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
            yield {
                "filename": shown,
                "url": f"/{view}/files/shared/{original}/{version}/{SOURCE}/{shown}",
                "hashes": {},
                "core-metadata": True,
            }

    def _shared_version(self, name: NormalizedName, version: str, number: int) -> str:
        """Return what stands for a version being shared: itself, or its place where one has a local part.

        `==1.0` would allow `1.0+local` as well.
        """
        local = any("+" in release.version for release in self.catalogue.releases(name))
        return str(number) if local else version

    def _metadata(self, view: str, number: str, name: NormalizedName, version: str, file: str) -> Answer:
        if number == "shared":
            return _metadata_answer(shared_name(name), version, Metadata())
        metadata = self._read(name, version, "" if file == SOURCE else file)
        requires = [*self._requires(int(number), name, version, metadata), *self._sharing(view, name, version)]
        return _metadata_answer(own_name(int(number), name), version, replace(metadata, requires=tuple(requires)))

    def _read(self, name: NormalizedName, version: str, file: str) -> Metadata:
        try:
            return self.catalogue.metadata(name, version, file)
        except UnreadableError as error:
            self.unreadable[name, version] = error.message
            return Metadata(requires=(UNREADABLE,))

    def _requires(self, number: int, name: NormalizedName, version: str, metadata: Metadata) -> Iterator[str]:
        for line in metadata.requires:
            if line == UNREADABLE:
                yield line
                continue
            try:
                yield requirement_of(number, line)
                self._note_exact(number, line)
            except InvalidRequirement as error:
                self.unreadable[name, version] = str(error)
                yield UNREADABLE

    def _note_exact(self, number: int, line: str) -> None:
        parsed = Requirement(line)
        for clause in parsed.specifier:
            if clause.operator in ("==", "===") and not clause.version.endswith(".*"):
                self.pinned.add((number, canonicalize_name(parsed.name), str(Version(clause.version))))

    def _sharing(self, view: str, name: NormalizedName, version: str) -> list[str]:
        if view == ALONE or (view.startswith(ONLY) and name not in view.removeprefix(ONLY).split(".")):
            return []
        places = [release.version for release in self.catalogue.releases(name)]
        return [f"{shared_name(name)}=={self._shared_version(name, version, places.index(version))}"]


def _rows_of(release: Release, targets: Sequence[Target]) -> Iterator[_Row]:
    early = Version(release.version).is_prerelease
    seen: set[str] = set()
    for file in _chosen(release, targets):
        is_wheel = file is not None and file.is_wheel
        tags = file.name.removesuffix(".whl").split("-", 2)[2] if file and is_wheel else "py3-none-any"
        if tags not in seen:
            seen.add(tags)
            yield _Row(
                version=release.version,
                early=early,
                tags=tags,
                kept=file.name if file and is_wheel else SOURCE,
                requires_python=file.requires_python if file else "",
                yanked=release.yanked,
            )


def _chosen(release: Release, targets: Sequence[Target]) -> Iterator[File | None]:
    """Yield the first file for each target, wheels before sdists; `None` for a release that is built from a source."""
    if release.vcs is not None:
        yield None
        return
    wheels = [file for file in release.files if file.is_wheel]
    for target in targets:
        first = next((file for file in wheels if serves(file, target)), None)
        first = first or next((file for file in release.files if not file.is_wheel and serves(file, target)), None)
        if first is not None:
            yield first


def _metadata_answer(name: str, version: str, metadata: Metadata) -> Answer:
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    lines += [f"Requires-Python: {metadata.requires_python}"] if metadata.requires_python else []
    lines += [f"Provides-Extra: {extra}" for extra in metadata.extras]
    lines += [f"Requires-Dist: {line}" for line in metadata.requires]
    return Answer(content_type="text/plain", body=("\n".join(lines) + "\n").encode())


def view_of(shared: Iterable[str]) -> str:
    """Return the view in which only these packages are shared."""
    return ONLY + ".".join(sorted(shared))
