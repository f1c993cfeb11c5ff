from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checks.checking import hints, said

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    MakeWheel = Callable[..., Path]

WHERE = "demo-1.0.dist-info/METADATA"


def of(path: Path) -> list[str]:
    """Return what the metadata check says, without the place where it is METADATA."""
    return [line.replace(f"{WHERE}: ", "") for line in said(path, "metadata")]


def test_good_metadata(make_wheel: MakeWheel) -> None:
    path = make_wheel(
        requires_python=">=3.11,!=3.12.1",
        requires=["numpy>=1.26,<3", "faiss-gpu; sys_platform == 'linux'", "faiss-cpu; sys_platform != 'linux'"],
        extras={"s3": ["boto3"]},
        license_files={"LICENSE": "free\n"},
        metadata_lines=["License-Expression: Apache-2.0", "Description-Content-Type: text/markdown; variant=GFM"],
        description="# Demo\n",
        entry_points={"console_scripts": {"demo": "demo:main"}},
        data_files={"scripts/other": "#!python\n"},
    )
    assert of(path) == []


@pytest.mark.parametrize("version", ["2.1", "2.3"])
def test_b39_an_expression_under_an_old_version(version: str, make_wheel: MakeWheel) -> None:
    path = make_wheel(metadata_version=version, metadata_lines=["License-Expression: MIT"])
    assert of(path) == [
        (f"error: `License-Expression` came with Metadata-Version 2.4; {version} is declared [metadata/younger-field]")
    ]
    assert hints(path) == ["declare `Metadata-Version: 2.4`, as current build backends do"]


@pytest.mark.parametrize(
    ("version", "line", "message"),
    [
        ("2.1", "Dynamic: summary", "error: `Dynamic` came with Metadata-Version 2.2; 2.1 is declared"),
        ("2.4", "Import-Name: demo", "error: `Import-Name` came with Metadata-Version 2.5; 2.4 is declared"),
        ("2.4", "Import-Namespace: d", "error: `Import-Namespace` came with Metadata-Version 2.5; 2.4 is declared"),
    ],
)
def test_b39_other_fields_under_an_old_version(version: str, line: str, message: str, make_wheel: MakeWheel) -> None:
    path = make_wheel(metadata_version=version, metadata_lines=[line])
    assert of(path) == [f"{message} [metadata/younger-field]"]


def test_b39_licence_files_under_an_old_version_are_common(make_wheel: MakeWheel) -> None:
    path = make_wheel(
        metadata_version="2.1", metadata_lines=["License-File: LICENSE"], info_files={"LICENSE": "free\n"}
    )
    assert of(path) == [
        "warning: `License-File` came with Metadata-Version 2.4; 2.1 is declared [metadata/younger-field]"
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "License-Expression: Free-for-all",
            "`License-Expression`: 'Free-for-all' is invalid for 'license-expression'",
        ),
        ("Summary: one\n  two", "`Summary`: 'summary' must be a single line"),
    ],
)
def test_values_that_strict_readers_refuse(line: str, message: str, make_wheel: MakeWheel) -> None:
    (said_of_it,) = of(make_wheel(metadata_lines=[line]))
    assert said_of_it.startswith(f"error: {message}")
    assert said_of_it.endswith(" [metadata/specification]")


def test_an_unknown_markup(make_wheel: MakeWheel) -> None:
    (line,) = of(make_wheel(metadata_lines=["Description-Content-Type: text/html"], description="<p>\n"))
    assert line.startswith("error: `Description-Content-Type`: 'description-content-type' must be one of ")


def test_a_description_without_its_markup(make_wheel: MakeWheel) -> None:
    path = make_wheel(description="# Demo\n")
    assert of(path) == [
        (
            "note: the description has no `Description-Content-Type`; indexes take it for reStructuredText"
            " [metadata/description-type]"
        )
    ]


