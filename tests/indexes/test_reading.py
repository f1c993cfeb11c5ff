from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from packaging.utils import canonicalize_name as pkg

from index_server import EARLY, LATE, core_metadata, make_sdist
from making import make_wheel, unzipped
from ropewalk.errors import IntegrityError, ToolError
from ropewalk.indexes.catalogue import IndexCatalogue
from ropewalk.indexes.places import Index
from ropewalk.indexes.values import Metadata, UnreadableError

if TYPE_CHECKING:
    from pathlib import Path

    from index_server import IndexServer

Open = Callable[..., IndexCatalogue]


def unreadable(catalogue: IndexCatalogue, version: str = "1.0", file: str = "") -> str:
    """Return why the metadata of a release of `demo` cannot be had."""
    with pytest.raises(UnreadableError) as caught:
        catalogue.metadata(pkg("demo"), version, file)
    return caught.value.message


def metadata_of(wheel: Path) -> bytes:
    return next(content for name, content in unzipped(wheel).items() if name.endswith("/METADATA"))


def test_what_stands_beside_a_wheel_is_read_and_the_wheel_is_not(
    index: IndexServer, tmp_path: Path, catalogue: Open
) -> None:
    wheel = make_wheel(tmp_path, "demo", extras={"fast": ["six>=1"]}, requires=["numpy (>=1.0)"], requires_python=">=3")
    index.put(wheel, metadata=metadata_of(wheel))
    expected = Metadata(requires=("numpy (>=1.0)", 'six>=1; extra == "fast"'), extras=("fast",), requires_python=">=3")
    assert catalogue().metadata(pkg("demo"), "1.0") == expected
    assert index.requests == ["/simple/demo/", f"/files/{wheel.name}.metadata"]
    index.requests.clear()
    assert catalogue().metadata(pkg("demo"), "1.0") == expected
    assert index.requests == ["/simple/demo/"]


def test_metadata_with_another_hash_are_refused(index: IndexServer, tmp_path: Path, catalogue: Open) -> None:
    wheel = make_wheel(tmp_path, "demo")
    index.put(wheel, metadata=metadata_of(wheel), says={"core-metadata": {"sha256": "0" * 64}})
    with pytest.raises(IntegrityError, match=f"the metadata of `{wheel.name}` at `{index.url}` has the SHA-256 "):
        catalogue().metadata(pkg("demo"), "1.0")


def test_of_a_wheel_only_the_end_is_fetched(index: IndexServer, tmp_path: Path, catalogue: Open) -> None:
    noise = "".join(f"{number}" for number in range(400_000))
    files = {"demo/a.txt": noise, **{f"demo/{number}.py": "" for number in range(1500)}}
    wheel = make_wheel(tmp_path, "demo", files=files, requires=["six"], method=zipfile.ZIP_STORED)
    index.put(wheel, says={"core-metadata": True})  # it says so, but there is nothing beside the wheel
    assert catalogue().metadata(pkg("demo"), "1.0").requires == ("six",)
    assert index.sent < wheel.stat().st_size / 4
    assert index.requests.count(f"/files/{wheel.name}") > 1


def test_a_server_that_sends_no_parts_sends_it_all(index: IndexServer, tmp_path: Path, catalogue: Open) -> None:
    index.ranges = False
    index.put(make_wheel(tmp_path, "demo", requires=["six"]))
    assert catalogue().metadata(pkg("demo"), "1.0").requires == ("six",)
    index.put(make_wheel(tmp_path, "demo", "2.0"), says={"hashes": {"sha256": "0" * 64}})
    with pytest.raises(IntegrityError, match=r"demo-2\.0-py3-none-any\.whl"):
        catalogue().metadata(pkg("demo"), "2.0")


def test_the_metadata_of_each_file_can_be_asked_for(index: IndexServer, tmp_path: Path, catalogue: Open) -> None:
    first = make_wheel(tmp_path, "demo", tag="cp312-cp312-win_amd64", requires=["on-windows"])
    index.put(first, make_wheel(tmp_path, "demo", tag="cp312-cp312-linux_x86_64", requires=["on-linux"]))
    one = catalogue()
    assert one.metadata(pkg("demo"), "1.0", first.name).requires == ("on-windows",)
    assert one.metadata(pkg("demo"), "1.0").requires == ("on-linux",)
    assert unreadable(one, "1.0", "demo-1.0.zip") == "there is no `demo-1.0.zip` among what is served"
    assert unreadable(one, "2.0") == "there is no `demo 2.0` among what is served"


