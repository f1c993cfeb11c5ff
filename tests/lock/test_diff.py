"""What changed between two states, in words that a pull request can hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from repositories import Repository, make_repository
from ropewalk.lock.diff import Course, SourceDiff, diff_states, kept_history
from ropewalk.report.states import code, render_diff, render_diff_markdown

if TYPE_CHECKING:
    from pathlib import Path

    from freeze.freezing import World
    from ropewalk.lock.state import State


def diffed(world: World, before: State, after: State) -> list[SourceDiff]:
    return list(diff_states(before, after, history=kept_history(world.cache, offline=False)))


def test_the_same(upstream: Repository, world: World) -> None:
    world.source(upstream)
    state = world.freeze().state
    (diff,) = diffed(world, state, state)
    assert diff.course is Course.SAME
    assert render_diff([diff]) == "the states are the same\n"


def test_commits_that_came(upstream: Repository, world: World) -> None:
    world.source(upstream)
    before = world.freeze().state
    four, five = upstream.commit("four", {"f": "4\n"}), upstream.commit("five | @ann #7 `x` <b>", {"f": "5\n"})
    after = world.freeze().state
    (diff,) = diffed(world, before, after)
    assert (diff.course, diff.new, diff.lost) == (Course.ADVANCED, 2, 0)
    assert [(one.id, one.subject) for one in diff.commits] == [(five, "five | @ann #7 `x` <b>"), (four, "four")]
    assert render_diff([diff]) == (
        f"lib: {diff.was[:12]} -> {five[:12]}, 2 commits\n"
        f"  + {five[:12]} five | @ann #7 `x` <b>\n"
        f"  + {four[:12]} four\n"
    )
    assert render_diff_markdown([diff]) == (
        "| source | what happened |\n| --- | --- |\n"
        f"| lib | {diff.was[:12]} \\-\\> {five[:12]}, 2 commits |\n\n"
        "### lib\n\n"
        f"- ``+ {five[:12]} five | @ann #7 `x` <b>``\n"
        f"- `+ {four[:12]} four`\n"
    )


def test_rewritten_history_is_called_so(upstream: Repository, world: World) -> None:
    world.source(upstream)
    before = world.freeze().state
    upstream.git("reset", "--hard", "--quiet", "HEAD~1")
    upstream.commit("another three", {"x": "x\n"})
    (diff,) = diffed(world, before, world.freeze().state)
    assert (diff.course, diff.new, diff.lost) == (Course.REWRITTEN, 1, 1)
    assert "history rewritten" in render_diff([diff])
    upstream.git("reset", "--hard", "--quiet", "HEAD~1")
    rewritten = world.freeze().state
    upstream.git("reset", "--hard", "--quiet", "HEAD~1")
    (diff,) = diffed(world, rewritten, world.freeze().state)
    assert (diff.course, diff.new, diff.lost) == (Course.REWOUND, 0, 1)


def test_sources_that_came_and_went(upstream: Repository, world: World, tmp_path: Path) -> None:
    other = make_repository(tmp_path / "other")
    other.commit("one", {"o": "o\n"})
    world.source(upstream)
    before = world.freeze().state
    world.manifest = ""
    world.source(other)
    after = world.freeze().state
    assert [(diff.name, diff.course) for diff in diffed(world, before, after)] == [
        ("lib", Course.REMOVED),
        ("other", Course.ADDED),
    ]


def test_what_became_of_patches(upstream: Repository, world: World) -> None:
    upstream.git("checkout", "--quiet", "-b", "pr")
    upstream.commit("first", {"e.txt": "e\n"})
    upstream.commit("second", {"f.txt": "f\n"})
    upstream.git("checkout", "--quiet", "main")
    world.source(upstream)
    world.patch(upstream, "pr")
    before = world.freeze().state
    upstream.git("checkout", "--quiet", "pr")
    upstream.git("reset", "--hard", "--quiet", "HEAD~1")
    upstream.commit("second again", {"f.txt": "F\n"})
    upstream.git("checkout", "--quiet", "main")
    (diff,) = diffed(world, before, world.freeze().state)
    (patch,) = diff.patches
    assert (diff.course, patch.course) == (Course.CHANGED, Course.CHANGED)
    assert sorted(course.value for course, _ in patch.steps) == ["added", "removed", "same"]
    assert render_diff([diff]).splitlines()[1].endswith("(1 the same, 1 new, 1 dropped)")


@given(st.text())
def test_inline_code_cannot_be_left(text: str) -> None:
    written = code(text)
    fence = written[: len(written) - len(written.lstrip("`"))]
    assert "\n" not in written
    assert not text.strip() or fence not in written[len(fence) : -len(fence)]
