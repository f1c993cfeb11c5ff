"""Core metadata: read with every fault named, written in the lowest version that allows it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.finding import Collector
from ropewalk.wheels.metadata import (
    INTRODUCED,
    VERSIONS,
    CoreMetadata,
    metadata_faults,
    needed_format,
    parse_metadata,
    render_metadata,
)

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


@pytest.mark.parametrize(
    ("fields", "at_least", "version"),
    [({}, "2.3", "2.3"), ({"dynamic": ["a"]}, "2.4", "2.4"), ({"import_names": ["a"]}, "2.4", "2.5")],
)
def test_b39_never_lower_than_asked(fields: dict[str, Any], at_least: str, version: str) -> None:
    assert needed_format({**BASE, **fields}, at_least=at_least) == version


def test_b39_an_empty_field_needs_nothing() -> None:
    assert needed_format({**BASE, "license_expression": "", "license_files": [], "import_names": []}) == "2.1"


@pytest.mark.parametrize("field", sorted(INTRODUCED))
def test_b39_each_field_needs_its_version_and_no_later_one(field: str) -> None:
    """As `packaging` has it: the version that we say takes the field, the one before does not."""
    values: dict[str, Any] = {"license_expression": "MIT", "dynamic": ["license"]}
    raw = {**BASE, field: values.get(field, ["demo"])}
    needed = needed_format(raw)
    before = VERSIONS[VERSIONS.index(needed) - 1]
    assert metadata_faults({**raw, "metadata_version": needed}) == []
    assert len(metadata_faults({**raw, "metadata_version": before})) == 1


def test_all_faults_at_once() -> None:
    found = Collector("demo.whl")
    text = "Metadata-Version: 9\nName: -\nVersion: x\nRequires-Dist: a b\nRequires-Python: y\nFoo: 1\n"
    assert parse_metadata(text.encode(), "METADATA", found) is None
    assert [str(finding) for finding in found.findings] == [
        "demo.whl: METADATA: `foo` is unknown, repeated or not UTF-8 [metadata/unreadable-field]",
        "demo.whl: METADATA: `Metadata-Version: 9` is not a known one [metadata/version]",
        (
            "demo.whl: METADATA: `Requires-Dist: a b` is no requirement: "
            "Expected semicolon (after name with no version specifier) or end [metadata/requirement]"
        ),
        "demo.whl: METADATA: `Requires-Python: y` is no version specifier [metadata/requires-python]",
        "demo.whl: METADATA: `Version: x` is no version (PEP 440) [metadata/project-version]",
        "demo.whl: METADATA: `Name: -` is no project name [metadata/name]",
    ]


def test_what_is_long_is_cut() -> None:
    found = Collector("demo.whl")
    long = "x y" * 100_000
    text = f"Metadata-Version: {long}\nName: {long}\nVersion: {long}\nRequires-Dist: {long}\nRequires-Python: {long}\n"
    parse_metadata(text.encode(), "METADATA", found)
    assert len(found.findings) == 5
    assert max(len(str(finding)) for finding in found.findings) < 600


@given(
    st.lists(
        st.sampled_from(
            [
                *(
                    b"Metadata-Version: 2.4\n",
                    b"Name: demo\n",
                    b"Version: 1.0\n",
                    b"Requires-Dist: a; os_name == 'x'\n",
                ),
                *(b"Content-Type: multipart/mixed; boundary=x\n", b"\n", b"--x\n", b"\r", b"\xff", b"\0", b" more\n"),
                *(b"Project-URL: a, b\n", b"=?utf-8?q?=0A?=", b"Requires-Python: >=", b"9" * 50, b"(", b"\xe2\x80\xa8"),
            ]
        ),
        max_size=12,
    ).map(b"".join)
)
def test_nothing_breaks_the_reader(data: bytes) -> None:
    found = Collector("demo.whl")
    metadata = parse_metadata(data, "METADATA", found)
    assert metadata is not None or found.findings
    if metadata is not None:
        metadata_faults(metadata.raw)


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