def test_faults_that_the_reader_names_come_once(make_wheel: MakeWheel) -> None:
    path = make_wheel(requires=["numpy >= x"], requires_python=">=3.6.*")
    assert [line.rpartition(" ")[2] for line in of(path)] == ["[metadata/requirement]", "[metadata/requires-python]"]


def test_an_expression_beside_the_old_ways(make_wheel: MakeWheel) -> None:
    lines = ["License-Expression: MIT", "License: MIT", "Classifier: License :: OSI Approved :: MIT License"]
    path = make_wheel(metadata_lines=lines)
    assert of(path) == [
        (
            "error: `License-Expression` stands beside `License` and `Classifier: License ::`;"
            " indexes refuse such a wheel [metadata/two-licenses]"
        )
    ]


def test_a_licence_file_that_is_not_there(make_wheel: MakeWheel) -> None:
    path = make_wheel(metadata_lines=["License-File: LICENSE"], info_files={"LICENSE": "free\n"})
    assert of(path) == ["error: `License-File: LICENSE` is not in the wheel [metadata/license-file]"]
    assert hints(path) == ["it belongs at `demo-1.0.dist-info/licenses/LICENSE`"]


def test_a_licence_file_that_nothing_names(make_wheel: MakeWheel) -> None:
    path = make_wheel(info_files={"licenses/LICENSE": "free\n"})
    assert of(path) == [
        "warning: demo-1.0.dist-info/licenses/LICENSE: no `License-File` names it [metadata/license-file]"
    ]


@pytest.mark.parametrize(
    ("requirement", "message"),
    [
        (
            'S2 @ git+https://example.org/o/r ; extra == "omni"',
            "`S2` is required by the extra `omni` from a URL: `git+https://example.org/o/r`",
        ),
        ("other @ file:///tmp/x", "`other` is required from a path of the build machine: `file:///tmp/x`"),
        ("other @ ../x", "`other` is required from a path of the build machine: `../x`"),
        (
            "other @ https://someone:secret@example.org/x.whl",
            "`other` is required from a URL: `https://example.org/x.whl`",
        ),
    ],
)
def test_b52_a_requirement_by_url(requirement: str, message: str, make_wheel: MakeWheel) -> None:
    path = make_wheel(requires=[requirement], metadata_lines=["Provides-Extra: omni"] if "omni" in requirement else [])
    assert of(path) == [f"error: {message} [metadata/direct-url]"]
    assert hints(path) == ["require a released version by its number; public indexes refuse direct references"]


def test_b53_a_local_version(make_wheel: MakeWheel) -> None:
    path = make_wheel(version="1.0+g2539abc")
    assert of(path) == [
        (
            "warning: demo-1.0+g2539abc.dist-info/METADATA: version `1.0+g2539abc` has the local segment `g2539abc`"
            " [metadata/local-version]"
        )
    ]
    assert hints(path) == ["public indexes refuse it, and publishing will; build from a clean checkout of the release"]


def test_b53_a_local_version_in_the_file_name_only(make_wheel: MakeWheel) -> None:
    path = make_wheel(version="1.0", file_name="demo-1.0+cu130-py3-none-any.whl")
    assert of(path) == [
        "error: the file name says demo 1.0+cu130, METADATA demo 1.0 [metadata/names-differ]",
    ]


def test_b24_two_spellings_of_one_project(make_wheel: MakeWheel) -> None:
    path = make_wheel(requires=["Foo.Bar>=2", "foo__bar<3"])
    assert of(path) == [
        ("warning: several lines require the same project in the same case: `foo-bar` [metadata/repeated-requirement]"),
        "warning: `Foo.Bar` and `foo__bar` are one project [metadata/two-spellings]",
    ]
    assert hints(path) == ["write one line with all specifiers", "write `foo-bar` each time"]


def test_b24_two_spellings_that_exclude_one_another(make_wheel: MakeWheel) -> None:
    lines = of(make_wheel(requires=["Foo.Bar>=2", "foo-bar<2"]))
    assert lines[0] == "error: no version fulfils both `Foo.Bar>=2` and `foo-bar<2` [metadata/requirement-conflict]"


