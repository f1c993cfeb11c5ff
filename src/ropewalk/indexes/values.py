"""What package indexes serve, as values.

Names are normalised everywhere (PEP 503); versions are texts in the canonical form of PEP 440.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ropewalk.errors import ToolError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from packaging.utils import NormalizedName


@dataclass(frozen=True, kw_only=True, slots=True)
class File:
    """A wheel or an sdist as an index lists it (PEP 691, PEP 700).

    `url` is absolute and without credentials, `sha256` in lower-case hex and empty where the index names no such hash,
    `size` in bytes and -1 where it is not told, `uploaded` a time in RFC 3339 and UTC, empty where it is not told.
    `yanked` is the reason where the file is yanked (PEP 592), `None` where it is not. `index` is the URL of the index.
    """

    name: str
    url: str
    sha256: str = ""
    size: int = -1
    uploaded: str = ""
    requires_python: str = ""
    yanked: str | None = None
    has_metadata: bool = False
    metadata_sha256: str = ""
    index: str = ""

    @property
    def is_wheel(self) -> bool:
        """Whether it is a wheel; else it is an sdist."""
        return self.name.endswith(".whl")


@dataclass(frozen=True, kw_only=True, slots=True)
class Vcs:
    """A repository's commit as PEP 751 has it; `subdirectory` is seen from its root, empty for the root."""

    url: str
    commit: str
    subdirectory: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Release:
    """A version of a package, with the files of it that may be used, in the order of their names.

    One that is built from a source has `vcs` and no files; `source` is then the name of that source.
    """

    name: NormalizedName
    version: str
    files: tuple[File, ...] = ()
    vcs: Vcs | None = None
    source: str = ""

    @property
    def yanked(self) -> str | None:
        """The reason where every file is yanked."""
        reasons = [file.yanked for file in self.files]
        return None if not reasons or None in reasons else next((reason for reason in reasons if reason), "")


@dataclass(frozen=True, kw_only=True, slots=True)
class Metadata:
    """What a resolver has to know of a release: `requires` are the lines of Requires-Dist, as they were written."""

    requires: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    requires_python: str = ""


class UnreadableError(ToolError):
    """A release has no metadata that can be read: its sdist does not build, say. Resolving goes on without it."""


class Catalogue(Protocol):
    """What there is to choose from: all indexes and sources as of one instant; the same question, the same answer."""

    def releases(self, name: NormalizedName) -> Sequence[Release]:
        """Return the releases of a package, oldest first, none where no index has it.

        Raises:
            ToolError: an index cannot be asked.
        """

    def metadata(self, name: NormalizedName, version: str, file: str = "") -> Metadata:
        """Return the metadata of a release, or of one of its files where they differ.

        Raises:
            UnreadableError: it cannot be had.
            ToolError: an index cannot be asked.
        """


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """A Python and a platform to resolve for: `python` as `3.12`, `platform` as in a wheel's tag."""

    python: str
    platform: str
