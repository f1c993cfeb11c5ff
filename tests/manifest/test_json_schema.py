from __future__ import annotations

import json
import tomllib
from pathlib import Path

import jsonschema  # its types are in a package of their own
import pytest

from manifest.manifests import BUNDLE, SOURCE, WHOLE
from ropewalk.manifest.json_schema import json_schema

MODELS = {
    "[project]": "Project",
    "[sources.NAME]": "Source",
    "[[sources.NAME.patches]]": "Patch",
    "[environments.NAME]": "Environment",
    "[python]": "Python",
    "[[python.indexes]]": "Index",
    "[[python.edits]]": "Edit",
    "[system]": "System",
    "[bundle]": "Bundle",
    "[version]": "Version",
    "[[version.stamps]]": "Stamp",
    "[licenses]": "Licenses",
    "[release]": "Release",
    "[release.index.NAME]": "UploadIndex",
    "[release.project]": "ReleaseProject",
    "[[release.smoke]]": "Smoke",
}
"""The sections of the reference, and the names of their tables in the schema."""

DOCS = Path(__file__).resolve().parents[2] / "docs"


def errors(text: str) -> list[str]:
    validator = jsonschema.Draft202012Validator(json.loads(json_schema()))
    return [error.json_path for error in validator.iter_errors(tomllib.loads(text))]


def test_the_published_schema_is_that_of_the_code() -> None:
    assert (DOCS / "ropewalk.schema.json").read_text(encoding="utf-8") == json_schema()


def test_it_is_a_schema_of_draft_2020_12() -> None:
    schema = json.loads(json_schema())
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(schema)


def test_it_accepts_the_whole_manifest() -> None:
    assert errors(WHOLE) == []


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (BUNDLE + ", allow_direct_urls = true }", "$.bundle"),
        ('bundle = { name = "a", components = [] }', "$.bundle.components"),
        (BUNDLE + ', platform = "linux-x86" }', "$.bundle.platform"),
        (SOURCE + ", lfs = 1 }", "$.sources.a.lfs"),
        ('release.index.a = { token-env = "s3cret" }', "$.release.index.a['token-env']"),
    ],
)
def test_it_refuses_what_the_loader_refuses(text: str, path: str) -> None:
    assert errors(text) == [path]


def test_every_key_is_described() -> None:
    schema = json.loads(json_schema())
    tables = [schema, *schema["$defs"].values()]
    assert all("description" in table for table in tables)
    bare = [key for table in tables for key, value in table["properties"].items() if not value.get("description")]
    assert bare in ([], ["project", "system"])  # there the description of the table stands behind the reference


def test_the_reference_has_a_row_for_every_key() -> None:
    reference = (DOCS / "manifest.md").read_text(encoding="utf-8")
    sections = dict(part.split("\n", 1) for part in reference.split("\n## ")[1:])
    schema = json.loads(json_schema())
    for title, model in MODELS.items():
        rows = [line.split("`")[1] for line in sections[title].splitlines() if line.startswith("| `")]
        assert sorted(rows) == sorted(schema["$defs"][model]["properties"]), title
    assert set(MODELS.values()) == set(schema["$defs"])
