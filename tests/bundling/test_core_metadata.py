"""METADATA and WHEEL of a bundle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bundling.laying import metadata_of, planned, recipe, refused
from ropewalk.wheels.write import Fresh

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    MakeWheel = Callable[..., Path]

HEAD = (
    "Summary: laid together",
    "Author-email: Ann <ann@example.org>",
    "Keywords: one,two",
    "Project-URL: Source, https://example.org/source",
    "Classifier: License :: OSI Approved :: MIT License",
    "Classifier: Topic :: Utilities",
    "Description-Content-Type: text/markdown; charset=UTF-8; variant=GFM",
    "Dynamic: license-file",
)


def fields(lines: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in lines:
        key, _, value = line.partition(": ")
        found.setdefault(key.lower(), []).append(value)
    return found


def test_the_head_leads(make_wheel: MakeWheel) -> None:
    wheels = [
        make_wheel("My.Head", "2.0", requires=["core"], metadata_lines=HEAD, description="# Head\n\nüber\n"),
        make_wheel("core", metadata_lines=["Summary: core", "Keywords: three"]),
    ]
    plan = planned(wheels, recipe("my-head"))
    lines = fields(metadata_of(plan))
    assert plan.file_name == "my_head-2.0-py3-none-any.whl"
    assert (lines["name"], lines["version"]) == (["My.Head"], ["2.0"])
    assert lines["summary"] == ["laid together"]
    assert lines["keywords"] == ["one,two"]
    assert lines["project-url"] == ["Source, https://example.org/source"]
    assert "dynamic" not in lines
    (metadata,) = [item for item in plan.items if item.name == "my_head-2.0.dist-info/METADATA"]
    assert isinstance(metadata, Fresh)
    assert metadata.content.decode().endswith("\n\n# Head\n\nüber\n")


def test_b39_the_version_is_the_lowest_that_has_all_fields(make_wheel: MakeWheel) -> None:
    plain = [make_wheel("head", requires=["core"], metadata_version="2.1"), make_wheel("core", metadata_version="2.3")]
    assert fields(metadata_of(planned(plain)))["metadata-version"] == ["2.1"]


def test_b39_expressions_drop_classifiers_and_the_licence_text(make_wheel: MakeWheel) -> None:
    wheels = [
        make_wheel(
            "head",
            requires=["core", "old"],
            metadata_version="2.1",
            metadata_lines=["License: MIT", "Classifier: License :: OSI Approved :: MIT License", "Classifier: A :: B"],
        ),
        make_wheel(
            "core",
            metadata_lines=["License-Expression: Apache-2.0 OR BSD-3-Clause"],
            license_files={"LICENSE": "text\n"},
        ),
        make_wheel("old", metadata_version="2.3", metadata_lines=["License: MIT"]),
    ]
    lines = fields(metadata_of(planned(wheels)))
    assert lines["metadata-version"] == ["2.4"]
    assert lines["license-expression"] == ["(Apache-2.0 OR BSD-3-Clause) AND MIT"]
    assert lines["license-file"] == ["core/LICENSE"]
    assert lines["classifier"] == ["A :: B"]
    assert "license" not in lines


def test_b39_import_names_need_2_5_and_all_components(make_wheel: MakeWheel) -> None:
    head = make_wheel("head", requires=["core"], metadata_version="2.5", metadata_lines=["Import-Name: head"])
    declared = make_wheel("core", metadata_version="2.5", metadata_lines=["Import-Name: core"])
    lines = fields(metadata_of(planned([head, declared])))
    assert (lines["metadata-version"], lines["import-name"]) == (["2.5"], ["core", "head"])
    silent = make_wheel("core", metadata_version="2.4")
    lines = fields(metadata_of(planned([head, silent])))
    assert "import-name" not in lines
    assert lines["metadata-version"] == ["2.1"]


def test_requires_python_and_tags_are_those_of_all(make_wheel: MakeWheel) -> None:
    wheels = [
        make_wheel("head", requires=["core", "fast"], requires_python=">=3.10"),
        make_wheel("core", requires_python=">=3.11,!=3.12.1"),
        make_wheel("fast", tag="cp311-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64"),
    ]
    plan = planned(wheels)
    assert plan.file_name == "head-1.0-cp311-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"
    assert fields(metadata_of(plan))["requires-python"] == ["!=3.12.1,>=3.11"]
    (wheel,) = [item for item in plan.items if item.name == "head-1.0.dist-info/WHEEL"]
    assert isinstance(wheel, Fresh)
    assert wheel.content.decode().splitlines()[2:] == [
        "Root-Is-Purelib: false",
        "Tag: cp311-abi3-manylinux2014_x86_64",
        "Tag: cp311-abi3-manylinux_2_17_x86_64",
    ]


def test_tags_that_do_not_fit_name_the_components(make_wheel: MakeWheel) -> None:
    wheels = [
        make_wheel("head", requires=["one", "two"]),
        make_wheel("one", tag="cp311-cp311-manylinux_2_28_x86_64"),
        make_wheel("two", tag="cp312-cp312-manylinux_2_28_x86_64"),
    ]
    assert refused(wheels) == {
        (
            "bundle/tags",
            "",
        ): "no interpreter on one platform runs all of `one` (cp311-cp311-manylinux_2_28_x86_64) and "
        "`two` (cp312-cp312-manylinux_2_28_x86_64)"
    }


def test_a_broken_field_of_the_head_is_named(make_wheel: MakeWheel) -> None:
    wheel = make_wheel("head", metadata_lines=["Description-Content-Type: text/unknown"])
    assert list(refused([wheel])) == [("bundle/metadata", "description-content-type")]
