"""Fixtures of the tests that freeze."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from freezing.freezing import World
from repositories import make_repository

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from repositories import Repository


@pytest.fixture(autouse=True)
def elsewhere(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run in an empty folder, and prove that nothing has been left in it."""
    folder = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.chdir(folder)
    yield
    assert list(folder.iterdir()) == []


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "world")


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    """A repository with three commits on main."""
    repository = make_repository(tmp_path / "lib")
    repository.commit("one", {"a.txt": "".join(f"{number}\n" for number in range(1, 21)), "src/b.py": "b = 1\n"})
    repository.commit("two", {"src/c.py": "c = 1\n"})
    repository.commit("three", {"d.txt": "d\n"})
    return repository
