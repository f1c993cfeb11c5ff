"""Whether a frozen state still holds, and what to say where it does not."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from repositories import make_repository
from ropewalk.errors import IntegrityError, UsageError
from ropewalk.finding import Level
from ropewalk.freezing.verify import verify
from ropewalk.freezing.verify_values import Verified, Word
from ropewalk.lock.files import read_lock, write_lock
from ropewalk.tools.lfs import content_path
from serving import serving

if TYPE_CHECKING:
    from pathlib import Path

    from freezing.freezing import World
    from repositories import Repository


def verified(world: World, level: str) -> Verified:
    return verify(level, lock=world.lock, cache=world.cache, manifest=world.folder / "ropewalk.toml")


def found(world: World, level: str) -> dict[str, str]:
    """Return what a level says: rule → message, the notes included."""
    return {finding.rule: finding.message for finding in verified(world, level).findings}


def hint(world: World, level: str) -> str:
    """Return the hint of the first finding."""
    return verified(world, level).findings[0].hint


def words(world: World, level: str) -> dict[str, Word]:
    """Return the verdict on each source and part."""
    return {verdict.part or verdict.source: verdict.word for verdict in verified(world, level).verdicts}


def patched(upstream: Repository, world: World) -> None:
    upstream.git("checkout", "--quiet", "-b", "pr")
    upstream.commit("mine", {"e.txt": "e\n"})
    upstream.git("checkout", "--quiet", "main")
    world.source(upstream)
    world.patch(upstream, "pr")
    world.freeze()


def forget(upstream: Repository) -> None:
    upstream.git("reflog", "expire", "--expire=now", "--all")
    upstream.git("gc", "--quiet", "--prune=now")


def rewrite(world: World, old: str, new: str, file: str = "sources.toml") -> None:
    """Change a file of the lock by hand, and its digest along."""
    path = world.lock / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_good_lock(upstream: Repository, world: World) -> None:
    patched(upstream, world)
    world.checkout(cache="cache")
    assert found(world, "lint") == {}
    assert words(world, "lint") == {"lib": Word.HOLDS}
    assert found(world, "upstream") == {}
    assert words(world, "upstream") == {"lib": Word.OK, "pr": Word.OK}
    assert found(world, "sources") == {}
    assert words(world, "sources") == {"lib": Word.HOLDS}


@pytest.mark.parametrize("level", ["lint", "upstream", "sources"])
def test_there_has_to_be_a_lock(world: World, level: str) -> None:
    with pytest.raises(UsageError, match=re.escape(f"there is no lock in `{world.lock}`")):
        verified(world, level)


@pytest.mark.parametrize("level", ["lint", "upstream", "sources"])
def test_a_lock_without_sources_holds(world: World, level: str) -> None:
    world.manifest = '[bundle]\nname = "b"\ncomponents = ["c"]\n'
    world.freeze()
    assert verified(world, level) == Verified(level=level, verdicts=(), findings=())


# Lint


def test_lint_names_what_is_not_as_it_should_be(upstream: Repository, world: World) -> None:
    patched(upstream, world)
    (world.lock / "patches" / f"{'0' * 64}.patch").write_text("unused\n")
    rewrite(world, "schema = 1", "schema = 1  # one", "state.toml")
    (world.folder / "ropewalk.toml").write_text(world.manifest + "\n# changed\n")
    assert found(world, "lint") == {
        "lint/canonical": "is not written as ropewalk writes it",
        "lint/hash": "is not what its name says",
        "lint/unused-patch": "no source refers to it",
        "lint/manifest": f"`{world.folder / 'ropewalk.toml'}` has changed since the freeze",
    }


def test_lint_of_a_lock_that_was_tampered_with(upstream: Repository, world: World) -> None:
    """All of it in one run, though nothing else would read such a lock."""
    patched(upstream, world)
    commit = world.one().commit
    rewrite(world, f'\ncommit = "{commit}"', f'\ncommit = "{commit[:10]}"')
    (patch,) = (world.lock / "patches").iterdir()
    patch.write_bytes(patch.read_bytes().replace(b"+e\n", b"+evil\n"))
    assert [(one.rule, one.member, one.message) for one in verified(world, "lint").findings] == [
        ("lint/hash", "sources.toml", "is not what `state.toml` says it is"),
        ("lint/hash", f"patches/{patch.name}", "is not what its name says"),
        ("lint/not-frozen", "commit", f"`{commit[:10]}` is no full object id"),
    ]
    (world.lock / "sources.toml").write_text("[lib]\n")
    assert {one.rule for one in verified(world, "lint").findings} == {"lint/hash", "lint/schema"}
    with pytest.raises(IntegrityError):
        verified(world, "sources")


@pytest.mark.parametrize(
    ("old", "new", "rule", "message"),
    [
        ("schema = 1", "schema = 2", "lint/schema", "is of schema 2; this version reads 1"),
        ('time = "2026', 'time = "26', "lint/schema", "`time` is '26-08-01T12:00:00Z'"),
        ("schema = 1", "schema = ", "lint/schema", "cannot be read: Invalid value (at line 3, column 10)"),
        ("schema = 1", "extra = 1\nschema = 1", "lint/canonical", "is not written as ropewalk writes it"),
    ],
)
def test_lint_of_what_a_state_says_of_itself(
    upstream: Repository, world: World, old: str, new: str, rule: str, message: str
) -> None:
    world.source(upstream)
    world.freeze()
    rewrite(world, old, new, "state.toml")
    assert found(world, "lint")[rule] == message


@pytest.mark.parametrize(
    ("old", "new", "rule", "member", "message"),
    [
        (r'^url = ".*"', 'url = "https://ann:secret@example.org/lib"', "lint/url", "url", "holds credentials"),
        (r'^ref = "refs/heads/main"', 'ref = "main"', "lint/not-frozen", "ref", "`main` is not the full name of a ref"),
        (r'^tree = "[^"]*"$', 'tree = "HEAD"', "lint/not-frozen", "tree", "`HEAD` is no full object id"),
        (r"^request = .*$", "", "lint/schema", "sources.toml: lib.request", "field required"),
        (r"^time = .*$", 'time = "today"', "lint/schema", "time", "`today` is no time in RFC 3339 and UTC"),
        (r"\A", 'degraded = "offline"\n', "lint/schema", "sources.toml: degraded", "should be"),
        (r"^commit", 'degraded = "offline"\ncommit', "lint/degraded", "", "could not be brought up to date: offline"),
        (
            r"\Z",
            f'\n[[lib.submodules]]\ncommit = "{"a" * 40}"\npath = "../out"\ntree = "{"b" * 40}"\nurl = "ext::sh"\n',
            "lint/path",
            "submodules",
            "`../out` leads out of the work tree or into git's own",
        ),
        (
            r"\Z",
            f'\n[[lib.submodules]]\ncommit = "{"a" * 40}"\npath = "sub"\ntree = "{"b" * 40}"\nurl = "ext::sh -c x"\n',
            "lint/url",
            "submodules.sub.url",
            "`ext::sh -c x` is not the URL of a repository",
        ),
        (r'^patched-tree = "[^"]*"', f'patched-tree = "{"c" * 40}"', "lint/inconsistent", "patched-tree", "the last"),
        (r'^patched-commit = "[^"]*"', f'patched-commit = "{"c" * 40}"', "lint/inconsistent", "patched-commit", "noth"),
    ],
)
def test_lint_of_sources(
    upstream: Repository, world: World, old: str, new: str, rule: str, member: str, message: str
) -> None:
    world.source(upstream)
    world.freeze()
    path = world.lock / "sources.toml"
    text, count = re.subn(old, new.replace("\\", r"\\"), path.read_text(), count=1, flags=re.MULTILINE)
    assert count == 1
    path.write_text(text)
    findings = [one for one in verified(world, "lint").findings if (one.rule, one.member) == (rule, member)]
    assert message in findings[0].message
    assert "secret" not in str(verified(world, "lint"))


def test_lint_of_patches(upstream: Repository, world: World) -> None:
    patched(upstream, world)
    state = read_lock(world.lock)
    (source,) = state.sources
    (patch,) = source.patches
    (step,) = patch.steps
    lie = replace(source, patches=(replace(patch, steps=(replace(step, patch_id="d" * 40),)),))
    write_lock(replace(state, sources=(lie,)), world.lock)
    assert found(world, "lint") == {
        "lint/patch-id": f"git calls this change {step.patch_id}, and the lock {'d' * 40}",
    }
    (world.lock / "patches" / f"{step.sha256}.patch").unlink()
    assert found(world, "lint") == {"lint/patch-missing": "is missing"}


def test_lint_of_an_archive(upstream: Repository, world: World) -> None:
    world.source(upstream)
    commit = world.one(archive=True).commit
    assert found(world, "lint") == {}
    (world.lock / "objects" / f"{commit}.pack").rename(world.lock / "objects" / f"{'0' * 40}.pack")
    members = [(one.member, one.message) for one in verified(world, "lint").findings]
    assert members == [
        (f"objects/{commit}.pack", "is missing"),
        (f"objects/{'0' * 40}.pack", "no source needs it"),
    ]


def test_lint_holds_the_manifest_against_the_lock(upstream: Repository, world: World, tmp_path: Path) -> None:
    patched(upstream, world)
    other = make_repository(tmp_path / "other")
    world.manifest = world.manifest.replace('track = "main"', 'track = "v1"').replace('from = "pr"', 'from = "pr-2"')
    world.source(other)
    (world.folder / "ropewalk.toml").write_text(world.manifest)
    said = [(one.member, one.message) for one in verified(world, "lint").findings if one.level is Level.ERROR]
    assert said == [
        ("other", "`other` is not frozen"),
        ("lib", "was frozen at `refs/heads/main`, and `v1` is asked for"),
        ("lib", "was frozen with the patches `pr`, and is asked for with `pr-2`"),
    ]
    (world.folder / "ropewalk.toml").write_text("nonsense = ")
    assert "lint/manifest" in found(world, "lint")


# Upstream


def test_a_branch_that_went_on(upstream: Repository, world: World) -> None:
    world.source(upstream)
    world.freeze()
    now = upstream.commit("four", {"f": "4\n"})
    assert found(world, "upstream") == {"upstream/advanced": f"is 1 commit further, at {now}"}
    (verdict,) = verified(world, "upstream").verdicts
    assert (verdict.word, verdict.now) == (Word.ADVANCED, now)
    assert verified(world, "upstream").holds


def test_b05_history_that_was_rewritten(upstream: Repository, world: World) -> None:
    world.source(upstream)
    commit = world.one().commit
    upstream.git("branch", "keep")
    upstream.git("reset", "--hard", "--quiet", "HEAD~1")
    now = upstream.git("rev-parse", "HEAD")
    assert found(world, "upstream") == {
        "upstream/rewritten": f"history was rewritten: {now} does not have {commit} behind it"
    }
    assert words(world, "upstream") == {"lib": Word.REWRITTEN}
    assert hint(world, "upstream") == (
        "upstream still serves it; `ropewalk freeze --stay --archive` keeps it beside the lock while it does"
    )
    world.checkout(cache="cache")
    assert hint(world, "upstream").startswith(f"held by the cache `{world.cache}/lib-")


def test_b05_a_commit_that_is_gone(upstream: Repository, world: World) -> None:
    world.source(upstream)
    commit = world.one(archive=True).commit
    shutil.rmtree(world.cache)
    upstream.git("reset", "--hard", "--quiet", "HEAD~1")
    forget(upstream)
    assert set(found(world, "upstream")) == {"upstream/rewritten", "upstream/commit-gone"}
    assert found(world, "upstream")["upstream/commit-gone"] == f"{commit} is not served any more"
    assert words(world, "upstream") == {"lib": Word.COMMIT_GONE}
    assert hint(world, "upstream") == f"held by the archive `{world.lock / 'objects' / f'{commit}.pack'}`"
    assert not verified(world, "upstream").holds
    # What is beside the lock is enough to have the state again, and nothing falls back to the branch.
    (out,) = world.checkout(offline=True)
    assert out.commit == commit


def test_b05_a_commit_that_nobody_holds(upstream: Repository, world: World) -> None:
    world.source(upstream)
    world.freeze()
    shutil.rmtree(world.cache)
    upstream.git("reset", "--hard", "--quiet", "HEAD~1")
    forget(upstream)
    assert hint(world, "upstream") == "nothing known holds it; name a mirror that does"


def test_b05_a_mirror_that_holds_what_is_gone(upstream: Repository, world: World, tmp_path: Path) -> None:
    upstream.git("clone", "--quiet", "--mirror", upstream.url, str(tmp_path / "mirror.git"))
    world.source(upstream, mirrors=f'["file://{tmp_path}/mirror.git"]')
    world.freeze()
    shutil.rmtree(world.cache)
    upstream.git("reset", "--hard", "--quiet", "HEAD~1")
    forget(upstream)
    assert hint(world, "upstream").startswith(f"held by the mirror `file://{tmp_path}/mirror.git`; ")


def test_b02_a_tag_that_moved(upstream: Repository, world: World) -> None:
    """The lock keeps the commit, whatever the tag says now, with a cache that knew it and without one."""
    upstream.git("tag", "-a", "v1", "-m", "one", "HEAD~1")
    assert upstream.git("rev-parse", "v1") != upstream.git("rev-parse", "v1^{commit}")
    world.source(upstream, "v1")
    commit = world.one().commit
    assert words(world, "upstream") == {"lib": Word.OK}
    upstream.git("tag", "-f", "-a", "v1", "-m", "moved", "HEAD")
    now = upstream.git("rev-parse", "HEAD")
    assert found(world, "upstream") == {"upstream/tag-moved": f"the tag moved from {commit} to {now}"}
    assert words(world, "upstream") == {"lib": Word.TAG_MOVED}
    assert not verified(world, "upstream").holds
    assert world.checkout("warm", "cache")[0].commit == commit
    assert world.checkout("cold", "cache-2")[0].commit == commit


def test_b01_a_tag_made_anew_on_the_same_commit_holds(upstream: Repository, world: World) -> None:
    upstream.git("tag", "-a", "v1", "-m", "one")
    world.source(upstream, "v1")
    world.freeze()
    upstream.git("tag", "-f", "-a", "v1", "-m", "again")
    assert found(world, "upstream") == {}


def test_a_branch_that_is_gone(upstream: Repository, world: World) -> None:
    upstream.git("branch", "stable")
    world.source(upstream, "stable")
    commit = world.one().commit
    upstream.git("branch", "-D", "stable")
    assert found(world, "upstream") == {"upstream/ref-gone": f"`refs/heads/stable` is gone; it was at {commit}"}
    assert words(world, "upstream") == {"lib": Word.REF_GONE}
    upstream.git("reset", "--hard", "--quiet", "HEAD~1")
    forget(upstream)
    assert set(found(world, "upstream")) == {"upstream/ref-gone", "upstream/commit-gone"}


def test_a_repository_that_is_gone(upstream: Repository, world: World) -> None:
    world.source(upstream)
    world.freeze()
    world.checkout(cache="cache")
    upstream.path.rename(upstream.path.with_name("elsewhere"))
    assert found(world, "upstream")["upstream/repository-gone"].startswith(
        f"`{upstream.url}` is gone, or not open to this machine: "
    )
    assert words(world, "upstream") == {"lib": Word.REPOSITORY_GONE}
    assert hint(world, "upstream").startswith("held by the cache ")


def test_a_pinned_commit_of_a_repository_that_is_gone(upstream: Repository, world: World) -> None:
    world.source(upstream, upstream.git("rev-parse", "HEAD"))
    world.freeze()
    upstream.path.rename(upstream.path.with_name("elsewhere"))
    assert words(world, "upstream") == {"lib": Word.REPOSITORY_GONE}


def test_over_http_gone_and_out_of_reach_are_not_the_same(world: World, tmp_path: Path) -> None:
    root = tmp_path / "served"
    repository = make_repository(root / "lib")
    repository.commit("one", {"a": "a\n"})
    with serving(root) as server:
        world.manifest = f'[sources.lib]\ngit = "{server.url}/lib/.git"\ntrack = "main"\n'
        world.freeze()
        server.requests.clear()
        assert words(world, "upstream") == {"lib": Word.OK}
        assert len(server.requests) == 1
        shutil.rmtree(root / "lib")
        assert words(world, "upstream") == {"lib": Word.REPOSITORY_GONE}
        assert not verified(world, "upstream").undecided
    assert words(world, "upstream") == {"lib": Word.UNKNOWN}
    assert set(found(world, "upstream")) == {"upstream/unreachable"}
    assert verified(world, "upstream").undecided


def test_one_look_up_for_sources_of_one_repository(world: World, tmp_path: Path) -> None:
    root = tmp_path / "served"
    repository = make_repository(root / "lib")
    repository.commit("one", {"a": "a\n"})
    repository.git("branch", "stable")
    with serving(root) as server:
        for name, track in (("one", "main"), ("two", "stable")):
            world.manifest += f'[sources.{name}]\ngit = "{server.url}/lib/.git"\ntrack = "{track}"\n'
        world.freeze()
        server.requests.clear()
        assert words(world, "upstream") == {"one": Word.OK, "two": Word.OK}
        assert len(server.requests) == 1


def test_what_becomes_of_a_patch_upstream_stops_nobody(upstream: Repository, world: World) -> None:
    patched(upstream, world)
    (patch,) = (world.lock / "patches").iterdir()
    upstream.git("checkout", "--quiet", "pr")
    upstream.git("reset", "--hard", "--quiet", "HEAD~1")
    upstream.commit("mine, again", {"e.txt": "E\n"})
    upstream.git("checkout", "--quiet", "main")
    assert words(world, "upstream") == {"lib": Word.OK, "pr": Word.REWRITTEN}
    assert hint(world, "upstream") == f"the lock has the patch itself: `patches/{patch.name}`"
    assert verified(world, "upstream").holds
    upstream.git("branch", "-D", "pr")
    assert words(world, "upstream") == {"lib": Word.OK, "pr": Word.REF_GONE}
    forget(upstream)
    assert words(world, "upstream") == {"lib": Word.OK, "pr": Word.COMMIT_GONE}
    assert verified(world, "upstream").holds


def test_a_patch_of_a_mirror_is_looked_for_there(upstream: Repository, world: World, tmp_path: Path) -> None:
    upstream.git("clone", "--quiet", upstream.url, str(tmp_path / "fork"))
    fork = replace(upstream, path=tmp_path / "fork")
    fork.git("config", "uploadpack.allowFilter", "true")
    fork.git("checkout", "--quiet", "-b", "fix")
    fork.commit("fix", {"e.txt": "e\n"})
    world.source(upstream, mirrors=f'["{fork.url}"]')
    world.patch(upstream, "mirror:fix")
    world.freeze()
    assert words(world, "upstream") == {"lib": Word.OK, "mirror:fix": Word.OK}
    now = fork.commit("more", {"e.txt": "e\ne\n"})
    assert found(world, "upstream") == {"upstream/advanced": f"is 1 commit further, at {now}"}


def test_a_submodule_that_is_gone(upstream: Repository, world: World, tmp_path: Path) -> None:
    sub = make_repository(tmp_path / "sub")
    commit = sub.commit("one", {"s": "1\n"})
    upstream.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", sub.url, "vendor/sub")
    upstream.commit("with it", {})
    world.source(upstream)
    world.freeze(archive=True)
    assert words(world, "upstream") == {"lib": Word.OK, "vendor/sub": Word.OK}
    sub.commit("one, again", {"s": "1!\n"}, "--amend")
    forget(sub)
    assert words(world, "upstream") == {"lib": Word.OK, "vendor/sub": Word.COMMIT_GONE}
    assert f"the archive `{world.lock / 'objects' / f'{commit}.pack'}`" in hint(world, "upstream")
    sub.path.rename(sub.path.with_name("elsewhere"))
    assert words(world, "upstream") == {"lib": Word.OK, "vendor/sub": Word.REPOSITORY_GONE}


# Imposters


def from_a_fork(upstream: Repository) -> str:
    """Put a commit where a pull request of a fork puts it: its repository serves it, and has no branch with it."""
    upstream.git("checkout", "--quiet", "--detach")
    commit = upstream.commit("from a fork", {"evil.txt": "evil\n"})
    upstream.git("update-ref", "refs/pull/9/head", commit)
    upstream.git("checkout", "--quiet", "main")
    return commit


def test_a_commit_on_no_branch_of_its_repository(upstream: Repository, world: World) -> None:
    commit = from_a_fork(upstream)
    world.source(upstream, commit)
    world.freeze()
    message = f"{commit} is on no branch and no tag of its own repository"
    assert found(world, "upstream") == {"upstream/imposter": message}
    assert words(world, "upstream") == {"lib": Word.IMPOSTER}
    assert not verified(world, "upstream").holds
    upstream.git("branch", "kept", commit)
    assert words(world, "upstream") == {"lib": Word.OK}


@pytest.mark.parametrize("place", ["HEAD", "HEAD~2", "side", "v1~1"])
def test_a_pinned_commit_behind_a_branch_or_tag_is_none(upstream: Repository, world: World, place: str) -> None:
    upstream.git("checkout", "--quiet", "-b", "side", "HEAD~1")
    upstream.commit("side", {"s": "s\n"})
    upstream.git("checkout", "--quiet", "--detach", "HEAD~1")
    upstream.commit("on the way", {"t": "1\n"})
    upstream.commit("released", {"t": "2\n"})
    upstream.git("tag", "-a", "v1", "-m", "one")
    upstream.git("checkout", "--quiet", "main")
    world.source(upstream, upstream.git("rev-parse", f"{place}^{{commit}}"))
    world.freeze()
    assert found(world, "upstream") == {}
    assert words(world, "upstream") == {"lib": Word.OK}


def test_b01_an_annotated_tag_beside_a_pinned_commit(upstream: Repository, world: World) -> None:
    """Where all branches and tags are listed, too, a tag stands for the commit it is on."""
    upstream.git("tag", "-a", "v1", "-m", "one")
    commit = upstream.git("rev-parse", "HEAD~1")
    world.source(upstream, commit)
    world.manifest += f'[sources.tagged]\ngit = "{upstream.url}"\ntrack = "v1"\n'
    world.freeze()
    assert words(world, "upstream") == {"lib": Word.OK, "tagged": Word.OK}
    upstream.git("tag", "-f", "-a", "v1", "-m", "moved", "HEAD~1")
    assert found(world, "upstream") == {
        "upstream/tag-moved": f"the tag moved from {upstream.git('rev-parse', 'HEAD')} to {commit}"
    }


def test_a_pull_request_that_was_asked_for_is_said_and_stops_nobody(upstream: Repository, world: World) -> None:
    from_a_fork(upstream)
    world.source(upstream, "refs/pull/9/head")
    world.freeze()
    assert words(world, "upstream") == {"lib": Word.IMPOSTER}
    assert hint(world, "upstream") == "`refs/pull/9/head` may be anybody's; make sure of whose it is"
    assert verified(world, "upstream").holds


# Sources


def test_sources_need_their_objects(upstream: Repository, world: World) -> None:
    patched(upstream, world)
    shutil.rmtree(world.cache)
    assert set(found(world, "sources")) == {"sources/unavailable"}
    assert words(world, "sources") == {"lib": Word.UNKNOWN}
    world.freeze(archive=True)
    shutil.rmtree(world.cache)
    shutil.rmtree(upstream.path)
    assert found(world, "sources") == {}
    assert words(world, "sources") == {"lib": Word.HOLDS}


def test_an_archive_has_to_be_enough_by_itself(upstream: Repository, world: World) -> None:
    world.source(upstream)
    commit = world.one(archive=True).commit
    world.checkout(cache="cache")
    archive = world.lock / "objects" / f"{commit}.pack"
    archive.chmod(0o644)
    archive.write_bytes(archive.read_bytes()[:-30])
    assert set(found(world, "sources")) == {"sources/archive"}
    assert words(world, "sources") == {"lib": Word.UNKNOWN}
    archive.unlink()
    assert words(world, "sources") == {"lib": Word.HOLDS}


def test_trees_that_are_not_the_frozen_ones(upstream: Repository, world: World) -> None:
    patched(upstream, world)
    world.checkout(cache="cache")
    state = read_lock(world.lock)
    (source,) = state.sources
    lie = replace(source, tree=source.patched_tree, patched_tree=source.tree)
    write_lock(replace(state, sources=(lie,)), world.lock)
    assert set(found(world, "sources")) == {"sources/tree", "sources/patched"}
    assert words(world, "sources") == {"lib": Word.FAILS}


def test_the_tree_after_each_patch_is_held_against_the_frozen_one(upstream: Repository, world: World) -> None:
    for name in ("first", "second"):
        upstream.git("checkout", "--quiet", "-b", name, "main")
        upstream.commit(name, {f"{name}.txt": "x\n"})
    upstream.git("checkout", "--quiet", "main")
    world.source(upstream)
    world.patch(upstream, "first")
    world.patch(upstream, "second")
    source = world.one(archive=True)
    assert found(world, "sources") == {}
    first, second = source.patches
    lie = replace(source, patches=(replace(first, tree=source.tree), second))
    write_lock(replace(read_lock(world.lock), sources=(lie,)), world.lock)
    (finding,) = verified(world, "sources").findings
    assert (finding.rule, finding.member) == ("sources/patched", "first")
    assert finding.message == f"makes the tree {first.tree}, and frozen was {source.tree}"


def test_a_patch_that_does_not_apply_here(upstream: Repository, world: World) -> None:
    upstream.git("checkout", "--quiet", "-b", "pr")
    upstream.commit("mine", {"d.txt": "D\n"})
    upstream.git("checkout", "--quiet", "main")
    world.source(upstream)
    world.patch(upstream, "pr")
    old = world.one()
    upstream.commit("theirs", {"d.txt": "other\n"})
    world.manifest = ""
    world.source(upstream)
    new = world.one()
    world.checkout(cache="cache")
    state = read_lock(world.lock)
    patches = {old.steps[0]: (world.lock / "patches" / f"{old.steps[0]}.patch")}
    assert not patches[old.steps[0]].exists()
    world.patch(upstream, "pr")
    upstream.git("reset", "--hard", "--quiet", "HEAD~1")
    texts = world.freeze().state.patches
    write_lock(replace(state, sources=(replace(new, patches=old.patches),), patches=texts), world.lock)
    assert found(world, "sources") == {
        "sources/patch": "the change `mine` does not apply: patch failed: d.txt:1; d.txt: patch does not apply"
    }


def test_submodules_are_held_against_the_tree(upstream: Repository, world: World, tmp_path: Path) -> None:
    sub = make_repository(tmp_path / "sub")
    sub.commit("one", {"s": "1\n"})
    upstream.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", sub.url, "vendor/sub")
    upstream.commit("with it", {})
    world.source(upstream)
    source = world.one(archive=True)
    assert found(world, "sources") == {}
    (submodule,) = source.submodules
    lies = {"commit": source.commit, "tree": source.tree}
    for key, rule in (("commit", "sources/submodule"), ("tree", "sources/tree")):
        lie = replace(source, submodules=(replace(submodule, **{key: lies[key]}),))
        write_lock(replace(read_lock(world.lock), sources=(lie,)), world.lock)
        assert rule in found(world, "sources")


def test_lfs_files_are_held_against_the_tree(upstream: Repository, world: World) -> None:
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'a' * 64}\nsize 3\n"
    upstream.commit("big", {".gitattributes": "*.bin filter=lfs\n", "a.bin": pointer})
    world.source(upstream)
    source = world.one(archive=True)
    assert found(world, "sources") == {}
    (file,) = source.lfs
    lie = replace(source, lfs=(replace(file, oid="b" * 64),), lfs_wanted=True)
    write_lock(replace(read_lock(world.lock), sources=(lie,)), world.lock)
    content = content_path(world.cache, "b" * 64)
    content.parent.mkdir(parents=True)
    content.write_bytes(b"abc")
    assert [one.message for one in verified(world, "sources").findings] == [
        f"the content {'a' * 64} of 3 bytes is in the tree and not in the lock",
        f"the content {'b' * 64} of 3 bytes is in the lock and not in the tree",
        f"`{content}` is not the content {'b' * 64}",
    ]
    content.unlink()
    assert words(world, "sources") == {"lib": Word.UNKNOWN}
