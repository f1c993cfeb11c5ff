"""All that indexes and folders of wheels have to offer, as of one instant."""

from __future__ import annotations

import sys
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Self, TypeVar

from ropewalk.errors import ToolError, UsageError
from ropewalk.finding import Finding
from ropewalk.indexes.folders import files_of_package, list_folders
from ropewalk.indexes.memo import Memo
from ropewalk.indexes.pages import files_of, parse_version
from ropewalk.indexes.reading import Reader
from ropewalk.indexes.times import is_before
from ropewalk.indexes.values import File, Metadata, Release, UnreadableError
from ropewalk.tools.objects import default_cache
from ropewalk.tools.simple_api import SimpleApi
from ropewalk.tools.uv_build import Builds, bound_cache
from ropewalk.tools.web import Credentials
from ropewalk.tools.workers import threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from packaging.utils import NormalizedName
    from packaging.version import Version

    from ropewalk.indexes.places import Index, Places

Key = TypeVar("Key")

AT_ONCE = 32
"""Requests that `prefetch` has under way: servers answer more slowly than pages are read."""


class IndexCatalogue:
    """What there is to choose from, in the places that are named; a `Catalogue`.

    Every package comes from one index, and no other is asked for it: whoever can upload there cannot replace it. Every
    question is asked once. It can be used by many threads at once.
    """

    def __init__(self, places: Places, api: SimpleApi, builds: Builds | None = None) -> None:
        """Look at what is in the folders of wheels.

        Raises:
            UsageError: one of them is not there.
        """
        self.places = places
        self._api = api
        self._reader = Reader(api, builds)
        self._wheels = list_folders(places.find_links)
        self._releases: Memo[NormalizedName, tuple[Release, ...]] = Memo(self._find)
        self._metadata: Memo[tuple[NormalizedName, str, str], Metadata] = Memo(self._read)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections that are kept open."""
        self._api.close()

    def releases(self, name: NormalizedName) -> Sequence[Release]:
        """Return the releases of a package, oldest first, none where its index and the folders have none.

        Raises:
            UsageError: files lack the upload times that the cut-off needs; all of them are in `findings`.
            ToolError: the index cannot be asked.
        """
        return self._releases(name)

    def metadata(self, name: NormalizedName, version: str, file: str = "") -> Metadata:
        """Return the metadata of one of a release's files, by default of the one that is read most cheaply.

        Raises:
            UnreadableError: it cannot be had.
            IntegrityError: the bytes are not those that the index names.
            ToolError: the index cannot be asked.
        """
        return self._metadata((name, version, file))

    def prefetch(self, names: Iterable[NormalizedName]) -> None:
        """Look up the releases of many packages at once.

        Raises:
            UsageError: files of any of them lack the upload times that the cut-off needs.
            ToolError: an index cannot be asked; what could be looked up stays known.
        """
        faults = _all_at_once(self.releases, dict.fromkeys(names))
        untimed = [fault for fault in faults if isinstance(fault, UsageError)]
        if untimed:
            raise _together(untimed)
        if faults:
            raise faults[0]

    def prefetch_metadata(self, releases: Iterable[Release]) -> None:
        """Read the metadata of many releases at once; those that cannot be read are passed over.

        Raises:
            ToolError: an index cannot be asked.
        """
        faults = _all_at_once(lambda one: self.metadata(one.name, one.version), dict.fromkeys(releases))
        for fault in faults:
            if not isinstance(fault, UnreadableError):
                raise fault

    def _find(self, name: NormalizedName) -> tuple[Release, ...]:
        found: dict[Version, dict[str, File]] = defaultdict(dict)
        texts: dict[Version, set[str]] = defaultdict(set)
        index = self.places.index_of(name)
        served = self._served(index, name) if index else ()
        # A wheel in a folder stands for one of the same name on an index.
        for version, file in (*files_of_package(self._wheels.get(name, ()), name), *served):
            found[version].setdefault(file.name, file)
            texts[version].add(str(version))
        return tuple(
            Release(
                name=name,
                # 1.0 and 1.0.0 are one version.
                version=min(texts[version], key=lambda text: (len(text), text)),
                files=tuple(found[version][file_name] for file_name in sorted(found[version])),
            )
            for version in sorted(found)
        )

    def _served(self, index: Index, name: NormalizedName) -> Sequence[tuple[Version, File]]:
        page = self._api.page(index.url, name)
        if page is None:
            return ()
        listed = list(files_of(page, name, index.url))
        cut_off = self.places.exclude_newer
        if not cut_off:
            return listed
        if index.upload_times and name not in self.places.untimed:
            untimed = [file for _, file in listed if not file.uploaded]
            if untimed:
                raise _no_times(untimed, index, cut_off)
        return [(version, file) for version, file in listed if not file.uploaded or is_before(file.uploaded, cut_off)]

    def _read(self, key: tuple[NormalizedName, str, str]) -> Metadata:
        name, version, file_name = key
        files = self._candidates(name, version, file_name)
        fault: UnreadableError | None = None
        for file in files:
            try:
                return self._reader.metadata(file, name, version)
            except UnreadableError as error:
                fault = fault or error
        raise fault or UnreadableError(f"there is no `{file_name or f'{name} {version}'}` among what is served")

    def _candidates(self, name: NormalizedName, version: str, file_name: str) -> Iterator[File]:
        wanted = parse_version(version)
        for release in self.releases(name):
            if parse_version(release.version) == wanted:
                files = (file for file in release.files if file_name in ("", file.name))
                yield from sorted(files, key=_cost)


def open_catalogue(
    places: Places, *, cache: Path | None = None, offline: bool = False, builds: bool = False, python: str = ""
) -> IndexCatalogue:
    """Return what there is in some places; the URLs of indexes may hold credentials, which go no further.

    Pages and metadata are kept below the folder `cache`. With `builds`, sdists that do not tell their metadata are
    built, which runs their code, by the Python that uv finds under `python`, by default this one.

    Raises:
        UsageError: a folder of wheels is not there.
    """
    credentials = Credentials()
    plain = replace(
        places,
        default=_plain(places.default, credentials) if places.default else None,
        further=tuple(_plain(index, credentials) for index in places.further),
    )
    api = SimpleApi(cache=(cache or default_cache()) / "indexes", offline=offline, credentials=credentials)
    if not builds:
        return IndexCatalogue(plain, api)
    how = _builds(places, cache or default_cache(), python, offline=offline)
    bound_cache(how.cache)
    return IndexCatalogue(plain, api, how)


def _plain(index: Index, credentials: Credentials) -> Index:
    return replace(index, url=credentials.take_from(index.url))


def _builds(places: Places, cache: Path, python: str, *, offline: bool) -> Builds:
    default = places.default
    return Builds(
        python=python or sys.executable,
        index=default.url if default else "",
        find_links=places.find_links,
        # uv leaves out what has no upload time, so with an index that tells none there would be nothing to build with.
        exclude_newer=places.exclude_newer if default and default.upload_times else "",
        elsewhere=tuple(places.assigned()),
        offline=offline,
        cache=cache / "uv",
    )


def _cost(file: File) -> tuple[bool, bool, bool, bool, str]:
    # A yanked file last; then those that are read without being fetched, or built; then those for every platform.
    named = file.name
    return file.yanked is not None, not file.is_wheel, not file.has_metadata, not named.endswith("-any.whl"), named


def _no_times(files: Sequence[File], index: Index, cut_off: str) -> UsageError:
    first = files[0]
    more = len(files) - 1
    what = (
        f"`{first.name}` and {more} more at `{first.index}` have" if more else f"`{first.name}` at `{first.index}` has"
    )
    where = f"of the index `{index.name}`" if index.name else "of `[python]`"
    return UsageError(
        f"{what} no upload time: nobody knows what was there before {cut_off}",
        hint=f"admit what has none by `upload-times = false` {where}, or the package by `without-upload-times`",
        findings=[
            Finding(rule="indexes/no-upload-time", subject=file.index, member=file.name, message="has no upload time")
            for file in files
        ],
    )


def _together(faults: Sequence[UsageError]) -> UsageError:
    message = "\n".join(fault.message for fault in faults)
    hint = "\n".join(dict.fromkeys(fault.hint for fault in faults))
    return UsageError(message, hint=hint, findings=[finding for fault in faults for finding in fault.findings])


def _all_at_once(ask: Callable[[Key], object], keys: Iterable[Key]) -> list[ToolError | UsageError]:
    """Ask for each key on threads; return what failed, in the order of the keys."""

    def asked(key: Key) -> ToolError | UsageError | None:
        try:
            ask(key)
        except (ToolError, UsageError) as error:
            return error
        return None

    with threads(AT_ONCE) as pool:
        return [fault for fault in pool.map(asked, keys) if fault is not None]
