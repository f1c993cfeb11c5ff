"""Every message of the manifest, from files in `bad/`: a manifest, the lines of its answer, an empty line."""

from __future__ import annotations

from pathlib import Path

import pytest

from manifest.manifests import refused

BAD = Path(__file__).with_name("bad")


def cases() -> list[tuple[str, str]]:
    """Return each bad manifest and its answer."""
    blocks = [
        block for path in sorted(BAD.glob("*.txt")) for block in path.read_text(encoding="utf-8").strip().split("\n\n")
    ]
    return [(text, f"--> {answer}") for text, _, answer in (block.partition("\n--> ") for block in blocks)]


def answer_to(text: str) -> str:
    """Return the answer in the form of the files."""
    lines = []
    for finding in refused(text).findings:
        assert finding.subject == "m.toml"
        lines.append(f"--> {str(finding).removeprefix('m.toml: ')}")
        if finding.hint:
            lines.append(f"    hint: {finding.hint}")
    return "\n".join(lines)


@pytest.mark.parametrize(("text", "answer"), cases())
def test_the_faults_of_a_bad_manifest(text: str, answer: str) -> None:
    assert answer_to(text) == answer


def test_there_are_bad_manifests() -> None:
    assert len(cases()) > 140


@pytest.mark.parametrize(("text", "answer"), cases())
def test_no_answer_repeats_a_secret(text: str, answer: str) -> None:
    assert "hunter2" not in answer_to(text)
    assert "s3cret" not in answer


def test_all_faults_of_a_file_come_at_once() -> None:
    blocks = {
        "bundle.nam": "[bundle]\nnam = 1\ncomponents = ['a', 'A']\nexternal = ['a']\n",
        "sources.x.git": "[sources.x]\ngit = 'git@h.example:a'\ntrack = '-'\n",
        "environments.e.extends": "[environments.e]\nextends = 'f'\npython = 3.12\n",
        "release.indexes[0]": "[release]\nindexes = ['mine']\n",
        "projet": "[projet]\n",
    }
    members = [finding.member for finding in refused("".join(blocks.values())).findings]
    assert set(blocks) <= set(members)
    assert members == [
        "sources.x.git",
        "sources.x.track",
        "environments.e.python",
        "environments.e.extends",
        "bundle.components[1]",
        "bundle",
        "bundle.nam",
        "bundle.external[0]",
        "release.indexes[0]",
        "projet",
    ]


def test_the_error_counts_the_faults() -> None:
    assert refused("a = 1").message == "the manifest `m.toml` has 1 fault"
    assert refused("a = 1\nb = 1").message == "the manifest `m.toml` has 2 faults"
    assert refused("a = 1").hint == "docs/manifest.md describes every key"


def test_a_thousand_faults_are_enough() -> None:
    error = refused("\n".join(f"k{number} = 1" for number in range(2000)))
    assert error.message == "the manifest `m.toml` has more than 1000 faults, of which these are the first"
    assert len(error.findings) == 1000


def test_long_text_is_refused_and_cut_where_it_is_shown() -> None:
    (finding,) = refused(f'project.name = "{"x" * 5000}"').findings
    assert finding.message == "has 5000 characters; 4096 are allowed"
    (finding,) = refused(f"{'x' * 5000} = 1").findings
    assert finding.message == f"`{'x' * 79}…` is not a key of the manifest"
    assert finding.member == f'"{"x" * 79}…"'


@pytest.mark.parametrize(
    ("url", "masked"),
    [
        ("https://user:hunter2@git.example/a", "https://****@git.example/a"),
        ("https://user:hun/ter@2@git.example/a", "https://****@git.example/a"),
        ("https://user:hunt er2@git.example/a", "https://****@git.example/a"),
        ("https://hunter2@git.example/a?token=hunter2", "https://****@git.example/a?****"),
        ("git:hunter2@git.example:a", "****@git.example:a"),
        ("ftp://ghp_hunter2/a", "ftp://****/a"),
        ("glpat-hunter2", "****"),
    ],
)
def test_secrets_are_masked_wherever_they_stand(url: str, masked: str) -> None:
    for text in (f'sources.a = {{ git = "{url}", track = "main" }}', f'"{url}" = 1', f'release.approval = "{url}"'):
        messages = [str(finding) for finding in refused(text).findings]
        assert any(f"`{masked}`" in message for message in messages), messages
        assert not any("hunter2" in message for message in messages)
