"""Whole bundles on the disk: the same bytes every time, all or nothing."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest

from bundling.laying import laid, recipe
from making import raw_members, raw_zip, unzipped
from ropewalk.bundling.bundle import lay
from ropewalk.errors import IntegrityError, UsageError
from ropewalk.tools.files import sha256_of
from ropewalk.wheels.wheel import inspect_wheel

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    MakeWheel = Callable[..., Path]


def three_wheels(make_wheel: MakeWheel) -> list[Path]:
    return [
        make_wheel(
            "head",
            "2.0",
            requires=["core"],
            extras={"s3": ["aws"]},
            files={"head/__init__.py": "", "head/ü.txt": "ü\n", "head/run": "#!\n"},
            modes={"head/run": 0o100755},
            license_files={"LICENSE": "head's\n"},
            entry_points={"console_scripts": {"head": "head:main"}},
        ),
        make_wheel("core", requires=["numpy"], data_files={"data/share/core.txt": "1\n"}, method=zipfile.ZIP_STORED),
        make_wheel("aws", requires=["boto3"], info_files={"sboms/a.json": "{}\n"}),
    ]


def test_a_bundle_is_a_wheel_with_every_file(make_wheel: MakeWheel, tmp_path: Path) -> None:
    bundled = laid(three_wheels(make_wheel), tmp_path / "dist", recipe(commits={"core": "c" * 40}))
    wheel, findings = inspect_wheel(bundled.path)
    assert (wheel is not None, findings) == (True, [])
    assert list(unzipped(bundled.path)) == [
        "aws/__init__.py",
        "core/__init__.py",
        "head-2.0.data/data/share/core.txt",
        "head/__init__.py",
        "head/run",
        "head/ü.txt",
        "head-2.0.dist-info/METADATA",
        "head-2.0.dist-info/WHEEL",
        "head-2.0.dist-info/entry_points.txt",
        "head-2.0.dist-info/licenses/head/LICENSE",
        "head-2.0.dist-info/ropewalk/bundle.json",
        "head-2.0.dist-info/ropewalk/components/aws/METADATA",
        "head-2.0.dist-info/ropewalk/components/aws/RECORD",
        "head-2.0.dist-info/ropewalk/components/core/METADATA",
        "head-2.0.dist-info/ropewalk/components/core/RECORD",
        "head-2.0.dist-info/ropewalk/components/head/METADATA",
        "head-2.0.dist-info/ropewalk/components/head/RECORD",
        "head-2.0.dist-info/ropewalk/components/head/WHEEL",
        "head-2.0.dist-info/ropewalk/components/head/entry_points.txt",
        "head-2.0.dist-info/sboms/aws/a.json",
        "head-2.0.dist-info/sboms/ropewalk.cdx.json",
        "head-2.0.dist-info/RECORD",
    ]
    assert bundled.sha256 == sha256_of(bundled.path)
    assert bundled.size == bundled.path.stat().st_size
    assert [origin.commit for origin in bundled.components] == [None, "c" * 40, None]


def test_b35_executables_stay_executable(make_wheel: MakeWheel, tmp_path: Path) -> None:
    wheels = [
        make_wheel(
            "head", files={"pkg/bin/tool": "#!\n", "pkg/dos": ""}, modes={"pkg/bin/tool": 0o100755, "pkg/dos": 0}
        )
    ]
    with zipfile.ZipFile(laid(wheels, tmp_path / "dist").path) as archive:
        modes = {info.filename: info.external_attr >> 16 for info in archive.infolist()}
    assert (modes["pkg/bin/tool"], modes["pkg/dos"]) == (0o100755, 0o100644)


def test_b35_a_symlink_is_refused(make_wheel: MakeWheel, tmp_path: Path) -> None:
    wheels = [make_wheel("head", files={"pkg/link": "__init__.py"}, modes={"pkg/link": 0o120777})]
    with pytest.raises(UsageError) as caught:
        laid(wheels, tmp_path / "dist")
    assert [(finding.rule, finding.member) for finding in caught.value.findings] == [("archive/symlink", "pkg/link")]


def test_b33_names_that_csv_has_to_quote(make_wheel: MakeWheel, tmp_path: Path) -> None:
    files = {"pkg/a,b.txt": "1\n", 'pkg/q"uote.txt': "2\n", "pkg/ü.txt": "3\n"}
    wheel = make_wheel("head", files=files, record_edit=lambda text: text.replace("\n", "\r\n"))
    bundle = laid([wheel], tmp_path / "dist").path
    assert {name: content.decode() for name, content in unzipped(bundle).items() if name in files} == files
    assert inspect_wheel(bundle)[1] == []


COMMAND = """
import os, sys, time
from pathlib import Path
from ropewalk.bundling.bundle import lay
from ropewalk.bundling.recipe import Recipe
os.umask(int(sys.argv[1], 8))
print(lay([Path(path) for path in sys.argv[3:]], Recipe(name="head"), Path(sys.argv[2])).sha256)
"""


def in_a_process(folder: Path, wheels: list[Path], umask: str = "022", **environ: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, umask, str(folder / "dist"), *map(str, wheels)],
        env={**os.environ, **environ},
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_nothing_around_it_shows_in_the_bytes(make_wheel: MakeWheel, tmp_path: Path) -> None:
    wheels = three_wheels(make_wheel)
    elsewhere = tmp_path / "else where"
    elsewhere.mkdir()
    first = in_a_process(tmp_path, wheels, LC_ALL="C", TZ="UTC", PYTHONHASHSEED="1")
    for wheel in wheels:
        os.utime(wheel, (1, 1))
    for seed, order in enumerate(itertools.permutations(wheels)):
        environ = {"LC_ALL": "C.UTF-8", "TZ": "Pacific/Kiritimati", "PYTHONHASHSEED": str(seed + 2), "HOME": "/nowhere"}
        assert in_a_process(elsewhere, list(order), "077", **environ) == first


def test_the_epoch_is_moved_into_what_zip_can_hold(make_wheel: MakeWheel, tmp_path: Path) -> None:
    wheels = three_wheels(make_wheel)

    def digest(epoch: str) -> str:
        return lay(wheels, recipe(), tmp_path / "dist", environ={"SOURCE_DATE_EPOCH": epoch}).sha256

    assert digest("0") == digest("315532800") == digest("-5") == digest("")
    assert digest("9" * 30) == digest("4354819198") != digest("0")
    with pytest.raises(UsageError, match="`SOURCE_DATE_EPOCH=today` is not a whole number of seconds"):
        digest("today")


@pytest.mark.parametrize("jobs", [1, 2, 7])
def test_threads_do_not_show(make_wheel: MakeWheel, tmp_path: Path, jobs: int) -> None:
    wheels = three_wheels(make_wheel)
    assert lay(wheels, recipe(), tmp_path / "one", jobs=jobs).sha256 == laid(wheels, tmp_path / "two").sha256


def test_no_path_of_this_machine_is_inside(make_wheel: MakeWheel, tmp_path: Path) -> None:
    bundle = laid(three_wheels(make_wheel), tmp_path / "dist", recipe(identity=True)).path
    contents = b"".join(unzipped(bundle).values())
    assert str(tmp_path).encode() not in contents
    assert b"/tmp/" not in contents


def test_a_wrong_byte_is_named_and_nothing_is_written(make_wheel: MakeWheel, tmp_path: Path) -> None:
    wheels = three_wheels(make_wheel)
    before = laid(wheels, tmp_path / "dist").sha256
    wheels[1] = make_wheel(
        "core",
        requires=["numpy"],
        record_edit=lambda text: text.replace("core/__init__.py,sha256=", "core/__init__.py,sha256=A", 1),
    )
    bad = make_wheel("core", requires=["numpy"], files={"core/a.txt": "good\n", "core/b.txt": "good\n"})
    members = [
        member if not member.name.startswith(b"core/") else type(member)(name=member.name, content=b"evil\n")
        for member in raw_members(bad)
    ]
    bad.write_bytes(raw_zip(members))
    wheels[1] = bad
    with pytest.raises(IntegrityError) as caught:
        laid(wheels, tmp_path / "dist")
    assert [(finding.member, finding.rule) for finding in caught.value.findings] == [
        ("core/a.txt", "record/hash"),
        ("core/b.txt", "record/hash"),
    ]
    (only,) = (tmp_path / "dist").iterdir()
    assert sha256_of(only) == before


def test_refusal_leaves_no_folder(make_wheel: MakeWheel, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="do not fit together; nothing was written"):
        laid([make_wheel("head"), make_wheel("lonely")], tmp_path / "dist")
    assert not (tmp_path / "dist").exists()


def test_a_component_is_never_overwritten(make_wheel: MakeWheel, tmp_path: Path) -> None:
    wheel = make_wheel("head")
    before = wheel.read_bytes()
    with pytest.raises(UsageError, match="is one of the components"):
        laid([wheel], tmp_path)
    assert wheel.read_bytes() == before


def test_identity_answers_for_components(make_wheel: MakeWheel, tmp_path: Path) -> None:
    bundle = laid(three_wheels(make_wheel), tmp_path / "dist", recipe(identity=True)).path
    inside = unzipped(bundle)
    identities = {name: content for name, content in inside.items() if ".data/purelib/" in name}
    assert identities == {
        "head-2.0.data/purelib/aws-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: aws\nVersion: 1.0\n",
        "head-2.0.data/purelib/core-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: core\nVersion: 1.0\n",
    }


def test_the_bill_of_materials_names_every_component(make_wheel: MakeWheel, tmp_path: Path) -> None:
    from cyclonedx.schema import SchemaVersion  # noqa: PLC0415 - takes half a second
    from cyclonedx.validation.json import JsonStrictValidator  # noqa: PLC0415

    wheels = [
        *three_wheels(make_wheel)[:-1],
        make_wheel("aws", "1.0+cu1", metadata_lines=["License-Expression: MIT OR ISC"]),
    ]
    bundle = laid(wheels, tmp_path / "dist", recipe(commits={"core": "c" * 40})).path
    text = unzipped(bundle)["head-2.0.dist-info/sboms/ropewalk.cdx.json"].decode()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    bill = json.loads(text)
    assert [component["purl"] for component in bill["components"]] == [
        "pkg:pypi/aws@1.0%2Bcu1",
        "pkg:pypi/core@1.0",
        "pkg:pypi/head@2.0",
    ]
    assert bill["components"][1]["properties"][1] == {"name": "ropewalk:commit", "value": "c" * 40}
    assert not {"serialNumber", "timestamp"} & {*bill, *bill["metadata"]}
