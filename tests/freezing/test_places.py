from __future__ import annotations

from typing import TYPE_CHECKING

from manifest.manifests import WHOLE
from ropewalk.freezing.places import places_of
from ropewalk.indexes.places import Index, Places
from ropewalk.manifest.load import parse_manifest

if TYPE_CHECKING:
    from pathlib import Path

ENVIRON = {"UV_DEFAULT_INDEX": "https://machine.example/simple"}


def test_the_places_of_a_manifest(tmp_path: Path) -> None:
    assert places_of(parse_manifest(WHOLE, "m.toml").python, tmp_path, ENVIRON) == Places(
        default=Index(url="https://packages.example/simple"),
        further=(
            Index(
                url="https://nightly.example/simple",
                name="nightly",
                packages=frozenset({"jaxlib", "jax-cuda"}),  # type: ignore[arg-type]
                upload_times=False,
            ),
        ),
        find_links=(tmp_path / "wheels", tmp_path / "more"),
        exclude_newer="2026-01-30T23:00:00Z",
        untimed=frozenset({"torch"}),  # type: ignore[arg-type]
    )


def test_the_index_of_the_machine_where_the_manifest_names_none(tmp_path: Path) -> None:
    of_machine = Places(default=Index(url="https://machine.example/simple"))
    assert places_of(None, tmp_path, ENVIRON) == of_machine
    python = parse_manifest("python.upload-times = false", "m.toml").python
    assert places_of(python, tmp_path, ENVIRON) == Places(
        default=Index(url="https://machine.example/simple", upload_times=False)
    )
