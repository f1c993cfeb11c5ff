from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from manifest.manifests import WHOLE
from ropewalk.errors import UsageError
from ropewalk.manifest.load import parse_manifest
from ropewalk.manifest.refs import ref_fault
from ropewalk.manifest.schema import Manifest
from ropewalk.manifest.section import key_of
from ropewalk.manifest.words import LONGEST, shown

if TYPE_CHECKING:
    from ropewalk.finding import Finding

KEYS = sorted({line.split("=")[0].strip() for line in WHOLE.splitlines() if "=" in line} | set(Manifest.model_fields))
GIT = shutil.which("git") or "git"
LINES = WHOLE.splitlines()


def survives(text: str) -> None:
    """Read a text; only a manifest or a UsageError with something to say may come of it."""
    findings: tuple[Finding, ...] = ()
    try:
        assert isinstance(parse_manifest(text, "m.toml"), Manifest)
    except UsageError as error:
        findings = error.findings
    for finding in findings:
        assert finding.rule.startswith("manifest/")
        assert "does not belong here" not in finding.message
        assert str(finding).isprintable()


@given(st.text())
@example("a = 1_")
@example("a = 0x" + "f" * 5000)
@example("a = 2024-13-45T99:99:99")
def test_any_text_is_a_manifest_or_a_usage_error(text: str) -> None:
    survives(text)


@given(st.lists(st.sampled_from([*LINES, "[", "]", '"', "=", "[[bundle]]", "a = nan", "\0"]), max_size=12))
def test_any_lines_of_manifests_are_one_or_a_usage_error(lines: list[str]) -> None:
    survives("\n".join(lines))


@given(st.integers(0, len(WHOLE)), st.integers(0, 8), st.text(max_size=4))
def test_a_damaged_manifest_is_one_or_a_usage_error(at: int, length: int, other: str) -> None:
    survives(WHOLE[:at] + other + WHOLE[at + length :])


words = st.sampled_from([*KEYS, "a", "A", "[key]", "", "x y", "-", "\u00e9", "refs/heads/x", "a==1", "https://a@b/c"])
values = st.recursive(
    words | st.text(max_size=8) | st.integers() | st.booleans() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=4),
    max_leaves=12,
)


def as_toml(value: Any) -> str:  # noqa: ANN401 - any value of TOML
    """Return a value in TOML's inline form."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + "".join(f"\\U{ord(letter):08x}" for letter in value if letter.isascii() or letter == "é") + '"'
    if isinstance(value, list):
        return f"[{', '.join(map(as_toml, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{as_toml(key)} = {as_toml(inner)}' for key, inner in value.items())}}}"
    return repr(value)


@given(st.dictionaries(st.sampled_from([key_of(name) for name in Manifest.model_fields]), values, min_size=1))
def test_tables_of_any_shape_are_a_manifest_or_a_usage_error(tables: dict[str, object]) -> None:
    survives("\n".join(f"{key} = {as_toml(value)}" for key, value in tables.items()))


@given(st.text(st.sampled_from("ab./@{}^~:?*[\\- \x7f\té") | st.characters(codec="utf-8"), max_size=8))
@example("a.lock/b")
@example("@")
@example("a/@")
@example("refs/heads/.a")
def test_refs_are_those_that_git_takes(name: str) -> None:
    if "\0" in name:
        assert ref_fault(name)
        return
    if name.startswith("-"):  # an option, to git
        assert ref_fault(name)
        return
    git = subprocess.run([GIT, "check-ref-format", "--allow-onelevel", name], check=False, capture_output=True)
    assert (ref_fault(name) == "") == (git.returncode == 0)


@given(st.text())
def test_what_is_shown_is_short_and_on_one_line(text: str) -> None:
    assert len(shown(text)) <= LONGEST
    assert shown(text).isprintable()


@pytest.mark.parametrize("spelling", ["kumo_core", "Kumo.Core", "KUMO--core", "kumo-core"])
def test_names_have_one_spelling(spelling: str) -> None:
    bundle = parse_manifest(f'bundle = {{ name = "a", components = ["{spelling}"] }}', "m.toml").bundle
    assert bundle is not None
    assert bundle.components == ("kumo-core",)
