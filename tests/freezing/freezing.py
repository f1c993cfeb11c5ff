"""Freeze small ecosystems in tests."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ropewalk.freezing.freeze import Frozen, Order, freeze
from ropewalk.rebuild.checkout import CheckedOut, checkout

if TYPE_CHECKING:
    from pathlib import Path

    from repositories import Repository
    from ropewalk.lock.state import Source

NOW = datetime(2026, 8, 1, 12, 0, tzinfo=UTC)


@dataclass
class World:
    """A manifest, its lock, a cache, and what is checked out."""

    folder: Path
    manifest: str = ""
    order: Order = field(default_factory=Order)

    def source(self, repository: Repository, track: str = "main", **more: str) -> None:
        """Add a source to the manifest; `more` are further lines, as TOML writes their values."""
        lines = [f"[sources.{repository.path.name}]", f'git = "{repository.url}"', f'track = "{track}"']
        self.manifest += "\n".join([*lines, *(f"{key} = {value}" for key, value in more.items())]) + "\n"

    def patch(self, repository: Repository, origin: str, when_merged: str = "drop") -> None:
        self.manifest += f"[[sources.{repository.path.name}.patches]]\n"
        self.manifest += f'from = "{origin}"\nwhy = "needed"\nwhen-merged = "{when_merged}"\n'

    @property
    def lock(self) -> Path:
        return self.folder / "ropewalk.lock"

    @property
    def cache(self) -> Path:
        return self.folder / "cache"

    def freeze(self, **order: object) -> Frozen:
        self.folder.mkdir(exist_ok=True)
        (self.folder / "ropewalk.toml").write_text(self.manifest, encoding="utf-8")
        how = Order(**order)  # type: ignore[arg-type]
        return freeze(self.folder / "ropewalk.toml", cache=self.cache, order=how, now=lambda: NOW)

    def one(self, **order: object) -> Source:
        """Freeze, and return the only source."""
        (source,) = self.freeze(**order).state.sources
        return source

    def checkout(self, into: str = "out", cache: str = "cache-2", *, offline: bool = False) -> tuple[CheckedOut, ...]:
        return checkout(into=self.folder / into, lock=self.lock, cache=self.folder / cache, offline=offline)
