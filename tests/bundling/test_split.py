"""`split(bundle(parts)) == parts`, file for file."""

from __future__ import annotations

import json
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bundling.laying import laid, recipe
from making import make_wheel as write_a_wheel
from making import unzipped, write_zip
from ropewalk.bundling.split import split
from ropewalk.errors import UsageError
from ropewalk.wheels.wheel import inspect_wheel

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    MakeWheel = Callable[..., Path]


def files_and_modes(wheel: Path) -> dict[str, tuple[bytes, int]]:
    with zipfile.ZipFile(wheel) as archive:
        return {
            info.filename: (archive.read(info), 0o755 if info.external_attr >> 16 & 0o111 else 0o644)
            for info in archive.infolist()
        }


SEGMENT = st.text(st.characters(categories=["Ll", "Nd"], include_characters="_,-é"), min_size=1, max_size=6)
CONTENT = st.binary(max_size=64)


@st.composite
def components(draw: st.DrawFn) -> list[dict[str, object]]:
    """Component wheels that fit together: paths start with a folder of the component's own, but for the shared."""
    names = draw(st.lists(st.sampled_from(["core", "My.Aws", "gcp_x", "z"]), unique=True, max_size=4))
    shared = draw(st.dictionaries(SEGMENT.map(lambda name: f"shared/{name}.txt"), CONTENT, max_size=2))
    drawn = []
    for at, name in enumerate(["head", *names]):
        own = SEGMENT.map(f"own{at}/{{}}.bin".format)
        files: dict[str, bytes] = draw(st.dictionaries(own, CONTENT, max_size=4))
        drawn.append(
            {
                "name": name,
                "version": draw(st.sampled_from(["1.0", "2.0.dev1", "0.1+local.1"])),
                "requires": names if at == 0 else ["numpy>=1"],
                "files": {**files, **(shared if draw(st.booleans()) else {})},
                "modes": dict.fromkeys(files, draw(st.sampled_from([0o100644, 0o100755, 0o100600, 0]))),
                "data_files": draw(st.dictionaries(own.map(lambda path: f"data/{path}"), CONTENT, max_size=2)),
                "license_files": draw(st.dictionaries(SEGMENT, CONTENT, max_size=2)),
                "info_files": draw(st.dictionaries(SEGMENT.map(lambda path: f"sboms/{path}"), CONTENT, max_size=2)),
                "method": draw(st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])),
            }
        )
    return drawn


def unlike(options: Mapping[str, object]) -> bool:
    """Whether no two paths of a component are one file where case is ignored."""
    paths = [path for key in ("files", "data_files", "license_files", "info_files") for path in options[key]]  # type: ignore[attr-defined]
    return len({path.casefold() for path in paths}) == len(paths)


