from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.checks.leaks import MOST_COUNTED, Leaks, LeakScanner, Whose, whose


def scan(*pieces: bytes, builder: Whose | None = None, is_prose: bool = False) -> Leaks:
    scanner = LeakScanner(builder, is_prose=is_prose)
    for piece in pieces:
        scanner.feed(piece)
    scanner.finish()
    return scanner.leaks


BUILD_PATHS = [
    "/home/runner/work/demo/demo/src",
    "/home/maria/dev/demo/config.h",
    "/home/jürgen/dev/x.h",
    "/Users/maria/Library/Caches/x",
    "/root/.cargo/registry/src/x/lib.rs",
    "/root/work/demo/x",
    "/__w/demo/demo/src/x.c",
    "/github/workspace/dist",
    "/private/var/folders/zz/x",
    "/croot/numpy_1/work",
    "/var/lib/jenkins/jobs/x",
    "/tmp/tmpabcd_123/build/x.c",
    "/tmp/pip-build-env-ab12cd34/overlay",
    "/tmp/.tmpKUZmhW/x",
    "C:\\Users\\maria\\dev\\x.pdb",
    "C:\\\\Users\\\\Maria Rossi\\\\dev",
    "C:/Users/maria/dev/x",
    "D:\\a\\demo\\demo\\x.obj",
]
IN_BINARIES_ONLY = ["/build/demo-1.0/src/x.c", "/tmp/work/x.rs", "/builds/group/x.cpp", "/root/thing/x"]
HARMLESS = [
    "/home/user/data.csv",
    "/home/you/x",
    "/home/$USER/x",
    "/home/{name}/x",
    "/home/%s/x",
    "/home/<user>/x",
    "/home/1234/x",
    "/home/.../x",
    "/home/runner",
    "/home/",
    "https://example.org/home/maria/x",
    "./home/maria/x",
    "../root/work/x",
    "$HOME/home/maria/x",
    "/tmp/demo.sock",
    "/tmp/some-file/x",
    "/build/static/x.js",
    "/root/child",
    "/usr/bin/env python3",
    "#!/usr/bin/python3",
    "$ORIGIN/../lib",
    "C:\\Users\\Public\\x",
    "C:\\Users\\user\\x",
    "C:\\Windows\\x",
    "xC:\\Users\\maria\\x",
    "D:\\a\\b\\c",
]


@pytest.mark.parametrize("path", BUILD_PATHS)
def test_paths_of_build_machines(path: str) -> None:
    text = f'before "{path}" after'.encode()
    assert scan(text) == Leaks(1, path, in_binary=False)
    assert scan(b"\0" + text + b"\0") == Leaks(1, path, in_binary=True)


@pytest.mark.parametrize("path", IN_BINARIES_ONLY)
def test_paths_that_count_in_binaries_only(path: str) -> None:
    assert scan(b"x\0" + path.encode() + b"\0") == Leaks(1, path, in_binary=True)
    assert scan(path.encode() + b"\n") == Leaks(0, "", in_binary=False)


@pytest.mark.parametrize("path", HARMLESS)
def test_what_is_no_path_of_a_build_machine(path: str) -> None:
    assert scan(f'before "{path}" after'.encode()).number == 0


def test_a_path_at_the_very_start_or_in_a_url() -> None:
    assert scan(b"/home/runner/work/x") == Leaks(1, "/home/runner/work/x", in_binary=False)
    assert scan(b'{"url": "file:///home/maria/src"}').first == "/home/maria/src"
    assert scan(b"#!/home/maria/venv/bin/python\n").first == "/home/maria/venv/bin/python"
    assert scan(b"RUNPATH=/opt/lib:/home/maria/lib").first == "/home/maria/lib"


def test_the_first_is_named_and_all_are_counted() -> None:
    text = b"C:\\Users\\maria\\x /home/maria/a /home/maria/b"
    assert scan(text) == Leaks(3, "C:\\Users\\maria\\x", in_binary=False)
    assert scan(text[::-1]).number == 0


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (b"for example /home/guido/src/local/data.txt", 0),
        (b"C:\\Users\\fabio\\Downloads\\x.zip", 0),
        (b"/home/runner/work/demo", 1),
        (b"/home/guido/lib/python3.11/site-packages/x.py", 1),
        (b"/root/.cargo/x", 1),
    ],
)
def test_prose_makes_up_users(text: bytes, number: int) -> None:
    assert scan(text, is_prose=True).number == number


@pytest.mark.parametrize(
    ("home", "path", "number"),
    [
        ("/home/guido", b"/home/guido/src/data.txt", 1),
        ("/home/test", b"/home/test/src/data.txt", 1),
        ("C:\\Users\\Guido", b"C:\\Users\\guido\\src", 1),
        ("/data/people/guido/", b"/data/people/guido/src/x", 1),
        ("/data/people/guido", b"/data/people/guidos/src/x", 0),
        ("/root", b"/root/thing", 0),
        ("/tmp/tox/home", b"/tmp/tox/home/x", 0),
        ("/" + "a/" * 100, b"/a/a/x", 0),
        ("", b"/x/y", 0),
    ],
)
def test_the_home_of_whoever_checks(home: str, path: bytes, number: int) -> None:
    assert scan(b"see " + path, builder=whose(home), is_prose=True).number == number


def test_a_path_that_goes_on_for_ever() -> None:
    leaks = scan(b"/home/maria/" + b"a" * 5000)
    assert leaks.number == 1
    assert len(leaks.first) < 300


def test_counting_ends_somewhere() -> None:
    assert scan(b"/home/maria/x " * (MOST_COUNTED + 10)).number == MOST_COUNTED


SNIPPETS = st.sampled_from([
    *(path.encode() for path in BUILD_PATHS),
    *(path.encode() for path in IN_BINARIES_ONLY),
    *(path.encode() for path in HARMLESS),
    b"\0",
    b" ",
    b"file://",
    b"/",
    b"x" * 300,
    b"\n" * 1000,
])  # fmt: skip


@given(st.lists(SNIPPETS, max_size=30).map(b"".join), st.lists(st.integers(0, 4000), max_size=12))
def test_pieces_make_no_difference(data: bytes, cuts: list[int]) -> None:
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    pieces = [data[start:end] for start, end in itertools.pairwise(places)]
    builder = whose("/data/people/guido")
    assert scan(*pieces, builder=builder) == scan(data, builder=builder)
