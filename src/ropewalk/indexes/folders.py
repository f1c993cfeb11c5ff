"""Folders of wheels, in which packages are looked for beside the indexes: what pip and uv call find-links."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from packaging.utils import NormalizedName, canonicalize_name

from ropewalk.errors import UsageError
from ropewalk.indexes.metadata import metadata_of_wheel, read_metadata
from ropewalk.indexes.pages import version_of
from ropewalk.indexes.values import File, UnreadableError
from ropewalk.tools.files import sha256_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from packaging.version import Version


def list_folders(folders: Sequence[Path]) -> Mapping[NormalizedName, Sequence[Path]]:
    """Return the wheels in folders by the packages they are of; of one that is in several, the first.

    Raises:
        UsageError: a folder is not there.
    """
    found: dict[NormalizedName, dict[str, Path]] = defaultdict(dict)
    for folder in folders:
        try:
            names = sorted(path.name for path in folder.iterdir() if path.name.endswith(".whl"))
        except OSError as error:
            raise UsageError(
                f"the folder `{folder}` cannot be read: {error.strerror}", hint="look at `find-links`"
            ) from error
        for name in names:
            found[canonicalize_name(name.partition("-")[0])].setdefault(name, folder.absolute() / name)
    return {name: tuple(paths.values()) for name, paths in found.items()}


def file_of(path: Path, name: NormalizedName) -> tuple[Version, File] | None:
    """Return a wheel on the disk and its version, None where its name is none of this package.

    Raises:
        UsageError: it cannot be read.
    """
    version = version_of(path.name, name)
    if version is None:
        return None
    try:
        return version, File(
            name=path.name,
            url=path.as_uri(),
            sha256=sha256_of(path),
            size=path.stat().st_size,
            requires_python=_requires_python(path, name, str(version)),
            index=path.parent.as_uri(),
        )
    except OSError as error:
        raise UsageError(f"`{path}` cannot be read: {error.strerror}") from error


def files_of_package(paths: Sequence[Path], name: NormalizedName) -> Iterator[tuple[Version, File]]:
    """Yield the wheels of a package, with their versions."""
    for path in paths:
        if (found := file_of(path, name)) is not None:
            yield found


def _requires_python(path: Path, name: NormalizedName, version: str) -> str:
    try:
        with path.open("rb") as file:
            return read_metadata(metadata_of_wheel(file, name, version), name, version).requires_python
    except UnreadableError:
        return ""  # whoever wants to know more of it is told why
