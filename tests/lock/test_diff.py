"""What changed between two states: commits, rewritten history, patches, everything else."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repositories import make_repository
from ropewalk.errors import UsageError
from ropewalk.lock.diff import Between, Course, SourceDiff, StateDiff, ValueDiff, diff, diff_states
from ropewalk.lock.diff_history import kept_history
from ropewalk.lock.diff_patches import MOST_LINES, PatchCourse, PatchDiff
from ropewalk.report.as_json import to_json
from ropewalk.report.diff import render_diff
from ropewalk.report.markdown import block, code, render_diff_markdown
from serving import serving

if TYPE_CHECKING:
    from pathlib import Path

    from freezing.freezing import World
    from repositories import Repository
    from ropewalk.lock.state import State


def diffed(world: World, before: State, after: State, *, cache: str = "cache", offline: bool = False) -> StateDiff:
    return diff_states(before, after, history=kept_history(world.folder / cache, offline=offline))


def only(found: StateDiff) -> SourceDiff:
    (one,) = found.sources
    return one


def test_the_same(upstream: Repository, world: World) -> None:
    world.source(upstream)
    state = world.freeze().state
    found = diffed(world, state, replace(state, time="2026-09-01T00:00:00Z"))
    assert (found.same, found.changed, only(found).course) == (True, (), Course.SAME)
    assert render_diff(found) == "the states are the same\n"
    assert render_diff_markdown(found) == "The states are the same.\n"


def test_states_are_named_by_whoever_knows_them(upstream: Repository, world: World) -> None:
    world.source(upstream)
    states = {"old": world.freeze().state}
    upstream.commit("four", {"f": "4\n"})
    states["new"] = world.freeze().state
    history = kept_history(world.cache, offline=True)
    assert only(diff("old", "new", resolve=states.__getitem__, history=history)).history.new == 1

    def refuse(name: str) -> State:
        raise UsageError(f"`{name}` is no state")

    with pytest.raises(UsageError, match="`old` is no state"):
        diff("old", "new", resolve=refuse, history=history)


# Commits


def test_commits_that_came(upstream: Repository, world: World) -> None:
    world.source(upstream)
    before = world.freeze().state
    four, five = upstream.commit("four", {"f": "4\n"}), upstream.commit("five | @ann #7 `x` <b>", {"f": "5\n"})
    found = diffed(world, before, world.freeze().state)
    one = only(found)
    assert (one.course, one.history.new, one.history.lost, one.history.common) == (Course.ADVANCED, 2, 0, one.was)
    assert [(commit.id, commit.subject) for commit in one.history.came] == [
        (five, "five | @ann #7 `x` <b>"),
        (four, "four"),
    ]
    assert render_diff(found) == (
        f"lib: {one.was[:12]} -> {five[:12]}, 2 commits\n  + {five[:12]} five | @ann #7 `x` <b>\n  + {four[:12]} four\n"
    )
    assert render_diff_markdown(found) == (
        "| source | what happened |\n| --- | --- |\n"
        f"| lib | {one.was[:12]} -> {five[:12]}, 2 commits |\n\n"
        "### `lib`\n\n"
        f"- ``+ {five[:12]} five | @ann #7 `x` <b>``\n"
        f"- `+ {four[:12]} four`\n"
    )


def test_many_commits_are_counted(upstream: Repository, world: World) -> None:
    world.source(upstream)
    before = world.freeze().state
    for number in range(25):
        upstream.commit(f"commit {number}", {"f": f"{number}\n"})
    lines = render_diff(diffed(world, before, world.freeze().state)).splitlines()
    assert len(lines) == 22
    assert lines[0].endswith(", 25 commits")
    assert lines[-1] == "  + and 5 more"


def test_rewritten_history_is_called_so(upstream: Repository, world: World) -> None:
    world.source(upstream)
    before = world.freeze().state
    upstream.git("reset", "--hard", "--quiet", "HEAD~1")
    common = upstream.git("rev-parse", "HEAD")
    upstream.commit("another three", {"x": "x\n"})
    after = world.freeze().state
    found = diffed(world, before, after)
    one = only(found)
    assert (one.course, one.history.new, one.history.lost) == (Course.REWRITTEN, 1, 1)
    assert render_diff(found).splitlines()[0] == (
        f"lib: history rewritten: {one.was[:12]} -> {one.now[:12]}, "
        f"1 commit dropped and 1 commit new, in common up to {common[:12]}"
    )
    assert [commit.subject for commit in one.history.went] == ["three"]
    upstream.git("reset", "--hard", "--quiet", "HEAD~1")
    found = diffed(world, after, world.freeze().state)
    assert only(found).course is Course.REWOUND
    assert "went back: " in render_diff(found)


def test_a_history_begun_anew_has_nothing_in_common(upstream: Repository, world: World) -> None:
    world.source(upstream)
    before = world.freeze().state
    upstream.git("checkout", "--quiet", "--orphan", "anew")
    upstream.commit("one again", {"a.txt": "anew\n"})
    upstream.git("branch", "--quiet", "-M", "main")
    found = diffed(world, before, world.freeze().state)
    assert "3 commits dropped and 1 commit new, nothing in common" in render_diff(found)


def test_another_branch_is_no_rewritten_history(upstream: Repository, world: World) -> None:
    upstream.git("branch", "stable", "HEAD~1")
    world.source(upstream)
    upstream.git("checkout", "--quiet", "stable")
    upstream.commit("backport", {"s": "s\n"})
    before = world.freeze().state
    world.manifest = ""
    world.source(upstream, "stable")
    found = diffed(world, before, world.freeze().state)
    assert only(found).course is Course.SWITCHED
    assert "  ref: refs/heads/main -> refs/heads/stable\n" in render_diff(found)


def test_b05_a_commit_that_nobody_has_any_more(upstream: Repository, world: World) -> None:
    world.source(upstream)
    before = world.freeze().state
    upstream.git("reset", "--hard", "--quiet", "HEAD~1")
    upstream.git("reflog", "expire", "--expire=now", "--all")
    upstream.git("gc", "--quiet", "--prune=now")
    upstream.commit("another", {"x": "x\n"})
    after = world.freeze().state
    assert only(diffed(world, before, after, offline=True)).course is Course.REWRITTEN
    found = diffed(world, before, after, cache="elsewhere")
    one = only(found)
    assert only(diffed(world, before, after, cache="nowhere", offline=True)).course is Course.UNKNOWN
    assert (one.course, one.history.gone, one.history.new, one.history.lost) == (Course.REWRITTEN, True, None, None)
    assert "and what was dropped cannot be had any more" in render_diff(found)


def test_nobody_who_does_not_answer_is_said_to_have_dropped_anything(world: World, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "served" / "lib")
    with serving(tmp_path / "served") as server:
        world.manifest = f'[sources.lib]\ngit = "{server.url}/lib/.git"\ntrack = "main"\n'
        repository.commit("one", {"a": "1\n"})
        before = world.freeze().state
        repository.commit("one, again", {"a": "2\n"}, "--amend")
        shutil.rmtree(world.cache)
        after = world.freeze().state
    assert only(diffed(world, before, after)).course is Course.UNKNOWN


def test_offline_history_may_be_unknown(upstream: Repository, world: World) -> None:
    world.source(upstream)
    before = world.freeze().state
    upstream.commit("four", {"f": "4\n"})
    after = world.freeze().state
    shutil.rmtree(world.cache)
    found = diffed(world, before, after, offline=True)
    assert only(found).course is Course.UNKNOWN
    assert render_diff(found).endswith(", of unknown history\n")
    # A commit without what came before it is no history.
    world.checkout(cache="cache")
    assert only(diffed(world, after, before, offline=True)).course is Course.UNKNOWN
    assert only(diffed(world, before, after)).course is Course.ADVANCED


def test_one_request_for_each_repository(world: World, tmp_path: Path) -> None:
    root = tmp_path / "served"
    repositories = [make_repository(root / f"lib-{number}") for number in range(3)]
    with serving(root) as server:
        for repository in repositories:
            repository.commit("one", {"a": "1\n"})
            world.manifest += f'[sources.{repository.path.name}]\ngit = "{server.url}/{repository.path.name}/.git"\n'
            world.manifest += 'track = "main"\n'
        before = world.freeze().state
        for repository in repositories:
            repository.commit("two", {"a": "2\n"})
        after = world.freeze().state
        shutil.rmtree(world.cache)
        server.requests.clear()
        found = diffed(world, before, after)
        # What git asks first is what the server can do; then refs are not listed, and commits are fetched once.
        fetches = [request for request in server.requests if request.endswith("/git-upload-pack")]
        assert [one.history.new for one in found.sources] == [1, 1, 1]
        assert len(fetches) == 3
        server.requests.clear()
        assert diffed(world, before, after) == found
        assert server.requests == []


# Everything else


def test_sources_that_came_and_went(upstream: Repository, world: World, tmp_path: Path) -> None:
    other = make_repository(tmp_path / "other")
    other.commit("one", {"o": "o\n"})
    world.source(upstream)
    before = world.freeze().state
    world.manifest = ""
    world.source(other)
    found = diffed(world, before, world.freeze().state)
    assert [(one.name, one.course) for one in found.sources] == [("lib", Course.REMOVED), ("other", Course.ADDED)]
    assert [line.split(" at ")[0] for line in render_diff(found).splitlines()] == [
        "lib: removed, was",
        "other: added",
    ]


def test_a_source_that_moved_to_another_url(upstream: Repository, world: World, tmp_path: Path) -> None:
    world.source(upstream)
    before = world.freeze().state
    world.manifest = world.manifest.replace(upstream.url, f"file://{tmp_path}/moved/lib")
    (tmp_path / "moved").mkdir()
    upstream.path.rename(tmp_path / "moved" / "lib")
    after = world.freeze().state
    one = only(diffed(world, before, after))
    assert one.course is Course.MOVED
    assert one.values == (ValueDiff(name="url", was=upstream.url, now=f"file://{tmp_path}/moved/lib"),)
    # The old commit is looked for in both places.
    moved = replace(upstream, path=tmp_path / "moved" / "lib")
    moved.commit("four", {"f": "4\n"})
    assert only(diffed(world, before, world.freeze().state, cache="elsewhere")).course is Course.ADVANCED


def test_submodules_and_lfs_files(upstream: Repository, world: World, tmp_path: Path) -> None:
    sub = make_repository(tmp_path / "sub")
    first = sub.commit("one", {"s": "1\n"})
    upstream.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", sub.url, "vendor/sub")
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 3\n"
    upstream.commit("big", {".gitattributes": "*.bin filter=lfs\n", "a.bin": pointer.format("a" * 64)})
    world.source(upstream)
    before = world.freeze().state
    second = sub.commit("two", {"s": "2\n"})
    upstream.git("update-index", "--cacheinfo", f"160000,{second},vendor/sub")
    (upstream.path / "a.bin").write_text(pointer.format("b" * 64))
    upstream.git("commit", "--quiet", "-m", "both", "a.bin")
    upstream.git("update-index", "--cacheinfo", f"160000,{second},vendor/sub")
    upstream.git("commit", "--quiet", "--amend", "--no-edit")
    found = diffed(world, before, world.freeze().state)
    assert only(found).submodules == (
        ValueDiff(name="vendor/sub", was=f"{sub.url} {first}", now=f"{sub.url} {second}"),
    )
    assert only(found).lfs == (ValueDiff(name="a.bin", was="a" * 64, now="b" * 64),)
    assert f"  LFS file a.bin: {'a' * 64} -> {'b' * 64}\n" in render_diff(found)


@pytest.mark.parametrize("key", ["request", "time", "tree", "patched_tree", "describe", "degraded"])
def test_no_difference_is_silent(upstream: Repository, world: World, key: str) -> None:
    """Whatever makes another state of it is told, even what only a hand can have changed."""
    world.source(upstream)
    before = world.freeze().state
    changed: dict[str, Any] = {key: "0" * 40}
    after = replace(before, sources=(replace(before.sources[0], **changed),))
    found = diffed(world, before, after)
    assert not found.same
    assert [value.name for value in only(found).values] == [key.replace("_", "-")]
    assert render_diff(found) != "the states are the same\n"


# Patches


def patched(world: World, upstream: Repository, *changes: tuple[str, dict[str, bytes | str | None]]) -> State:
    """Freeze with a patch of these commits on the branch `pr`, made anew; what is the same has the same times."""
    upstream.git("checkout", "--quiet", "-B", "pr", "main")
    upstream.clock = 1_710_000_000
    for subject, files in changes:
        upstream.commit(subject, files)
    upstream.git("checkout", "--quiet", "main")
    return world.freeze().state


FIRST: tuple[str, dict[str, bytes | str | None]] = ("first", {"e.txt": "e\n"})
LONG = "".join(f"line {number}\n" for number in range(40))


@pytest.fixture
def with_patch(upstream: Repository, world: World) -> World:
    world.source(upstream)
    world.patch(upstream, "pr")
    return world


def patch_of(found: StateDiff) -> PatchDiff:
    (patch,) = only(found).patches
    return patch


def test_patches_as_a_range_diff(upstream: Repository, with_patch: World) -> None:
    world = with_patch
    before = patched(world, upstream, FIRST, ("second", {"f.txt": LONG}), ("third", {"g.txt": "g\n"}))
    again = LONG.replace("line 7\n", "line seven\n")
    after = patched(world, upstream, FIRST, ("second, better", {"f.txt": again}), ("fourth", {"new.txt": "h\nh\n"}))
    found = diffed(world, before, after)
    patch = patch_of(found)
    assert (only(found).course, patch.course) == (Course.CHANGED, PatchCourse.CHANGED)
    assert [(change.course.value, change.subject) for change in patch.changes] == [
        ("same", "first"),
        ("changed", "second, better"),
        ("added", "fourth"),
        ("removed", "third"),
    ]
    lines = patch.changes[1].lines
    assert "-second" in lines
    assert "+second, better" in lines
    assert "-+line 7" in lines
    assert "++line seven" in lines
    text = render_diff(found)
    assert f"  patch pr: changed, {patch.was[:12]} -> {patch.now[:12]}\n" in text
    assert "\n    = first\n    ! second, better\n      | @@\n" in text
    assert "```diff\n" in render_diff_markdown(found)
    assert json.loads(to_json(found))["sources"][0]["patches"][0]["course"] == "changed"


def test_a_patch_on_another_base_is_the_same_change(upstream: Repository, with_patch: World) -> None:
    world = with_patch
    before = patched(
        world, upstream, ("tenth", {"a.txt": "".join(f"{n}\n" for n in [*range(1, 10), "X", *range(11, 21)])})
    )
    lines = [0, *range(1, 21)]
    upstream.commit("a line above", {"a.txt": "".join(f"{n}\n" for n in lines)})
    changed = "".join(f"{n}\n" for n in lines).replace("\n10\n", "\nX\n")
    after = patched(world, upstream, ("tenth", {"a.txt": changed}))
    patch = patch_of(diffed(world, before, after))
    assert patch.course is PatchCourse.REBASED
    assert [change.course for change in patch.changes] == [PatchCourse.REBASED]
    assert patch.changes[0].lines == ()


def test_b15_a_patch_that_upstream_has_now(upstream: Repository, with_patch: World) -> None:
    world = with_patch
    before = patched(world, upstream, FIRST)
    upstream.git("merge", "--quiet", "--no-ff", "-m", "merge", "pr")
    found = diffed(world, before, world.freeze().state)
    assert patch_of(found).course is PatchCourse.MERGED
    assert "  patch pr: is upstream now, " in render_diff(found)


def test_b10_binary_content_is_not_listed(upstream: Repository, with_patch: World) -> None:
    world = with_patch
    before = patched(world, upstream, ("data", {"b.bin": bytes(range(256))}))
    after = patched(world, upstream, ("data", {"b.bin": bytes(reversed(range(256)))}))
    (change,) = patch_of(diffed(world, before, after)).changes
    assert change.course is PatchCourse.CHANGED
    assert len([line for line in change.lines if "binary content " in line]) == 2
    assert not any("literal" in line for line in change.lines)


def test_b13_empty_commits_are_compared_too(upstream: Repository, with_patch: World) -> None:
    world = with_patch
    upstream.git("checkout", "--quiet", "-b", "pr")
    upstream.git("commit", "--quiet", "--allow-empty", "-m", "nothing")
    upstream.commit("something", {"e.txt": "e\n"})
    upstream.git("checkout", "--quiet", "main")
    before = world.freeze().state
    after = patched(world, upstream, ("something", {"e.txt": "e\n"}))
    changes = patch_of(diffed(world, before, after)).changes
    assert [(change.course.value, change.subject) for change in changes][-1] == ("removed", "nothing")


def test_a_long_interdiff_is_cut(upstream: Repository, with_patch: World) -> None:
    world = with_patch
    before = patched(world, upstream, ("long", {"f.txt": "".join(f"{n}\n" for n in range(300))}))
    after = patched(world, upstream, ("long", {"f.txt": "".join(f"{n}!\n" for n in range(300))}))
    found = diffed(world, before, after)
    (change,) = patch_of(found).changes
    assert len(change.lines) == MOST_LINES
    assert change.left_out > 300
    assert f"    | and {change.left_out} lines more" in render_diff(found)


def test_patches_that_came_and_went(upstream: Repository, world: World) -> None:
    world.source(upstream)
    bare = world.freeze().state
    world.patch(upstream, "pr")
    with_it = patched(world, upstream, FIRST)
    assert patch_of(diffed(world, bare, with_it)).course is PatchCourse.ADDED
    assert patch_of(diffed(world, with_it, bare)).course is PatchCourse.REMOVED


# Markdown


@given(st.text())
def test_inline_code_cannot_be_left(text: str) -> None:
    written = code(text)
    fence = written[: len(written) - len(written.lstrip("`"))]
    assert "\n" not in written
    assert not text.strip() or fence not in written[len(fence) : -len(fence)]


@given(st.lists(st.text(), min_size=1))
def test_a_block_of_code_cannot_be_left(lines: list[str]) -> None:
    first, *rows, last = block(lines)
    fence = first.removesuffix("diff")
    assert (last, len(rows)) == (fence, len(lines))
    assert not any(fence in row or "\n" in row for row in rows)


NASTY = st.text(alphabet="a |`<>@#&!*_[]()\\\n\r\t:/1", max_size=30)


@given(st.lists(st.tuples(NASTY, NASTY, NASTY), min_size=1, max_size=3))
def test_nothing_foreign_stands_outside_of_code(texts: list[tuple[str, str, str]]) -> None:
    """Without its code, what is written has only our own words and no sign that a forge would act on."""
    sources = tuple(
        SourceDiff(
            name=f"{number}{name}",
            course=Course.CHANGED,
            url="",
            was=was,
            now=was,
            values=(ValueDiff(name="describe", was=was, now=now),),
            history=Between(new=0, lost=0),
        )
        for number, (name, was, now) in enumerate(texts)
    )
    written = render_diff_markdown(StateDiff(was="1", now="2", sources=sources))
    outside = re.sub(r"(?<!`)(`+)(?!`)(?:(?!(?<!`)\1(?!`)).)*(?<!`)\1(?!`)", "", written)
    assert not set(outside) & set("`<@&*_[]()\\/"), outside
    rows = [line for line in written.split("\n") if line.startswith("| ")]
    assert all(row.count("|") == 3 for row in rows)
    assert len(rows) == 2 + len(texts)


def test_a_body_has_a_limit() -> None:
    sources = tuple(
        SourceDiff(
            name=f"lib-{number}",
            course=Course.CHANGED,
            url="",
            values=(ValueDiff(name="describe", was="x" * 200, now="y"),),
        )
        for number in range(1000)
    )
    written = render_diff_markdown(StateDiff(was="1", now="2", sources=sources))
    assert len(written) <= 60_000
    assert written.endswith(" sources are left out.\n")
    assert re.search(r"^\d+ sources more\.$", written, re.MULTILINE)
