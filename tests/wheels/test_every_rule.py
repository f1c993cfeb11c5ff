"""Every rule of the reader is broken by a test."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ropewalk.wheels
from wheels.hostile import MEMBERS, WHOLES

RULE = re.compile(r'["[]((?:archive|record|tags|metadata|entry-points)/[a-z0-9-]+)["\]]')
SOURCES = [Path(folder) for folder in ropewalk.wheels.__path__]


def rules_in(*folders: Path) -> set[str]:
    texts = (path.read_text(encoding="utf-8") for folder in folders for path in folder.glob("*.py"))
    return {rule for text in texts for rule in RULE.findall(text)}


def test_every_rule_has_a_test() -> None:
    assert rules_in(*SOURCES) == rules_in(Path(__file__).parent)


@pytest.mark.parametrize("module", ["archive", "directory", "layout", "names"])
def test_every_rule_of_an_archives_structure_has_an_archive_that_breaks_it_alone(module: str) -> None:
    broken = {case[1] for case in (*MEMBERS, *WHOLES)} | {"archive/not-a-zip"}
    texts = [folder / f"{module}.py" for folder in SOURCES]
    assert {rule for text in texts for rule in RULE.findall(text.read_text(encoding="utf-8"))} <= broken
