"""Other tools' manifests: carried over whole, or what is not is named."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.errors import UsageError
from ropewalk.finding import Collector
from ropewalk.manifest.importers import FORMATS, vcs2l
from ropewalk.manifest.importers.draft import accepted, render_draft
from ropewalk.manifest.importers.read import import_manifest
from ropewalk.manifest.load import parse_manifest

if TYPE_CHECKING:
    from pathlib import Path

JAX = """\
alpha:
  url: https://github.com/google/alpha.git
  mirror_url: https://github.com/mirror/alpha.git
  tracking_ref: main
  latest_verified_commit: 8f4658ecdbe40cde0c43a9ab127359347943c076
  mode: git-clone
  patches:
    pull/3340/head: file://patches/alpha/PR-3340.patch # Add "annotations"
    mirror/own/branch: null
Beta_Lib:
  url: https://github.com/google/beta.git
  tracking_ref: dev
  mode: pip-vcs
  surprise: 1
gamma:
  version: 1.2.3
  mode: pip-constraint
delta:
  version: X.Y.Z
  mode: pip-constraint
"""

REPOS = """\
repositories:
  src/one:
    type: git
    url: git@github.com:org/one.git
    version: "2.0"
  other/one:
    type: git
    url: https://github.com/org/other.git
  old:
    type: hg
    url: https://example.org/old
  secret:
    type: git
    url: https://user:hunter2@example.org/x.git
"""

WEST = """\
manifest:
  defaults:
    remote: up
    revision: v3.7
  remotes:
    - name: up
      url-base: https://github.com/zephyrproject-rtos/
  projects:
    - name: zephyr
      submodules: true
      import: true
    - name: hal
      repo-path: hal_nordic
      revision: 8f4658ecdbe40cde0c43a9ab127359347943c076
      path: modules/hal
      submodules:
        - path: sub
    - name: lost
      remote: nowhere
  self:
    path: app
"""


def read(tmp_path: Path, text: str, **options: Any) -> tuple[dict[str, Any], str, dict[str, str]]:  # noqa: ANN401
    path = tmp_path / "other.yaml"
    path.write_text(text)
    written, findings = import_manifest(path, **options)
    return tomllib.loads(written), written, {finding.member: finding.message for finding in findings}


def test_jax_toolbox(tmp_path: Path) -> None:
    manifest, text, said = read(tmp_path, JAX)
    assert manifest["sources"]["alpha"] == {
        "git": "https://github.com/google/alpha.git",
        "track": "main",
        "mirrors": ["https://github.com/mirror/alpha.git"],
        "patches": [
            {"from": "pull/3340/head", "why": 'Add "annotations"'},
            {"from": "mirror:own/branch", "why": "not said"},
        ],
    }
    assert manifest["sources"]["Beta_Lib"]["packages"] == {"beta-lib": "."}
    assert manifest["environments"]["main"]["requires"] == ["beta-lib", "gamma==1.2.3"]
    assert "# last verified at 8f4658ecdbe40cde0c43a9ab127359347943c076\n" in text
    assert "# recorded as file:patches/alpha/PR-3340.patch\n" in text
    assert said == {
        "alpha.patches.mirror/own/branch": "has no comment that says why",
        "Beta_Lib.surprise": "is unknown here, and left out",
        "gamma": "a constraint becomes a requirement",
        "delta.version": "`X.Y.Z` is no version, and the constraint is left out",
    }


def test_jax_toolbox_at_what_was_verified(tmp_path: Path) -> None:
    manifest, _, _ = read(tmp_path, JAX, pin=True)
    assert manifest["sources"]["alpha"]["track"] == "8f4658ecdbe40cde0c43a9ab127359347943c076"
    assert manifest["sources"]["Beta_Lib"]["track"] == "dev"


def test_repos(tmp_path: Path) -> None:
    manifest, text, said = read(tmp_path, REPOS)
    assert manifest["sources"] == {
        "one": {"git": "ssh://git@github.com/org/one.git", "track": "2.0"},
        "one-2": {"git": "https://github.com/org/other.git", "track": "HEAD"},
    }
    assert "# checked out at src/one\n" in text
    assert set(said) == {"repositories.other/one", "repositories.old", "repositories.secret.url"}
    assert "hunter2" not in text + str(said)


def test_west(tmp_path: Path) -> None:
    manifest, text, said = read(tmp_path, WEST)
    assert manifest["sources"] == {
        "zephyr": {
            "git": "https://github.com/zephyrproject-rtos/zephyr",
            "track": "v3.7",
            "submodules": True,
        },
        "hal": {
            "git": "https://github.com/zephyrproject-rtos/hal_nordic",
            "track": "8f4658ecdbe40cde0c43a9ab127359347943c076",
            "submodules": ["sub"],
        },
    }
    assert "# checked out at modules/hal\n" in text
    assert said == {
        "manifest.self": "has no counterpart here, and is left out",
        "manifest.projects[0].import": "has no counterpart here, and is left out",
        "manifest.projects[2]": "names no known remote (`nowhere`), and is left out",
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "just text",
        "- a\n- b",
        "a: [",
        "a: &x [*x]",
        "\x00",
        "!!python/object/apply:os.system ['touch ran']",
        "a: 1\na: 2",
        "[" * 5000,
        "repositories: 7",
        "a:\n" * 1 + "".join(f"{' ' * depth}b:\n" for depth in range(1, 100)),
    ],
)
def test_what_is_no_manifest(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other.yaml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        import_manifest(path)
    assert caught.value.hint or caught.value.findings
    assert [one.name for one in tmp_path.iterdir()] == ["other.yaml"]


def test_parts_that_are_repeated_without_end(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{at}: &a{at} [{', '.join([f'*a{at - 1}'] * 9)}]" for at in range(1, 12)]
    path = tmp_path / "other.yaml"
    path.write_text("\n".join(lines))
    with pytest.raises(UsageError):
        import_manifest(path)


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_that_is_named_must_be_the_one(tmp_path: Path, name: str) -> None:
    path = tmp_path / "other.yaml"
    path.write_text("other: 1")
    with pytest.raises(UsageError, match="is of no format that is known here"):
        import_manifest(path, format_name=name)


ROW = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["git", "hg", "git", "git"]),
        "url": st.sampled_from(
            ["https://a.b/c.git", "git@a.b:c", "ssh://a/b", "http://x/y", "-x", "", "ext::sh", None]
        ),
    },
    optional={"version": st.sampled_from(["main", "v1.0", "a" * 40, None, "-x", "a..b", "a b", "", 1.0])},
)


@given(st.dictionaries(st.text(min_size=1), ROW | st.none()))
def test_any_repos_file_becomes_a_manifest(rows: dict[str, Any]) -> None:
    found = Collector("x")
    draft = vcs2l.convert({"repositories": rows}, pin=False, found=found)
    parse_manifest(render_draft(accepted(draft, found)), "ropewalk.toml")
