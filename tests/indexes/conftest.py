"""An index on the loopback interface, and catalogues of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from index_server import index_server
from ropewalk.indexes.catalogue import IndexCatalogue, open_catalogue
from ropewalk.indexes.places import Index, Places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from index_server import IndexServer


@pytest.fixture
def index() -> Iterator[IndexServer]:
    with index_server() as server:
        yield server


@pytest.fixture
def other() -> Iterator[IndexServer]:
    with index_server() as server:
        yield server


@pytest.fixture
def catalogue(index: IndexServer, tmp_path: Path) -> Iterator[Callable[..., IndexCatalogue]]:
    """Open catalogues; what is not among the places goes to `open_catalogue`."""
    opened = []

    def make(*, offline: bool = False, builds: bool = False, **places: Any) -> IndexCatalogue:  # noqa: ANN401
        default = Index(url=index.url)
        one = open_catalogue(
            Places(**{"default": default, **places}), cache=tmp_path / "cache", offline=offline, builds=builds
        )
        opened.append(one)
        return one

    yield make
    for one in opened:
        one.close()
