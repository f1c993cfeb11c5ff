from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from checks.checking import hints, said

if TYPE_CHECKING:
    from collections.abc import Callable

    MakeWheel = Callable[..., Path]

POINTER = (
    "version https://git-lfs.github.com/spec/v1\n"
    "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n"
    "size 12345\n"
)


def of(make_wheel: MakeWheel, *names: str, **files: str) -> list[str]:
    return said(make_wheel(files={"demo/__init__.py": "", **dict.fromkeys(names, "x"), **files}), "contents")


def test_good_contents(make_wheel: MakeWheel) -> None:
    names = ["demo.py", "demo.pth", "demo/.gitignore", "demo/tests/test_a.py", "demo/LICENSE", "demo/py.typed"]
    assert of(make_wheel, *names) == []


def test_b29_a_pointer_in_place_of_the_data(make_wheel: MakeWheel) -> None:
    path = make_wheel(files={"demo/weights.bin": POINTER})
    assert said(path) == [
        "error: demo/weights.bin: is a pointer of Git LFS, not the data that it stands for [contents/lfs-pointer]"
    ]
    assert hints(path) == ["run `git lfs pull` before the build"]


@pytest.mark.parametrize("content", ["see " + POINTER, POINTER + "x" * 1000, "version 1\n", ""])
def test_b29_what_is_no_pointer(content: str, make_wheel: MakeWheel) -> None:
    assert said(make_wheel(files={"demo/weights.bin": content})) == []


def test_paths_of_a_build_machine_in_text(make_wheel: MakeWheel) -> None:
    path = make_wheel(files={"demo/a.json": '"/home/runner/work/a" "/home/runner/work/b"', "demo/b.cfg": "/__w/x/y\n"})
    assert said(path) == [
        (
            "warning: demo/a.json: holds 2 paths of a build machine, the first: `/home/runner/work/a`"
            " [contents/build-path]"
        ),
        "warning: demo/b.cfg: holds a path of a build machine: `/__w/x/y` [contents/build-path]",
    ]
    assert hints(path) == ["write relative paths into it"] * 2


def test_paths_of_a_build_machine_in_binaries(make_wheel: MakeWheel) -> None:
    path = make_wheel(files={"demo/a.bin": b"\0/root/.cargo/registry/x.rs\0"})
    assert said(path) == [
        "warning: demo/a.bin: holds a path of a build machine: `/root/.cargo/registry/x.rs` [contents/build-path]"
    ]
    assert hints(path) == [
        "compile with `-ffile-prefix-map` (C, C++), `--remap-path-prefix` (Rust) or `/pdbaltpath` (MSVC)"
    ]


def test_the_home_folder_of_whoever_checks(make_wheel: MakeWheel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/srv/people/ada")
    assert Path.home() == Path("/srv/people/ada")
    assert said(make_wheel(files={"demo/a.py": "# /srv/people/ada/demo/a.py\n"})) == [
        "warning: demo/a.py: holds a path of a build machine: `/srv/people/ada/demo/a.py` [contents/build-path]"
    ]


def test_examples_in_documentation(make_wheel: MakeWheel) -> None:
    files = {"demo/a.py": "# for example /home/guido/data.txt\n", "demo/README": "/home/user/x"}
    assert said(make_wheel(files=files)) == []


@pytest.mark.parametrize(
    "name",
    ["demo/__pycache__/a.cpython-311.pyc", "demo/a.pyc", "demo/a.PYO", "demo/.hypothesis/x", ".pytest_cache/x"],
)
def test_a_compiled_cache(name: str, make_wheel: MakeWheel) -> None:
    assert of(make_wheel, name) == [
        f"warning: {name}: is a cache that tools make again where they run [contents/compiled-cache]"
    ]


@pytest.mark.parametrize(
    "name", ["demo/.DS_Store", "demo/.git/config", "demo/a.py~", "demo/.a.py.swp", "demo/a.orig", "demo/._a"]
)
def test_a_file_of_the_working_copy(name: str, make_wheel: MakeWheel) -> None:
    assert of(make_wheel, name) == [
        (
            f"warning: {name}: belongs to a working copy, an editor or a desktop, not to a package"
            " [contents/working-copy]"
        )
    ]


def test_many_of_a_kind_are_one_finding(make_wheel: MakeWheel) -> None:
    assert of(make_wheel, *(f"demo/__pycache__/{number}.pyc" for number in range(12))) == [
        (
            "warning: demo/__pycache__/0.pyc: is a cache that tools make again where they run; 12 members in all"
            " [contents/compiled-cache]"
        )
    ]


@pytest.mark.parametrize(
    ("member", "stray"),
    [
        ("LICENSE", "LICENSE"),
        ("README.md", "README.md"),
        ("kumo_bundle_manifest.json", "kumo_bundle_manifest.json"),
        ("setup.py", "setup.py"),
        ("conftest.py", "conftest.py"),
        ("tests/test_a.py", "tests"),
        ("docs/index.md", "docs"),
        ("demo-1.0.data/purelib/tests/test_a.py", "demo-1.0.data/purelib/tests"),
        ("demo-1.0.data/purelib/NOTICE", "demo-1.0.data/purelib/NOTICE"),
    ],
)
def test_a_stray_file_at_the_top(member: str, stray: str, make_wheel: MakeWheel) -> None:
    assert of(make_wheel, member) == [
        (
            f"warning: {stray}: lands at the top of site-packages, among the files of all other projects"
            " [contents/top-level]"
        )
    ]


def test_strays_are_counted_by_what_stands_at_the_top(make_wheel: MakeWheel) -> None:
    (line,) = of(make_wheel, "tests/a.py", "tests/b.py", "LICENSE")
    assert "; 2 members in all" in line


@pytest.mark.parametrize(
    ("name", "member"),
    [
        ("build", "build/__init__.py"),
        ("demo", "demo-1.0.data/data/etc/demo.conf"),
        ("demo", "demo-1.0.data/scripts/tests"),
    ],
)
def test_what_belongs_where_it_is(name: str, member: str, make_wheel: MakeWheel) -> None:
    assert said(make_wheel(name, files={member: "x"})) == []
