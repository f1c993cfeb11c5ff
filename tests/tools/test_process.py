"""Processes: started from lists, in a clean environment, and quoted without secrets."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from ropewalk.errors import ToolError
from ropewalk.tools.process import ProcessError, clean_environ, run, without_secrets

if TYPE_CHECKING:
    from pathlib import Path

PYTHON = [sys.executable, "-I", "-c"]


def test_streams_are_bytes() -> None:
    script = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read()[::-1]); sys.stderr.write('said')"
    done = run([*PYTHON, script], stdin=b"\xff\x00a")
    assert (done.code, done.stdout, done.stderr) == (0, b"a\x00\xff", b"said")


def test_nothing_is_given_to_a_shell() -> None:
    text = "$(touch x); `true` *"
    assert run([*PYTHON, "import sys; print(sys.argv[1], end='')", text]).stdout.decode() == text


def test_a_failure_says_what_the_process_said() -> None:
    command = [*PYTHON, "import sys; print('out'); sys.stderr.write('err'); sys.exit(7)", "https://u:p@host/x"]
    with pytest.raises(ProcessError) as caught:
        run(command)
    assert (caught.value.code, caught.value.stdout, caught.value.stderr) == (7, b"out\n", b"err")
    assert str(caught.value).endswith("https://****@host/x` ended with exit code 7\nerr")
    assert caught.value.exit_code == 3
    assert run(command, codes=(0, 7)).code == 7


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("print('only out'); raise SystemExit(1)", "only out"),
        ("raise SystemExit(1)", "it said nothing"),
        ("import sys; sys.stderr.buffer.write(b'\\xff'); raise SystemExit(1)", "\ufffd"),
        ("import sys; sys.stderr.write('x' * 100000 + 'end'); raise SystemExit(1)", "…" + "x" * 3997 + "end"),
    ],
)
def test_what_is_quoted(script: str, said: str) -> None:
    with pytest.raises(ProcessError) as caught:
        run([*PYTHON, script])
    assert str(caught.value).rpartition("\n")[2] == said


def test_what_cannot_be_run(tmp_path: Path) -> None:
    with pytest.raises(ToolError) as caught:
        run(["no-such-program-anywhere"])
    assert str(caught.value) == "`no-such-program-anywhere` cannot be run: No such file or directory"
    assert caught.value.hint == "install `no-such-program-anywhere`"
    (tmp_path / "text").write_text("no program")
    with pytest.raises(ToolError) as caught:
        run([str(tmp_path / "text")])
    assert (str(caught.value), caught.value.hint) == (f"`{tmp_path}/text` cannot be run: Permission denied", "")
    with pytest.raises(ToolError) as caught:
        run([*PYTHON, ""], cwd=tmp_path / "gone")
    assert str(caught.value) == f"`{sys.executable}` cannot be run in `{tmp_path}/gone`: No such file or directory"
    assert caught.value.hint == ""


def test_it_is_not_waited_for_ever() -> None:
    with pytest.raises(ToolError, match=r"was stopped after 0.2 s$") as caught:
        run([*PYTHON, "import time; time.sleep(60)"], timeout=0.2)
    assert caught.value.hint == "check the network and try again"


def test_the_environment_is_clean() -> None:
    foreign = (
        "GIT_DIR",
        "GIT_SSL_NO_VERIFY",
        "UV_CACHE_DIR",
        "PIP_TARGET",
        "PYTHONPATH",
        "LC_TIME",
        "LANG",
        "LANGUAGE",
    )
    kept = ("PATH", "HOME", "GITHUB_TOKEN", "LCOV", "GIT_SSL_CAINFO", "GIT_SSH_COMMAND", "UV_DEFAULT_INDEX")
    environ = dict.fromkeys((*foreign, *kept, "VIRTUAL_ENV", "LC_ALL", "TZ"), "x")
    assert clean_environ(environ) == {**dict.fromkeys(kept, "x"), "LC_ALL": "C.UTF-8", "TZ": "UTC"}


def test_what_is_added_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/x")
    script = "import os; print(os.environ.get('GIT_DIR'), os.environ['TZ'], os.environ['GIT_X'], end='')"
    assert run([*PYTHON, script], environ={"GIT_X": "y"}).stdout == b"None UTC y"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("https://host/x", "https://host/x"),
        ("https://user@host/x", "https://****@host/x"),
        ("https://user:pass@host/x", "https://****@host/x"),
        ("https://user:p@ss@host/x", "https://****@host/x"),
        ("https://user:p?a#ss@host/x", "https://****@host/x"),
        ("ssh://git@host/x and ssh://git@other/y", "ssh://****@host/x and ssh://****@other/y"),
        ("https://host/x@y", "https://host/x@y"),
        ("git@host:x", "git@host:x"),
    ],
)
def test_secrets(text: str, masked: str) -> None:
    assert without_secrets(text) == masked