def test_a_broken_wheel_is_passed_over_for_another_file(index: IndexServer, tmp_path: Path, catalogue: Open) -> None:
    broken = make_wheel(tmp_path, "demo", tag="py2-none-any")
    broken.write_bytes(b"no archive" * 100)
    index.put(broken, make_wheel(tmp_path, "demo", requires=["six"]))
    one = catalogue()
    assert one.metadata(pkg("demo"), "1.0").requires == ("six",)
    assert unreadable(one, file=broken.name).startswith(f"the metadata of `{broken.name}` cannot be read: it is no zip")


def test_a_file_that_is_gone(index: IndexServer, tmp_path: Path, catalogue: Open) -> None:
    wheel = make_wheel(tmp_path, "demo")
    index.put(wheel)
    one = catalogue()
    one.releases(pkg("demo"))
    wheel.unlink()
    message = f"the metadata of `{wheel.name}` cannot be read: `{index.root}/files/{wheel.name}` failed: HTTP 404"
    assert unreadable(one) == message


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (core_metadata("other", "1.0"), "its metadata are those of `other 1.0`"),
        (core_metadata("demo", "1.1"), "its metadata are those of `demo 1.1`"),
        ("", "its metadata are those of ` `"),
        (core_metadata("demo", "1.0", "Requires-Dist: six >dev"), "its requirement `six >dev` is none: "),
    ],
)
def test_metadata_that_are_none(index: IndexServer, tmp_path: Path, catalogue: Open, text: str, why: str) -> None:
    index.put(make_wheel(tmp_path, "demo", metadata=text))
    assert unreadable(catalogue()).startswith(f"the metadata of `demo-1.0-py3-none-any.whl` cannot be read: {why}")


def test_an_sdist_whose_requirements_are_final(index: IndexServer, tmp_path: Path, catalogue: Open) -> None:
    text = core_metadata("demo", "1.0", "Dynamic: Classifier", "Requires-Dist: six", form="2.2")
    index.put(make_sdist(tmp_path, "demo", "1.0", {"setup.py": "raise SystemExit", "PKG-INFO": text}))
    assert catalogue().metadata(pkg("demo"), "1.0") == Metadata(requires=("six",))
    index.requests.clear()
    assert catalogue().metadata(pkg("demo"), "1.0") == Metadata(requires=("six",))
    assert index.requests == ["/simple/demo/"]


PROJECT = """
[project]
name = "Demo"
dynamic = ["version"]
requires-python = ">=3.9"
dependencies = ["six", "u @ https://x.example/u.zip"]
[project.optional-dependencies]
Fast_Path = ["numpy; python_version < '4'", "v @ https://x.example/v.zip"]
"""


def test_an_sdist_whose_project_table_has_its_requirements(index: IndexServer, tmp_path: Path, catalogue: Open) -> None:
    files = {"PKG-INFO": core_metadata("demo", "1.0", form="2.1"), "pyproject.toml": PROJECT}
    index.put(make_sdist(tmp_path, "demo", "1.0", files))
    assert catalogue().metadata(pkg("demo"), "1.0") == Metadata(
        requires=(
            "six",
            "u @ https://x.example/u.zip",
            'numpy; (python_version < "4") and extra == "fast-path"',
            'v @ https://x.example/v.zip ; extra == "fast-path"',
        ),
        extras=("fast-path",),
        requires_python=">=3.9",
    )


TO_BUILD = "its metadata are known only once it is built, which runs its code"


@pytest.mark.parametrize(
    "files",
    [
        {"PKG-INFO": core_metadata("demo", "1.0", form="2.1")},
        {"PKG-INFO": core_metadata("demo", "1.0", "Dynamic: requires-dist")},
        {"pyproject.toml": "[project]\nname = 'demo'\ndynamic = ['dependencies']\n"},
        {"pyproject.toml": "[tool.x]\n"},
        {"demo.egg-info/PKG-INFO": core_metadata("demo", "1.0")},
    ],
)
def test_any_other_sdist_would_have_to_be_built(
    index: IndexServer, tmp_path: Path, catalogue: Open, files: dict[str, str]
) -> None:
    index.put(make_sdist(tmp_path, "demo", "1.0", files))
    for _ in range(2):
        one = catalogue()
        assert unreadable(one) == f"the metadata of `demo-1.0.tar.gz` cannot be read: {TO_BUILD}"
        with pytest.raises(UnreadableError) as caught:
            one.metadata(pkg("demo"), "1.0")
        assert caught.value.hint == "allow builds, or take a version that has a wheel"
    assert index.requests.count("/files/demo-1.0.tar.gz") == 1


def test_an_sdist_with_another_hash_is_refused(index: IndexServer, tmp_path: Path, catalogue: Open) -> None:
    index.put(make_sdist(tmp_path, "demo", "1.0", {}), says={"hashes": {"sha256": "0" * 64}})
    with pytest.raises(IntegrityError, match=r"`demo-1\.0\.tar\.gz` at "):
        catalogue().metadata(pkg("demo"), "1.0")


# Builds

