from __future__ import annotations

import hashlib
import importlib
import subprocess
import sys
import threading
from types import ModuleType
from typing import TYPE_CHECKING, cast

import pytest

from checks.checking import said
from making import RawEnd, RawMember, raw_members, raw_zip
from ropewalk.checks import CHECKS
from ropewalk.checks.check import Subject
from ropewalk.checks.run import Report, check
from ropewalk.errors import UsageError
from ropewalk.finding import Finding, Level
from ropewalk.wheels.wheel import read_wheel

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ropewalk.checks.check import CheckModule

    MakeWheel = Callable[..., Path]

NO_ZIP = "error: is not a zip archive: it has no end-of-central-directory record [archive/not-a-zip]"


def test_a_good_wheel_passes(make_wheel: MakeWheel) -> None:
    path = make_wheel(requires_python=">=3.11", requires=["numpy>=2"], license_files={"LICENSE": "free\n"})
    assert check(path) == Report(
        file="demo-1.0-py3-none-any.whl",
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        name="demo",
        version="1.0",
        checks=tuple(CHECKS),
        findings=(),
    )
    assert check(path).passed


def test_faults_of_all_checks_come_in_one_run(make_wheel: MakeWheel) -> None:
    path = make_wheel(
        "demo",
        "1.0+local",
        files={"demo/__init__.py": "", "demo/data.bin": "version https://git-lfs.github.com/spec/v1\n"},
        requires=["other @ https://example.org/other.whl"],
        wheel_text="Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py2-none-any\n",
        record_edit=lambda text: text.replace("demo/__init__.py,sha256=4", "demo/__init__.py,sha256=5"),
    )
    assert [line.rpartition(" ")[2] for line in said(path)] == [
        "[contents/lfs-pointer]",
        "[metadata/direct-url]",
        "[record/hash]",
        "[tags/differ]",
        "[metadata/local-version]",
    ]


def test_the_data_of_a_damaged_wheel_are_checked_all_the_same(make_wheel: MakeWheel) -> None:
    path = make_wheel(metadata="Metadata-Version: 2.4\nName: demo\nVersion: one\n", files={"demo/.DS_Store": "x"})
    report = check(path)
    assert (report.name, report.version) == ("", "")
    assert report.checks == ("archive", "record", "contents")
    assert said(path) == [
        "error: demo-1.0.dist-info/METADATA: `Version: one` is no version (PEP 440) [metadata/project-version]",
        (
            "warning: demo/.DS_Store: belongs to a working copy, an editor or a desktop, not to a package"
            " [contents/working-copy]"
        ),
    ]


def test_a_wheel_with_a_comment_is_checked_all_the_same(make_wheel: MakeWheel) -> None:
    path = make_wheel(files={"demo/a.pyc": "x"}, comment=b"hello")
    assert said(path) == [
        "error: an archive comment of 5 bytes can hide data from other readers [archive/comment]",
        "warning: demo/a.pyc: is a cache that tools make again where they run [contents/compiled-cache]",
    ]


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"text\n" * 1000, bytes(70_000)])
def test_what_is_no_zip_archive_is_a_finding(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "demo-1.0-py3-none-any.whl"
    path.write_bytes(content)
    report = check(path)
    assert said(path) == [NO_ZIP]
    assert (report.checks, report.passed) == ((), False)
    assert report.sha256 == hashlib.sha256(content).hexdigest()


def test_a_wheel_that_cannot_be_read_fails_whatever_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "demo-1.0-py3-none-any.whl"
    path.write_bytes(b"no zip")
    assert said(path, "contents") == [NO_ZIP]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^cannot read `.*demo\.whl`: No such file or directory$"):
        check(tmp_path / "demo.whl")


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^cannot read `.*`: Is a directory$"):
        check(tmp_path)


def test_only_some_checks(make_wheel: MakeWheel) -> None:
    path = make_wheel("demo", "1.0+local", files={"setup.py": ""}, entry_points="[broken")
    assert check(path, only=["contents", "archive"]).checks == ("archive", "contents")
    assert [line.rpartition(" ")[2] for line in said(path, "contents")] == ["[contents/top-level]"]
    assert [line.rpartition(" ")[2] for line in said(path, "metadata")] == [
        "[entry-points/format]",
        "[metadata/local-version]",
    ]


def test_a_check_of_another_name(make_wheel: MakeWheel) -> None:
    with pytest.raises(UsageError) as caught:
        check(make_wheel(), only=["archive", "recrod"])
    assert caught.value.message == "there is no check `recrod`"
    assert caught.value.hint == ("did you mean `record`? There are `archive`, `record`, `metadata`, `tags`, `contents`")


def test_findings_are_the_same_on_any_number_of_threads(make_wheel: MakeWheel) -> None:
    files = {f"demo/{number}.json": f'"/home/runner/work/{number}/x"' * 50 for number in range(40)}
    path = make_wheel(files=files)
    one = check(path, jobs=1)
    assert len(one.findings) == 40
    assert check(path, jobs=8) == one
    assert check(path) == one


def test_no_thread_is_left(make_wheel: MakeWheel) -> None:
    check(make_wheel())
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("ropewalk")]


def test_a_member_that_overlaps_another_is_never_inflated(make_wheel: MakeWheel, tmp_path: Path) -> None:
    """Quoted by many entries, a few bytes could stand for any amount of data."""
    members = raw_members(make_wheel())
    bomb = [RawMember(name=b"demo/bomb%d" % number, content=bytes(100), offset=0) for number in range(3)]
    path = tmp_path / "bomb" / "demo-1.0-py3-none-any.whl"
    path.parent.mkdir()
    path.write_bytes(raw_zip([*bomb, *members], RawEnd()))
    assert check(path).checks == ()


def test_a_report_sorts_and_counts_once() -> None:
    note = Finding(rule="a/a", message="m", level=Level.NOTE)
    later = Finding(rule="b/b", message="m", member="z")
    first = Finding(rule="b/b", message="m", member="a")
    report = Report(file="f", sha256="", findings=(note, later, first, later))
    assert report.findings == (first, later, note)
    assert not report.passed
    assert Report(file="f", sha256="", findings=(note,)).passed


@pytest.mark.parametrize("name", CHECKS)
def test_each_check_is_a_module_that_says_what_it_is(name: str, make_wheel: MakeWheel) -> None:
    module: CheckModule = cast("CheckModule", importlib.import_module(f"ropewalk.checks.{name}"))
    wheel = read_wheel(make_wheel())
    assert isinstance(module, ModuleType)
    assert module.__doc__
    assert module.start(Subject(archive=wheel.archive, wheel=wheel, record=wheel.record)) is not None


def test_loading_the_list_of_checks_loads_none_of_them() -> None:
    code = "import sys, ropewalk.checks; print([name for name in sys.modules if name.startswith('packaging')])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