@given(components().filter(lambda parts: all(map(unlike, parts))))
def test_split_gives_back_what_bundle_took(parts: list[dict[str, object]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheels = [write_a_wheel(folder, **options) for options in parts]  # type: ignore[arg-type]
        separated = split(laid(wheels, folder / "dist").path, output=folder / "again")
        assert {one.path.name for one in separated} == {wheel.name for wheel in wheels}
        for wheel in wheels:
            assert files_and_modes(folder / "again" / wheel.name) == files_and_modes(wheel)
            assert inspect_wheel(folder / "again" / wheel.name)[1] == []


def test_split_and_bundle_again_are_the_same_bytes(make_wheel: MakeWheel, tmp_path: Path) -> None:
    wheels = [make_wheel("head", requires=["core"], license_files={"MIT": "x"}), make_wheel("core", build="3")]
    first = laid(wheels, tmp_path / "dist")
    again = [one.path for one in split(first.path, output=tmp_path / "parts")]
    second = split(laid(again, tmp_path / "dist2").path, output=tmp_path / "parts2")
    assert [one.path.name for one in second] == ["core-1.0-3-py3-none-any.whl", "head-1.0-py3-none-any.whl"]
    assert [one.sha256 for one in second] == [one.sha256 for one in split(first.path, output=tmp_path / "parts3")]


def test_old_licence_files_and_identities(make_wheel: MakeWheel, tmp_path: Path) -> None:
    wheels = [
        make_wheel("head", requires=["core"]),
        make_wheel(
            "core",
            metadata_version="2.1",
            metadata_lines=["License-File: COPYING", "License-File: gone"],
            info_files={"COPYING": "old\n", "RECORD.jws": "{}\n"},
            record_edit=lambda text: "".join(line for line in text.splitlines(keepends=True) if ".jws" not in line),
        ),
    ]
    bundle = laid(wheels, tmp_path / "dist", recipe(identity=True)).path
    assert "head-1.0.dist-info/licenses/core/COPYING" in unzipped(bundle)
    split(bundle, output=tmp_path / "again")
    for wheel in wheels:
        assert files_and_modes(tmp_path / "again" / wheel.name) == files_and_modes(wheel)


def test_existing_wheels_are_not_replaced(make_wheel: MakeWheel, tmp_path: Path) -> None:
    wheels = [make_wheel("head", requires=["core"]), make_wheel("core")]
    bundle = laid(wheels, tmp_path / "dist").path
    (tmp_path / "again").mkdir()
    there = tmp_path / "again" / "core-1.0-py3-none-any.whl"
    there.write_text("mine")
    with pytest.raises(UsageError) as caught:
        split(bundle, output=tmp_path / "again")
    assert str(caught.value) == f"refused to replace `{there}`"
    assert caught.value.hint == "name an empty folder with `--output`"
    assert [path.name for path in (tmp_path / "again").iterdir()] == [there.name]
    assert there.read_text() == "mine"


def test_a_wheel_that_is_no_bundle(make_wheel: MakeWheel, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        split(make_wheel("head"), output=tmp_path / "again")
    assert str(caught.value) == (
        "`head-1.0-py3-none-any.whl` is no bundle: it has no `head-1.0.dist-info/ropewalk/bundle.json`"
    )


def retold(bundle: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """Write the bundle again with other contents and a RECORD that is true of them."""
    from making import record_text  # noqa: PLC0415

    contents = unzipped(bundle)
    record = next(name for name in contents if name.endswith(".dist-info/RECORD") and name.count("/") == 1)
    del contents[record]
    change(contents)
    contents[record] = record_text(contents, record).encode()
    write_zip(bundle, contents)
    return bundle


MANIFEST = "head-1.0.dist-info/ropewalk/bundle.json"
KEPT = "head-1.0.dist-info/ropewalk/components/core"


@pytest.mark.parametrize(
    ("change", "rules"),
    [
        (lambda contents: contents.update({"core/__init__.py": b"evil\n"}), {"bundle/changed-part"}),
        (lambda contents: contents.pop("core/__init__.py"), {"bundle/missing-part"}),
        (lambda contents: contents.pop(f"{KEPT}/METADATA"), {"bundle/missing-part"}),
        (lambda contents: contents.update({"smuggled.py": b"evil\n"}), {"bundle/nobodys-file"}),
        (lambda contents: contents.pop(f"{KEPT}/RECORD"), {"bundle/missing-part"}),
        (
            lambda contents: contents.update(
                {f"{KEPT}/RECORD": b"../../evil,sha256=abc,1\ncore-1.0.dist-info/RECORD,,\n"}
            ),
            {"record/unsafe-path", "bundle/missing-part"},
        ),
        (
            lambda contents: contents.update(
                {
                    MANIFEST: contents[MANIFEST].replace(
                        b'"core-1.0-py3-none-any.whl"', b'"../core-1.0-py3-none-any.whl"'
                    )
                }
            ),
            {"bundle/manifest"},
        ),
    ],
)
def test_a_bundle_that_was_tampered_with(
    make_wheel: MakeWheel, tmp_path: Path, change: Callable[[dict[str, bytes]], None], rules: set[str]
) -> None:
    wheels = [make_wheel("head", requires=["core"]), make_wheel("core")]
    bundle = retold(laid(wheels, tmp_path / "dist").path, change)
    with pytest.raises(UsageError) as caught:
        split(bundle, output=tmp_path / "again")
    assert {finding.rule for finding in caught.value.findings} <= rules
    assert caught.value.findings
    assert not (tmp_path / "again").exists()


def test_the_version_in_the_manifest_must_be_the_components(make_wheel: MakeWheel, tmp_path: Path) -> None:
    def lie(contents: dict[str, bytes]) -> None:
        table = json.loads(contents[MANIFEST])
        table["components"][0] |= {"version": "9.0", "wheel": "core-9.0-py3-none-any.whl"}
        contents[MANIFEST] = json.dumps(table).encode()

    wheels = [make_wheel("head", requires=["core"]), make_wheel("core")]
    bundle = retold(laid(wheels, tmp_path / "dist").path, lie)
    with pytest.raises(UsageError) as caught:
        split(bundle, output=tmp_path / "again")
    assert [finding.message for finding in caught.value.findings] == [
        "the bundle manifest says core 9.0, its METADATA core 1.0"
    ]
