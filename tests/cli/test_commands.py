"""Whole commands: exit code, stdout and stderr."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from making import unzipped
from ropewalk import __version__

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    MakeWheel = Callable[..., Path]


def ropewalk(*arguments: str | Path, cwd: Path, **environ: str) -> tuple[int, str, str]:
    """Run the command; the working folder is written as `.` in what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "ropewalk", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.replace(str(cwd), "."), done.stderr.replace(str(cwd), ".")


@pytest.fixture
def wheels(make_wheel: MakeWheel) -> list[Path]:
    return [
        make_wheel("head", "2.0", requires=["core"], extras={"s3": ["aws"]}),
        make_wheel("core", requires=["numpy"]),
        make_wheel("aws", "1.5", requires=["boto3"]),
    ]


MANIFEST = """
[project]
name = "head"

[bundle]
name = "head"
components = ["core", "aws"]
wheels = "."
"""


def test_version(tmp_path: Path) -> None:
    assert ropewalk("--version", cwd=tmp_path) == (0, f"ropewalk {__version__}\n", "")


def test_bundle_prints_its_path(wheels: list[Path], tmp_path: Path) -> None:
    assert ropewalk("bundle", "--name", "head", "--output", "out", *wheels, cwd=tmp_path) == (
        0,
        "out/head-2.0-py3-none-any.whl\n",
        "",
    )


def test_bundle_alone_reads_the_manifest(wheels: list[Path], tmp_path: Path) -> None:
    (tmp_path / "ropewalk.toml").write_text(MANIFEST)
    assert ropewalk("bundle", cwd=tmp_path) == (0, "dist/head-2.0-py3-none-any.whl\n", "")
    assert ropewalk("bundle", "--manifest", "../" + tmp_path.name + "/ropewalk.toml", cwd=tmp_path)[0] == 0
    assert len(wheels) == 3


def test_bundle_as_json(wheels: list[Path], tmp_path: Path) -> None:
    commit = f"core={'c' * 40}"
    code, out, err = ropewalk("bundle", "--json", "--name", "head", "--commit", commit, *wheels, cwd=tmp_path)
    result = json.loads(out)
    assert (code, err) == (0, "")
    assert (result["path"], result["name"], result["version"]) == ("dist/head-2.0-py3-none-any.whl", "head", "2.0")
    assert [(one["name"], one["role"], one["commit"]) for one in result["components"]] == [
        ("aws", "provider", None),
        ("core", "core", "c" * 40),
        ("head", "head", None),
    ]


def test_conflicts_come_at_once_and_as_json_too(make_wheel: MakeWheel, tmp_path: Path) -> None:
    wheels = [make_wheel("head", requires=["core>=2", "numpy<1"]), make_wheel("core", requires=["numpy>=2"])]
    code, out, err = ropewalk("bundle", "--json", "--name", "head", *wheels, cwd=tmp_path)
    assert code == 2
    assert err == (
        "error: the components of `head` do not fit together; nothing was written\n"
        "head:\n"
        "  error: core: `head` requires `core>=2`, and the bundle has 1.0 [bundle/component-version]\n"
        "    hint: bundle a `core` in that range, or change the range\n"
        "  error: numpy: no version of `numpy` fulfils what `core` (>=2), `head` (<1) require"
        " [bundle/requirement-conflict]\n"
        "    hint: relax the requirement of one of the components\n"
    )
    error = json.loads(out)["error"]
    assert (error["kind"], error["exit_code"]) == ("UsageError", 2)
    assert [finding["rule"] for finding in error["findings"]] == [
        "bundle/component-version",
        "bundle/requirement-conflict",
    ]
    assert not (tmp_path / "dist").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["bundle"],
            (
                "error: there is no `ropewalk.toml` here, and no wheels are named\n"
                "hint: run it where the manifest is, name one with `--manifest`, or name wheels: "
                "`ropewalk bundle --name NAME --output DIR WHEEL…`\n"
            ),
        ),
        (
            ["bundle", "a.whl"],
            (
                "error: which of the components leads the bundle?\n"
                "hint: name it with `--name`, or write a `ropewalk.toml` with a table [bundle]\n"
            ),
        ),
        (
            ["bundle", "--name", "a"],
            "error: there are no wheels to bundle\nhint: name the component wheels (`*.whl`)\n",
        ),
        (
            ["bundle", "--name", "a b", "--external", "-", "--commit", "c=1", "--platform", "linux", "a.whl"],
            (
                "error: the bundle cannot be laid as asked; nothing was written\n"
                "ropewalk bundle:\n"
                "  error: --commit c: `1` is not the full id of a commit [bundle/commit]\n"
                "    hint: write all 40 or 64 hexadecimal digits, as `git rev-parse HEAD` prints them\n"
                "  error: --name: `a b` is no project name [bundle/name]\n"
                "  error: --external: `-` is no project name [bundle/name]\n"
                "    hint: a name has letters, digits, `-`, `_` and `.` only, and starts and ends with a letter or"
                " digit\n"
                "  error: --platform: `linux` is no platform tag [bundle/platform]\n"
                "    hint: write it as in `manylinux_2_28_x86_64`\n"
            ),
        ),
        (
            ["bundle", "--name", "a", "missing.whl"],
            "error: cannot read `missing.whl`: No such file or directory\nhint: name a wheel file (`.whl`)\n",
        ),
        (
            ["explain", "missing.whl", "a"],
            "error: cannot read `missing.whl`: No such file or directory\nhint: name a wheel file (`.whl`)\n",
        ),
    ],
)
def test_what_is_asked_for_wrongly(arguments: list[str], message: str, tmp_path: Path) -> None:
    assert ropewalk(*arguments, cwd=tmp_path) == (2, "", message)


