"""Random small histories, frozen and checked out under random hostile configurations of git: the trees are equal."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from freezing.freezing import World
from repositories import make_repository
from ropewalk.errors import UsageError
from ropewalk.lock.state import Source, Standing

if TYPE_CHECKING:
    from repositories import Repository

NAMES = st.sampled_from(
    [
        "a.txt",
        "b.txt",
        "dir/a.txt",
        "dir/deep/b.bin",
        "ü.txt",
        "sp ace",
        'q"uote',
        "tab\tname",
        os.fsdecode(b"latin-\xe9"),
    ]
)
CONTENT = st.one_of(
    st.lists(st.sampled_from(["one", "two", "three", "ü", ""]), max_size=12).map(
        lambda lines: "\n".join(lines).encode()
    ),
    st.lists(st.sampled_from(["one", "two", "three"]), max_size=6).map(lambda lines: "\r\n".join(lines).encode()),
    st.binary(max_size=80),
    st.just(b"x" * 200 + b"\0" + b"y" * 200),
)
STEP = st.one_of(
    st.tuples(st.just("write"), NAMES, CONTENT),
    st.tuples(st.just("write"), NAMES, CONTENT),
    st.tuples(st.just("remove"), NAMES, st.none()),
    st.tuples(st.just("rename"), NAMES, NAMES),
    st.tuples(st.just("mode"), NAMES, st.none()),
    st.tuples(st.just("link"), NAMES, st.sampled_from(["a.txt", "nowhere", "dir"])),
    st.tuples(st.just("empty"), st.none(), st.none()),
    st.tuples(st.just("submodule"), st.none(), st.none()),
    st.tuples(st.just("merge"), st.sampled_from(["ours", "theirs", "extra"]), CONTENT),
)
CONFIG = st.lists(
    st.sampled_from(
        [
            *("diff.noprefix=true", "diff.mnemonicPrefix=true", "diff.context=9", "diff.renames=copies"),
            *("diff.algorithm=patience", "diff.external=false", "diff.submodule=log", "diff.orderFile=/dev/null"),
            *("core.autocrlf=true", "core.autocrlf=input", "core.eol=crlf", "core.abbrev=4", "core.quotePath=false"),
            *("core.fileMode=false", "core.symlinks=false", "core.fsmonitor=false", "core.ignoreCase=true"),
            *("core.whitespace=cr-at-eol,tab-in-indent", "apply.whitespace=fix", "apply.ignoreWhitespace=change"),
            *("format.signature=x", "format.attach=true", "format.numbered=true", "commit.gpgSign=true"),
            *("color.ui=always", "fetch.prune=true", "fetch.recurseSubmodules=true", "transfer.hideRefs=refs/kept"),
            *(
                "i18n.commitEncoding=latin1",
                "i18n.logOutputEncoding=latin1",
                "core.compression=0",
                "pack.compression=0",
            ),
        ]
    ),
    max_size=6,
)


def take(repository: Repository, step: tuple[str, str | None, object]) -> None:
    """Do one step, where it can be done, and commit."""
    kind, name, value = step
    path = repository.path / (name or "")
    if kind == "merge":
        merge(repository, str(name), value if isinstance(value, bytes) else b"")
        return
    if kind == "write" and isinstance(value, bytes) and not path.is_dir():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_bytes(value)
    elif kind == "remove" and path.is_file():
        path.unlink()
    elif kind == "rename" and path.is_file() and not (repository.path / str(value)).is_dir():
        (repository.path / str(value)).parent.mkdir(parents=True, exist_ok=True)
        path.rename(repository.path / str(value))
    elif kind == "mode" and path.is_file() and not path.is_symlink():
        path.chmod(0o755 if path.stat().st_mode & 0o111 == 0 else 0o644)
    elif kind == "link" and not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.symlink_to(str(value))
    elif kind == "submodule":
        head = repository.git("rev-parse", "HEAD")
        repository.git("update-index", "--add", "--cacheinfo", f"160000,{head},module")
        repository.clock += 60
        repository.git("commit", "--quiet", "--allow-empty", "-m", "module")
        return
    repository.git("add", "--all", "--", ".", ":!module")
    repository.clock += 60
    repository.git("commit", "--quiet", "--allow-empty", "-m", f"{kind} {name!r}")


def merge(repository: Repository, how: str, content: bytes) -> None:
    """Merge a side branch that was made for it, and resolve what conflicts."""
    here = repository.git("rev-parse", "--abbrev-ref", "HEAD")
    parent = repository.git("rev-list", "-1", "HEAD^@") or "HEAD"
    repository.git("checkout", "--quiet", "-b", f"side-{repository.clock}", parent.split()[0])
    take(repository, ("write", "a.txt", content))
    side = repository.git("rev-parse", "HEAD")
    repository.git("checkout", "--quiet", here)
    repository.git("merge", "--quiet", "--no-ff", "--no-commit", side, codes=(0, 1, 128))
    if how == "extra":
        (repository.path / "extra.txt").write_bytes(content)
    repository.git("checkout", "--quiet", "--ours" if how == "ours" else "--theirs", "--", "a.txt", codes=(0, 1, 128))
    repository.git("add", "--all", "--", ".", ":!module")
    repository.clock += 60
    repository.git("commit", "--quiet", "--allow-empty", "-m", "merged")


@pytest.mark.slow
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(
    main=st.lists(STEP, min_size=1, max_size=3),
    own=st.lists(STEP, min_size=1, max_size=5),
    later=st.lists(STEP, max_size=2),
    config=CONFIG,
)
def test_what_is_checked_out_is_what_was_frozen(
    main: list[tuple[str, str | None, object]],
    own: list[tuple[str, str | None, object]],
    later: list[tuple[str, str | None, object]],
    config: list[str],
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        upstream = make_repository(folder / "lib")
        upstream.commit("start", {"a.txt": "one\ntwo\nthree\n" * 4})
        for step in main:
            take(upstream, step)
        upstream.git("checkout", "--quiet", "-b", "pr")
        for step in own:
            take(upstream, step)
        upstream.git("checkout", "--quiet", "--force", "main")
        upstream.git("clean", "--quiet", "-xdff")
        base = upstream.git("rev-parse", "HEAD")
        for step in later:
            take(upstream, step)
        hostile = {"GIT_CONFIG_COUNT": str(len(config))}
        for number, setting in enumerate(config):
            key, _, value = setting.partition("=")
            hostile |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        written = folder / "gitconfig"
        written.write_text("".join(_section(setting) for setting in config))
        with mock.patch.dict(os.environ, {**hostile, "GIT_CONFIG_GLOBAL": str(written)}):
            check(upstream, World(folder / "world"), base, moved=bool(later))


def _section(setting: str) -> str:
    key, _, value = setting.partition("=")
    section, _, name = key.partition(".")
    return f'[{section}]\n\t{name} = "{value}"\n'


def check(upstream: Repository, world: World, base: str, *, moved: bool) -> None:
    world.source(upstream, submodules="false")
    world.patch(upstream, "pr")
    source, refusal = frozen_or_refused(world)
    if source is None:
        # Upstream went on, and the change no longer fits: that is an answer, and no state.
        assert moved
        assert "does not apply" in refusal
        assert not world.lock.exists()
        return
    (patch,) = source.patches
    if not moved and patch.standing is Standing.APPLIED:
        assert source.patched_tree == upstream.tree("pr")
    (done,) = world.checkout()
    assert (done.commit, done.tree) == (source.patched_commit, source.patched_tree)
    assert base == patch.base or moved or patch.standing is Standing.MERGED


def frozen_or_refused(world: World) -> tuple[Source | None, str]:
    try:
        return world.one(), ""
    except UsageError as error:
        return None, error.findings[0].message