BACKEND = """
import os
def get_requires_for_build_wheel(settings=None):
    return REQUIRES
def build_wheel(folder, settings=None, metadata=None):
    raise SystemExit("the wheel is not needed")
def prepare_metadata_for_build_wheel(folder, settings=None):
    print("noise")
    info = os.path.join(folder, "demo-1.0.dist-info")
    os.mkdir(info)
    with open(os.path.join(info, "METADATA"), "w") as file:
        file.write("Metadata-Version: 2.1\\nName: demo\\nVersion: 1.0\\nRequires-Dist: " + needed() + "\\n")
    return "demo-1.0.dist-info"
"""


def source(folder: Path, requires: list[str], needed: str, later: list[str] | None = None) -> Path:
    """Write an sdist whose backend is in it; `needed` is an expression that gives its requirement."""
    system = {"requires": requires, "build-backend": "backend", "backend-path": ["."]}
    table = "\n".join(f"{key} = {json.dumps(value)}" for key, value in system.items())
    backend = f"{BACKEND.replace('REQUIRES', repr(later or []))}\ndef needed():\n    return {needed}\n"
    return make_sdist(folder, "demo", "1.0", {"pyproject.toml": f"[build-system]\n{table}\n", "backend.py": backend})


def test_a_build_tells_the_rest_where_it_is_asked_for(index: IndexServer, tmp_path: Path, catalogue: Open) -> None:
    index.put(make_wheel(tmp_path, "be", "1.0"), make_wheel(tmp_path, "late", "1.0"))
    index.put(make_wheel(tmp_path, "be", "2.0"), uploaded=LATE)
    needed = "'be' + __import__('be').__version__ + '==' + __import__('late').__version__"
    index.put(source(tmp_path, ["be"], needed, later=["late"]))
    unreadable(catalogue())
    assert catalogue(builds=True).metadata(pkg("demo"), "1.0").requires == ("be2.0==1.0",)
    old = catalogue(builds=True, exclude_newer="2024-06-01T00:00:00Z")
    assert old.metadata(pkg("demo"), "1.0").requires == ("be1.0==1.0",)
    index.requests.clear()
    assert catalogue(builds=True).metadata(pkg("demo"), "1.0").requires == ("be2.0==1.0",)
    assert index.requests == ["/simple/demo/"]


def test_a_build_may_not_take_from_the_default_what_another_index_serves(
    index: IndexServer, other: IndexServer, tmp_path: Path, catalogue: Open
) -> None:
    index.put(make_wheel(tmp_path / "bait", "be", "99.0"), source(tmp_path, ["be"], "'six'"))
    other.put(make_wheel(tmp_path, "be", "1.0"))
    further = (Index(url=other.url, name="ours", packages=frozenset({pkg("be")})),)
    message = unreadable(catalogue(builds=True, further=further))
    assert message.startswith("the metadata of `demo-1.0.tar.gz` cannot be read: it does not build: what it needs ")
    assert "/files/be-99.0-py3-none-any.whl" not in index.requests


def test_a_build_that_fails(index: IndexServer, tmp_path: Path, catalogue: Open) -> None:
    index.put(source(tmp_path, [], "1 / 0"))
    assert "ZeroDivisionError: division by zero" in unreadable(catalogue(builds=True))


@pytest.mark.parametrize(
    ("requires", "why"),
    [
        (["--index-url=https://x.example"], "its build requirement `--index-url=https://x.example` is none"),
        ([3], "its build requirements are no list"),
    ],
)
def test_build_requirements_that_are_none(
    index: IndexServer, tmp_path: Path, catalogue: Open, requires: list[str], why: str
) -> None:
    index.put(source(tmp_path, requires, "''"))
    assert unreadable(catalogue(builds=True)).endswith(why)


def test_an_sdist_that_would_write_elsewhere(index: IndexServer, tmp_path: Path, catalogue: Open) -> None:
    index.put(make_sdist(tmp_path, "demo", "1.0", {"../../../evil.txt": "x"}), uploaded=EARLY)
    message = unreadable(catalogue(builds=True))
    assert message.startswith("the metadata of `demo-1.0.tar.gz` cannot be read: it cannot be unpacked: ")


def test_a_busy_index_is_no_reason_to_go_on_without_a_release(
    index: IndexServer, tmp_path: Path, catalogue: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ropewalk.tools.web.WAITS", ())
    index.put(make_wheel(tmp_path, "demo"))
    one = catalogue()
    one.releases(pkg("demo"))
    index.failures = [503] * 9
    with pytest.raises(ToolError, match="HTTP 503") as caught:
        one.metadata(pkg("demo"), "1.0")
    assert not isinstance(caught.value, UnreadableError)
    index.failures = []
    assert one.metadata(pkg("demo"), "1.0") == Metadata()