def test_split_and_explain(wheels: list[Path], tmp_path: Path) -> None:
    _, out, _ = ropewalk("bundle", "--name", "head", "--commit", f"aws={'a' * 40}", *wheels, cwd=tmp_path)
    bundle = out.strip()
    assert ropewalk("split", bundle, "--output", "again", cwd=tmp_path) == (
        0,
        "again/aws-1.5-py3-none-any.whl\nagain/core-1.0-py3-none-any.whl\nagain/head-2.0-py3-none-any.whl\n",
        "",
    )
    code, out, err = ropewalk("explain", bundle, "aws/__init__.py", cwd=tmp_path)
    assert (code, err) == (0, "")
    assert out.splitlines()[:4] == [
        "aws/__init__.py (20 bytes)",
        "  from aws 1.5 (provider of s3)",
        f"    commit {'a' * 40}",
        "    file   aws/__init__.py",
    ]
    code, out, err = ropewalk("explain", "--json", bundle, "core/__init__.py", cwd=tmp_path)
    assert json.loads(out)["sources"][0]["name"] == "core"
    assert ropewalk("explain", bundle, "aws/__init_.py", cwd=tmp_path) == (
        2,
        "",
        (
            "error: `head-2.0-py3-none-any.whl` has no member `aws/__init_.py`\nhint: did you mean `aws/__init__.py`"
            " or `head/__init__.py` or `core/__init__.py`?\n"
        ),
    )


def test_check_says_what_is_wrong(make_wheel: MakeWheel, tmp_path: Path) -> None:
    good = make_wheel("good")
    bad = make_wheel("bad", record_edit=lambda text: text.replace("bad/__init__.py", "bad/elsewhere.py"))
    assert ropewalk("check", good, cwd=tmp_path)[0] == 0
    code, out, _ = ropewalk("check", good, bad, cwd=tmp_path)
    assert code == 1
    assert "record/not-listed" in out
    assert [report["name"] for report in json.loads(ropewalk("check", "--json", good, bad, cwd=tmp_path)[1])] == [
        "good",
        "bad",
    ]


def test_names_in_wheels_do_not_reach_the_terminal_raw(make_wheel: MakeWheel, tmp_path: Path) -> None:
    bad = make_wheel("bad", files={"bad/\x1b[31mred": "", "bad/\u202egnp.py": ""})
    code, out, err = ropewalk("check", bad, cwd=tmp_path)
    assert code == 1
    assert "\x1b" not in out + err
    assert "\\x1b[31mred" in out


def test_a_reader_that_goes_away_is_no_fault(wheels: list[Path], tmp_path: Path) -> None:
    listed = " ".join(map(str, wheels))
    command = f"{sys.executable} -m ropewalk check {listed} | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(  # bash has PIPESTATUS
        ["bash", "-c", command],  # noqa: S607
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout in ("0\n", "141\n")
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("redirection", "code", "message"),
    [
        (">/dev/full", 3, "error: the output cannot be written: No space left on device\n"),
        (">&-", 0, ""),
        ("2>&-", 0, ""),
    ],
)
@pytest.mark.parametrize("command", ["--version", "check {}", "check --json {}"])
def test_streams_that_take_nothing(
    wheels: list[Path], tmp_path: Path, command: str, redirection: str, code: int, message: str
) -> None:
    line = f"{sys.executable} -m ropewalk {command.format(wheels[0])} {redirection}"
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False)  # noqa: S607
    assert (done.returncode, done.stderr) == (code, message)


def test_an_encoding_that_has_not_every_character(make_wheel: MakeWheel, tmp_path: Path) -> None:
    wheel = make_wheel("head", files={"head/ü.txt": ""})
    done = subprocess.run(
        [sys.executable, "-m", "ropewalk", "bundle", "--name", "head", "--output", "é", str(wheel)],
        cwd=tmp_path,
        env={**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout.decode(), done.stderr) == (0, "é/head-1.0-py3-none-any.whl\n", b"")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGKILL"])
def test_killed_at_any_moment_it_leaves_the_old_bundle_or_the_new_one(
    make_wheel: MakeWheel, tmp_path: Path, name: str
) -> None:
    import random  # noqa: PLC0415
    import signal  # noqa: PLC0415
    import time  # noqa: PLC0415

    content = random.Random(1).randbytes(30_000_000)  # noqa: S311 - only has to be incompressible
    wheel = make_wheel("head", files={f"head/{at}.bin": content for at in range(3)})
    command = [sys.executable, "-m", "ropewalk", "bundle", "--name", "head", str(wheel), "--output", "out"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    bundle = tmp_path / "out" / "head-1.0-py3-none-any.whl"
    before = bundle.read_bytes()
    for delay in (0.05, 0.15, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6):
        process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(delay)
        process.send_signal(getattr(signal, name))
        process.communicate()
        assert process.returncode in {0, 130, 143, -signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT}
        assert bundle.read_bytes() == before
        debris = [path.name for path in bundle.parent.iterdir() if path != bundle]
        assert name == "SIGKILL" or debris == []
    assert unzipped(bundle)["head/0.bin"] == content
