"""The bundle manifest is read back as it was written, and nothing in it is trusted unseen."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.utils import NormalizedName

from ropewalk.bundling.provenance import Origin, Provenance, parse_provenance, render_provenance
from ropewalk.bundling.roles import Role
from ropewalk.errors import UsageError
from ropewalk.finding import Collector

CORE = Origin(
    name=NormalizedName("my-core"),
    version="1.0",
    role=Role.PROVIDER,
    extras=("s3",),
    commit="a" * 40,
    wheel="my_core-1.0-py3-none-any.whl",
    sha256="0" * 64,
    dist_info="My_Core-1.0.dist-info",
)
HEAD = Origin(
    name=NormalizedName("head"),
    version="2.0",
    role=Role.HEAD,
    wheel="head-2.0-py3-none-any.whl",
    sha256="1" * 64,
    dist_info="head-2.0.dist-info",
)
MADE_OF = Provenance(
    components=(HEAD, CORE), shared={"pkg/ü.py": (HEAD.name, CORE.name)}, copies={"x.dist-info/a": "x.dist-info/b"}
)


def parsed(data: bytes) -> tuple[Provenance | None, list[str]]:
    found = Collector("head.whl")
    return parse_provenance(data, "bundle.json", found), [finding.message for finding in found.findings]


def changed(key: str, value: object) -> bytes:
    table: dict[str, Any] = json.loads(render_provenance(MADE_OF))
    table["components"][1][key] = value
    return json.dumps(table).encode()


def test_what_is_written_is_read_back() -> None:
    assert parsed(render_provenance(MADE_OF)) == (MADE_OF, [])


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"components": 1}', b"\xff", b"[" * 100_000])
def test_what_is_no_manifest(data: bytes) -> None:
    assert parsed(data) == (None, ["is no bundle manifest"])


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("name", "My_Core"),
        ("name", None),
        ("version", ""),
        ("role", "boss"),
        ("role", []),
        ("extras", "s3"),
        ("extras", [1]),
        ("commit", "main"),
        ("wheel", "../../my_core-1.0-py3-none-any.whl"),
        ("wheel", "/tmp/my_core-1.0-py3-none-any.whl"),
        ("wheel", "other-1.0-py3-none-any.whl"),
        ("wheel", 7),
        ("sha256", "abc"),
        ("dist-info", "../x.dist-info"),
        ("dist-info", "a/b.dist-info"),
        ("dist-info", None),
    ],
)
def test_values_that_cannot_be_trusted(key: str, value: object) -> None:
    provenance, messages = parsed(changed(key, value))
    assert provenance is None
    assert messages[0].startswith(f"`{key}` is not ")


def test_a_component_that_comes_twice() -> None:
    table = json.loads(render_provenance(MADE_OF))
    table["components"].append(table["components"][0])
    assert parsed(json.dumps(table).encode()) == (None, ["lists a component or a wheel twice"])


@pytest.mark.parametrize(
    "shared", [[], {"a": ["head", "nobody"]}, {"a": ["head"]}, {"a": "head"}, {"a": [["head"], 1]}]
)
def test_owners_that_do_not_exist(shared: object) -> None:
    table = json.loads(render_provenance(MADE_OF)) | {"shared": shared}
    assert parsed(json.dumps(table).encode())[1] == ["`shared` does not name components for each path"]


@pytest.mark.parametrize("copies", [[], {"a": 1}, {"a": ""}])
def test_copies_that_lead_nowhere(copies: object) -> None:
    table = json.loads(render_provenance(MADE_OF)) | {"copies": copies}
    assert parsed(json.dumps(table).encode())[1] == ["`copies` does not name a path for each path"]


def test_a_newer_schema_says_what_to_do() -> None:
    table = json.loads(render_provenance(MADE_OF)) | {"schema": 2}
    with pytest.raises(UsageError, match="has a bundle manifest of schema 2; this version reads 1") as caught:
        parsed(json.dumps(table).encode())
    assert caught.value.hint == "use the version of ropewalk that made it, or a newer one"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["name", "wheel", "extras", "role"]), inner),
    )
)
def test_no_json_breaks_the_reader(value: object) -> None:
    table = {"schema": 1, "components": value if isinstance(value, list) else [value], "shared": value}
    provenance, messages = parsed(json.dumps(table).encode())
    assert provenance is not None or messages
