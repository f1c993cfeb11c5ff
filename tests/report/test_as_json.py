from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.checks.run import Report
from ropewalk.errors import IntegrityError, UsageError
from ropewalk.finding import Finding, Level
from ropewalk.report.as_json import error_to_json, to_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import PurePath


@dataclass(frozen=True, kw_only=True, slots=True)
class Thing:
    path: PurePath
    level: Level = Level.NOTE
    names: frozenset[str] = frozenset()
    parts: tuple[Thing, ...] = ()


def test_a_value_with_all_kinds() -> None:
    inner = Thing(path=PureWindowsPath("c\\d"))
    thing = Thing(path=PurePosixPath("a/b"), names=frozenset({"y", "x"}), parts=(inner,))
    assert to_json(thing) == (
        "{\n"
        '  "level": "note",\n'
        '  "names": [\n    "x",\n    "y"\n  ],\n'
        '  "parts": [\n'
        "    {\n"
        '      "level": "note",\n'
        '      "names": [],\n'
        '      "parts": [],\n'
        '      "path": "c/d"\n'
        "    }\n"
        "  ],\n"
        '  "path": "a/b"\n'
        "}\n"
    )


def test_a_report() -> None:
    found = Finding(rule="a/b", message="m", subject="a.whl", level=Level.WARNING)
    report = Report(file="a.whl", sha256="00", name="a", version="1", checks=("archive",), findings=(found,))
    assert json.loads(to_json(report)) == {
        "file": "a.whl",
        "sha256": "00",
        "name": "a",
        "version": "1",
        "checks": ["archive"],
        "findings": [{"rule": "a/b", "message": "m", "subject": "a.whl", "member": "", "level": "warning", "hint": ""}],
        "passed": True,
    }


def test_an_error() -> None:
    error = IntegrityError("other bytes", hint="run again", findings=[Finding(rule="a/b", message="m")])
    assert json.loads(error_to_json(error)) == {
        "error": {
            "kind": "IntegrityError",
            "message": "other bytes",
            "hint": "run again",
            "exit_code": 4,
            "findings": [{"rule": "a/b", "message": "m", "subject": "", "member": "", "level": "error", "hint": ""}],
        }
    }
    assert json.loads(error_to_json(UsageError("x")))["error"]["exit_code"] == 2


def test_a_name_that_is_not_utf8() -> None:
    assert to_json(PurePosixPath("a\udc80")) == '"a\\\\x80"\n'
    assert to_json("a\udc80\x1b") == '"a\\udc80\\u001b"\n'


@pytest.mark.parametrize("value", [object(), b"bytes", {1: "a"}, {"a": {object()}}])
def test_what_has_no_form_in_json(value: object) -> None:
    with pytest.raises(TypeError):
        to_json(value)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_that_are_none(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json(value)


KEYS = st.text(max_size=5)


@given(st.dictionaries(KEYS, st.none() | st.booleans() | st.integers() | st.text(max_size=5)))
def test_the_text_depends_on_nothing_but_the_value(value: Mapping[str, object]) -> None:
    text = to_json(value)
    assert json.loads(text) == value
    assert text == to_json(dict(reversed(list(value.items()))))
    assert text.isascii()
    assert text.endswith("\n")


def test_rendering_loads_little() -> None:
    code = "import sys, ropewalk.report.as_json, ropewalk.report.terminal; print('packaging' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"
