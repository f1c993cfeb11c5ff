"""The command reference and the README are true of the code."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from ropewalk.cli.parser import make_parser
from ropewalk.cli.reference import EXIT_CODES, command_reference

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```console\n(.*?)```", README, re.DOTALL)


def test_the_reference_is_up_to_date() -> None:
    assert (ROOT / "docs" / "commands.md").read_text(encoding="utf-8") == command_reference()


def test_the_readme_sets_up_with_two_commands() -> None:
    assert [block.strip() for block in BLOCKS if "run.py" in block] == ["python3 run.py demo", "python3 run.py test"]


@pytest.mark.parametrize(
    "line", [line for block in BLOCKS for line in block.splitlines() if line.startswith("ropewalk ")]
)
def test_the_commands_of_the_readme_are_understood(line: str) -> None:
    options = make_parser().parse_args(shlex.split(line)[1:])
    assert callable(options.run)


def test_the_exit_codes_of_the_readme() -> None:
    rows = dict(re.findall(r"^\| (\d+) \| (.*) \|$", README, re.MULTILINE))
    assert set(map(int, rows)) <= set(EXIT_CODES)
