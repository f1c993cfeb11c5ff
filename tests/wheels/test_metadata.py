"""Core metadata: read with every fault named, written in the lowest version that allows it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.finding import Collector
from ropewalk.wheels.metadata import CoreMetadata, metadata_faults, needed_format, parse_metadata, render_metadata

BASE: dict[str, Any] = {"metadata_version": "2.1", "name": "demo", "version": "1.0"}


def parsed(*lines: str, version: str = "2.4") -> tuple[CoreMetadata | None, list[tuple[str, str]]]:
    found = Collector("demo.whl")
    text = "\n".join([f"Metadata-Version: {version}", "Name: demo", "Version: 1.0", *lines]) + "\n"
    metadata = parse_metadata(text.encode(), "METADATA", found)
    return metadata, [(finding.rule, finding.message) for finding in found.findings]


@pytest.mark.parametrize("version", ["1.0", "1.1", "1.2", "2.1", "2.2", "2.3", "2.4", "2.5"])
def test_every_version_is_read(version: str) -> None:
    metadata, findings = parsed(
        "Requires-Dist: numpy>=1", "Requires-Python: >=3.9", "Provides-Extra: A_b", version=version
    )
    assert findings == []
    assert metadata is not None
    assert (metadata.version_of_format, str(metadata.requires_python)) == (version, ">=3.9")
    assert metadata.provides_extra == ("a-b",)


@pytest.mark.parametrize(
    ("line", "finding"),
    [
        ("Requires-Dist: a b", ("metadata/requirement", "`Requires-Dist: a b` is no requirement: ")),
        (
            "Requires-Python: >=3.6.*",
            ("metadata/requires-python", "`Requires-Python: >=3.6.*` is no version specifier"),
        ),
        ("Requires-Python: !=3.0*", ("metadata/requires-python", "`Requires-Python: !=3.0*` is no version specifier")),
        ("Unheard-Of: x", ("metadata/unreadable-field", "`unheard-of` is unknown, repeated or not UTF-8")),
        ("Summary: one\nSummary: two", ("metadata/unreadable-field", "`summary` is unknown, repeated or not UTF-8")),
    ],
)
def test_faults_are_named(line: str, finding: tuple[str, str]) -> None:
    ((rule, message),) = parsed(line)[1]
    assert rule == finding[0]
    assert message.startswith(finding[1])


@pytest.mark.parametrize(("name", "version"), [("-x", "1.0"), ("", "1.0"), ("demo", "one"), ("demo", "")])
def test_without_a_name_and_a_version_there_is_nothing(name: str, version: str) -> None:
    found = Collector("demo.whl")
    text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    assert parse_metadata(text.encode(), "METADATA", found) is None
    assert found.findings


@pytest.mark.parametrize("version", ["", "2.0", "2.6", "x"])
def test_b39_unknown_versions(version: str) -> None:
    assert parsed(version=version)[1] == [("metadata/version", f"`Metadata-Version: {version}` is not a known one")]


@pytest.mark.parametrize(
    ("fields", "version"),
    [
        ({}, "2.1"),
        ({"dynamic": ["license"]}, "2.2"),
        ({"license_expression": "MIT"}, "2.4"),
        ({"license_files": ["a"]}, "2.4"),
        ({"import_names": ["demo"], "license_expression": "MIT"}, "2.5"),
    ],
)
def test_b39_the_version_that_the_fields_need(fields: dict[str, Any], version: str) -> None:
    raw = {**BASE, **fields}
    assert needed_format(raw) == version
    assert metadata_faults({**raw, "metadata_version": version}) == []


@pytest.mark.parametrize(
    ("version", "field"), [("2.1", "license_expression"), ("2.3", "license_expression"), ("2.4", "import_names")]
)
def test_b39_strict_readers_refuse_younger_fields(version: str, field: str) -> None:
    value: Any = "MIT" if field == "license_expression" else ["demo"]
    (fault,) = metadata_faults({**BASE, "metadata_version": version, field: value})
    assert fault.field == field.replace("_", "-").removesuffix("s") or fault.field == field.replace("_", "-")


def test_fields_are_written_as_the_specification_does() -> None:
    text = render_metadata(
        {
            **BASE,
            "metadata_version": "2.4",
            "summary": "über",
            "author_email": "a@b.c",
            "maintainer_email": "a@b.c",
            "home_page": "https://example.org",
            "download_url": "https://example.org/d",
            "project_urls": {"Source": "https://example.org/s"},
            "requires_dist": ["numpy"],
            "license_expression": "MIT",
            "description": "# text\n\nname: no field\n",
            "description_content_type": "text/markdown",
        }
    ).decode()
    head, _, body = text.partition("\n\n")
    assert sorted(line.partition(":")[0] for line in head.splitlines()) == [
        *("Author-email", "Description-Content-Type", "Download-URL", "Home-page", "License-Expression"),
        *("Maintainer-email", "Metadata-Version", "Name", "Project-URL", "Requires-Dist", "Summary", "Version"),
    ]
    assert body == "# text\n\nname: no field\n"


TEXT = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "summary": TEXT,
            "keywords": st.lists(st.text("abc", min_size=1), min_size=1),
            "description": st.text(st.characters(exclude_categories=["C"])).filter(lambda text: text.strip()),
            "requires_dist": st.lists(st.sampled_from(["numpy", "pandas>=1; extra == 'x'"]), min_size=1),
            "author": TEXT,
        },
    )
)
def test_what_is_written_is_read_back(fields: dict[str, Any]) -> None:
    text = render_metadata({**BASE, **fields})
    found = Collector("demo.whl")
    metadata = parse_metadata(text, "METADATA", found)
    assert metadata is not None
    assert found.findings == []
    again = {key: value for key, value in metadata.raw.items() if key not in ("requires_dist", "description")}
    assert again == {
        key: value for key, value in {**BASE, **fields}.items() if key not in ("requires_dist", "description")
    }
    assert render_metadata(metadata.raw) == text