def test_one_project_in_different_cases(make_wheel: MakeWheel) -> None:
    requires = ["a>=1", "a>=2; python_version >= '3.12'", "a[x]>=1"]
    assert of(make_wheel(requires=requires, extras={"b": ["a>=3"]})) == []


@pytest.mark.parametrize(
    ("stated", "needed"),
    [
        (">=3.10,>=3.11", ">=3.11"),
        (">=3.11,>=3.11", ">=3.11"),
        (">=3.10,<4,<3.14,!=3.12.1", "!=3.12.1,<3.14,>=3.10"),
        (">=3.10,>3.9,", ">=3.10"),
    ],
)
def test_redundant_bounds(stated: str, needed: str, make_wheel: MakeWheel) -> None:
    assert of(make_wheel(requires_python=stated)) == [
        f"note: `Requires-Python: {stated}` says no more than `{needed}` [metadata/redundant-bounds]"
    ]


@pytest.mark.parametrize("stated", ["", ">=3.11", ">=3.10, !=3.11.*, !=3.12.*, <3.14", "~=3.11", ">=3.11,!=2.7.*"])
def test_bounds_that_all_say_something(stated: str, make_wheel: MakeWheel) -> None:
    assert of(make_wheel(requires_python=stated)) == []


def test_no_python_is_allowed(make_wheel: MakeWheel) -> None:
    assert of(make_wheel(requires_python=">=3.12,<3.12")) == [
        "error: `Requires-Python: <3.12,>=3.12` allows no Python [metadata/requires-python]"
    ]


def test_an_extra_that_is_not_offered(make_wheel: MakeWheel) -> None:
    path = make_wheel(requires=['boto3; extra == "S_3"', 'gcsfs; "gcs" == extra'])
    assert of(path) == [
        "error: requirements belong to the extra `gcs`, which no `Provides-Extra` offers [metadata/unknown-extra]",
        "error: requirements belong to the extra `s-3`, which no `Provides-Extra` offers [metadata/unknown-extra]",
    ]


def test_extras_that_bring_nothing(make_wheel: MakeWheel) -> None:
    assert of(make_wheel(extras={"old": [], "older": [], "s3": ["boto3"]})) == [
        "note: no requirement belongs to `old`, `older` [metadata/empty-extra]"
    ]


@pytest.mark.parametrize(
    ("entry_points", "data_files", "message"),
    [
        (
            {"console_scripts": {"tool": "demo:main"}},
            {"scripts/tool": "#!python\n"},
            "the script `tool` is defined more than once: `tool` in [console_scripts] and `demo-1.0.data/scripts/tool`",
        ),
        (
            {"console_scripts": {"tool": "demo:main"}, "gui_scripts": {"tool": "demo:main"}},
            {},
            "the script `tool` is defined more than once: `tool` in [console_scripts] and `tool` in [gui_scripts]",
        ),
        (
            {"console_scripts": {"Tool": "demo:main", "tool": "demo:main"}},
            {},
            "the script `Tool` is defined more than once: `Tool` in [console_scripts] and `tool` in [console_scripts]",
        ),
    ],
)
def test_b31_a_script_that_exists_twice(
    entry_points: dict[str, dict[str, str]], data_files: dict[str, str], message: str, make_wheel: MakeWheel
) -> None:
    path = make_wheel(entry_points=entry_points, data_files=data_files)
    assert said(path, "metadata") == [f"error: demo-1.0.dist-info/entry_points.txt: {message} [metadata/script-twice]"]


def test_b31_scripts_of_different_names(make_wheel: MakeWheel) -> None:
    path = make_wheel(entry_points={"console_scripts": {"tool": "demo:main"}}, data_files={"scripts/tool.sh": "#!x"})
    assert of(path) == []
