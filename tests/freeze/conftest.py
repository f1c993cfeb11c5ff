"""Fixtures of the tests that freeze."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from freeze.freezing import World
from repositories import make_repository

if TYPE_CHECKING:
    from pathlib import Path

    from repositories import Repository


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
