"""Each path is one component's; what installers would put in one place is found and judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from packaging.utils import NormalizedName

from bundling.laying import planned, refused, said
from ropewalk.bundling.ownership import Layout, installed_path, layout_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    MakeWheel = Callable[..., Path]

LAYOUT = layout_of(
    NormalizedName("my-core"),
    "My_Core-1.0.dist-info",
    ["LICENSE", "NOTICE"],
    {"My_Core-1.0.dist-info/LICENSE", "My_Core-1.0.dist-info/NOTICE", "My_Core-1.0.dist-info/licenses/NOTICE"},
    "head-2.0",
)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("core/a.py", "core/a.py"),
        ("My_Core-1.0.data/scripts/run", "head-2.0.data/scripts/run"),
        ("My_Core-1.0.dist-info/licenses/a/MIT", "head-2.0.dist-info/licenses/my-core/a/MIT"),
        ("My_Core-1.0.dist-info/LICENSE", "head-2.0.dist-info/licenses/my-core/LICENSE"),
        ("My_Core-1.0.dist-info/NOTICE", "head-2.0.dist-info/ropewalk/components/my-core/NOTICE"),
        ("My_Core-1.0.dist-info/sboms/a.json", "head-2.0.dist-info/sboms/my-core/a.json"),
        ("My_Core-1.0.dist-info/METADATA", "head-2.0.dist-info/ropewalk/components/my-core/METADATA"),
    ],
)
def test_where_the_files_of_a_component_lie(path: str, place: str) -> None:
    assert isinstance(LAYOUT, Layout)
    assert LAYOUT.place(path) == place


@pytest.mark.parametrize(
    ("path", "installed"),
    [
        ("a/b.py", "site:a/b.py"),
        ("x.data/purelib/a/b.py", "site:a/b.py"),
        ("x.data/platlib/a/b.py", "site:a/b.py"),
        ("x.data/scripts/run", "bin:run"),
        ("x.data/data/bin/run", "bin:run"),
        ("x.data/data/Scripts/run", "bin:run"),
        ("x.data/data/lib/python3.12/site-packages/a.py", "site:a.py"),
        ("x.data/data/share/man/a.1", "data:share/man/a.1"),
        ("x.data/headers/a.h", "headers:a.h"),
    ],
)
def test_where_an_installer_puts_a_member(path: str, installed: str) -> None:
    assert installed_path(path, "x.data") == installed


def pair(make_wheel: MakeWheel, first: Mapping[str, str], second: Mapping[str, str], **options: object) -> list[Path]:
    return [make_wheel("head", requires=["b"], files=first), make_wheel("b", files=second, **options)]


def test_b30_one_path_with_different_bytes_stops_the_merge_and_names_both(make_wheel: MakeWheel) -> None:
    wheels = pair(make_wheel, {"pkg/__init__.py": "a = 1\n"}, {"pkg/__init__.py": "b = 1\n"})
    (message,) = refused(wheels).values()
    assert message.startswith("differs between `b` and `head` (SHA-256 ")


def test_b30_identical_bytes_are_shared_and_have_one_row(make_wheel: MakeWheel) -> None:
    plan = planned(pair(make_wheel, {"pkg/__init__.py": "", "pkg/a.py": ""}, {"pkg/__init__.py": "", "pkg/b.py": ""}))
    assert plan.provenance.shared == {"pkg/__init__.py": ("b", "head")}
    assert [item.name for item in plan.items].count("pkg/__init__.py") == 1


def test_b30_a_namespace_that_only_one_component_starts_is_a_warning(make_wheel: MakeWheel) -> None:
    start = '__path__ = __import__("pkgutil").extend_path(__path__, __name__)\n'
    wheels = pair(make_wheel, {"pkg/__init__.py": start, "pkg/a.py": ""}, {"pkg/b.py": ""})
    assert said(wheels) == {
        (
            "bundle/split-package",
            "pkg",
        ): "the import package `pkg` comes from `b` and `head`, but `b` has no `__init__.py` in it"
    }


def test_b30_a_file_and_a_folder_of_one_name(make_wheel: MakeWheel) -> None:
    assert refused(pair(make_wheel, {"pkg": "a file\n"}, {"pkg/x.py": ""})) == {
        ("bundle/path-collision", "pkg"): "is a file in `head` and a folder in `b`"
    }


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("pkg/Data.txt", "pkg/data.txt"),
        ("pkg/e\N{COMBINING ACUTE ACCENT}.txt", "pkg/\N{LATIN SMALL LETTER E WITH ACUTE}.txt"),
        ("pkg/Stra\N{LATIN SMALL LETTER SHARP S}e.txt", "pkg/STRASSE.txt"),
    ],
)
def test_b30_paths_that_are_one_file_on_some_systems(make_wheel: MakeWheel, first: str, second: str) -> None:
    wheels = pair(make_wheel, {first: "same\n"}, {second: "same\n"})
    assert refused(wheels) == {
        (
            "bundle/path-collision",
            second,
        ): f"`{first}` and it are one file where case or composition of characters is ignored, from `b` and `head`"
    }


def test_a_namespace_package_without_init_may_be_shared(make_wheel: MakeWheel) -> None:
    assert said(pair(make_wheel, {"google/a/__init__.py": ""}, {"google/b/__init__.py": ""})) == {}


def test_a_regular_package_in_two_components_is_noted(make_wheel: MakeWheel) -> None:
    wheels = pair(make_wheel, {"pkg/__init__.py": "", "pkg/a.py": ""}, {"pkg/__init__.py": "", "pkg/b.py": ""})
    assert said(wheels) == {("bundle/shared-package", "pkg"): "the import package `pkg` comes from `b` and `head`"}


def test_the_same_bytes_under_two_hashes_are_shared(make_wheel: MakeWheel) -> None:
    from making import record_hash  # noqa: PLC0415

    def with_sha512(record: str) -> str:
        return record.replace(record_hash(b"same\n"), record_hash(b"same\n", "sha512"))

    wheels = [
        make_wheel("head", requires=["b"], files={"pkg/a.txt": "same\n"}),
        make_wheel("b", files={"pkg/a.txt": "same\n"}, record_edit=with_sha512),
    ]
    assert planned(wheels).provenance.shared == {"pkg/a.txt": ("b", "head")}


def test_a_file_executable_in_one_component_only_is_refused(make_wheel: MakeWheel) -> None:
    wheels = pair(make_wheel, {"pkg/run": "#!\n"}, {"pkg/run": "#!\n"}, modes={"pkg/run": 0o100755})
    assert refused(wheels) == {("bundle/path-collision", "pkg/run"): "is executable in one of `b` and `head` only"}


def test_purelib_and_the_root_are_one_place(make_wheel: MakeWheel) -> None:
    wheels = [
        make_wheel("head", requires=["b"], files={"pkg/a.py": "1\n"}),
        make_wheel("b", files={}, data_files={"purelib/pkg/a.py": "1\n"}),
    ]
    assert refused(wheels) == {
        (
            "bundle/path-collision",
            "head-1.0.data/purelib/pkg/a.py",
        ): "is installed to the same place as `pkg/a.py`, from `b` and `head`"
    }


def test_data_folders_that_no_installer_knows(make_wheel: MakeWheel) -> None:
    wheel = make_wheel("head", data_files={"etc/a.conf": "", "etc/b.conf": "", "data/c": ""})
    assert refused([wheel]) == {
        ("bundle/data-scheme", "head-1.0.data/etc"): "`head` has files in `head-1.0.data/etc`, which no installer knows"
    }


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"tool.py": ""}, {"tool/__init__.py": ""}),
        ({"tool.py": ""}, {"tool/inner.py": ""}),
        ({"pkg/tool.py": ""}, {"pkg/tool.cpython-311-x86_64-linux-gnu.so": ""}),
    ],
)
def test_two_modules_of_one_name(make_wheel: MakeWheel, first: Mapping[str, str], second: Mapping[str, str]) -> None:
    ((rule, _), message), *others = refused(pair(make_wheel, first, second)).items()
    assert (rule, others) == ("bundle/import-name", [])
    assert message.startswith("`import ")


def test_a_module_with_its_stub_is_no_conflict(make_wheel: MakeWheel) -> None:
    assert said(pair(make_wheel, {"tool.py": "", "tool.pyi": ""}, {"other.py": ""})) == {}


def test_the_same_licence_is_kept_once_and_the_head_s(make_wheel: MakeWheel) -> None:
    wheels = [
        make_wheel("head", requires=["b"], license_files={"LICENSE": "text\n"}),
        make_wheel("b", license_files={"COPYING": "text\n", "NOTICE": "other\n", "empty": ""}),
    ]
    plan = planned(wheels)
    names = [item.name for item in plan.items if "/licenses/" in item.name]
    info = "head-1.0.dist-info"
    assert names == [f"{info}/licenses/b/NOTICE", f"{info}/licenses/b/empty", f"{info}/licenses/head/LICENSE"]
    assert plan.provenance.copies == {
        f"{info}/licenses/b/COPYING": f"{info}/licenses/head/LICENSE",
        f"{info}/ropewalk/components/b/WHEEL": f"{info}/ropewalk/components/head/WHEEL",
    }
