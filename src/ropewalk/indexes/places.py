"""Where packages come from: indexes, folders of wheels, and the time that everything is seen as of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from packaging.utils import NormalizedName


@dataclass(frozen=True, kw_only=True, slots=True)
class Index:
    """A package index; `packages` are those that it serves alone, and all others where it is the default.

    `name` is empty for the default. Without `upload_times` its files may lack the time at which they were uploaded.
    """

    url: str
    name: str = ""
    packages: frozenset[NormalizedName] = frozenset()
    upload_times: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Places:
    """All places; a package comes from the one index that it is assigned to, else from the default, if there is one.

    Wheels in the folders `find_links` are added to what an index serves. Of the files of indexes, those uploaded at
    `exclude_newer` (RFC 3339 in UTC, with a `Z`; empty for no cut-off) or later are not there; the files of the
    packages `untimed` may lack the time.
    """

    default: Index | None = None
    further: tuple[Index, ...] = ()
    find_links: tuple[Path, ...] = ()
    exclude_newer: str = ""
    untimed: frozenset[NormalizedName] = frozenset()

    def index_of(self, name: NormalizedName) -> Index | None:
        """Return the one index that a package may come from."""
        return next((index for index in self.further if name in index.packages), self.default)

    def assigned(self) -> Iterator[NormalizedName]:
        """Yield the packages that the default index does not serve, in the order of their names."""
        yield from sorted(name for index in self.further for name in index.packages)
