"""Files appear whole or not at all."""

from __future__ import annotations

import hashlib
import os
import resource
import signal
from typing import TYPE_CHECKING

import pytest

from ropewalk.errors import ToolError, UsageError
from ropewalk.tools.files import new_file, sha256_of

if TYPE_CHECKING:
    from pathlib import Path


def test_a_digest(tmp_path: Path) -> None:
    content = b"x" * 1_000_000
    (tmp_path / "a").write_bytes(content)
    assert sha256_of(tmp_path / "a") == hashlib.sha256(content).hexdigest()


def test_a_file_takes_its_name_at_the_end(tmp_path: Path) -> None:
    target = tmp_path / "new" / "a"
    with new_file(target) as temporary:
        temporary.write_text("whole")
        assert not target.exists()
    assert target.read_text() == "whole"
    assert [path.name for path in target.parent.iterdir()] == ["a"]


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "a"
    target.write_text("old")

    def fail() -> None:
        with new_file(target) as temporary:
            temporary.write_text("half")
            raise KeyError("a fault")

    with pytest.raises(KeyError):
        fail()
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o000])
def test_the_mode_is_that_of_any_new_file(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        with new_file(tmp_path / "a") as temporary:
            temporary.write_text("")
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o666 & ~umask


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    with (
        pytest.raises(UsageError, match=r"cannot write into `.*/a`: (Not a directory|File exists)"),
        new_file(tmp_path / "a" / "b"),
    ):
        pass


def test_a_full_disk_is_no_fault_of_ours(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with (
            pytest.raises(ToolError, match=r"writing `.*/a` failed: File too large"),
            new_file(tmp_path / "a") as temporary,
        ):
            temporary.write_bytes(b"x" * 2000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert list(tmp_path.iterdir()) == []


def test_a_name_as_long_as_the_system_allows(tmp_path: Path) -> None:
    for name in ("x" * 255, "ü" * 127):
        with new_file(tmp_path / name) as temporary:
            temporary.write_text("whole")
        assert (tmp_path / name).read_text() == "whole"
    assert len(list(tmp_path.iterdir())) == 2


def test_an_interrupt_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), new_file(tmp_path / "a"):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_two_of_one_name_do_not_meet(tmp_path: Path) -> None:
    """Whoever ends last has the name, and each file is whole."""
    with new_file(tmp_path / "a") as one, new_file(tmp_path / "a") as other:
        one.write_text("one")
        other.write_text("other")
    assert (tmp_path / "a").read_text() == "one"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_folder_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(ToolError, match=r"^writing `.*/a` failed: Is a directory$"), new_file(tmp_path / "a"):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
