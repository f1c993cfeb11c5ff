"""entry_points.txt, read and written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.finding import Collector
from ropewalk.wheels.entry_points import EntryPoints, parse_entry_points, render_entry_points


def parsed(text: str | bytes) -> tuple[EntryPoints, list[tuple[str, str, str]]]:
    found = Collector("demo.whl")
    points = parse_entry_points(text.encode() if isinstance(text, str) else text, "entry_points.txt", found)
    return points, [(finding.level.value, finding.rule, finding.message) for finding in found.findings]


def test_names_keep_their_case_and_their_colons() -> None:
    text = "[console_scripts]\nTool = a.b:main [extra]\n[x.y]\na:b = c\n# comment\n"
    assert parsed(text) == ({"console_scripts": {"Tool": "a.b:main [extra]"}, "x.y": {"a:b": "c"}}, [])


@pytest.mark.parametrize(
    ("text", "level", "rule"),
    [
        ("[a]\nb = c\nb = d\n", "error", "entry-points/format"),
        ("[a]\n[a]\n", "error", "entry-points/format"),
        ("b = c\n", "error", "entry-points/format"),
        (b"[a]\nb = \xff\n", "error", "entry-points/format"),
        ("[console_scripts]\ntool = not an object\n", "error", "entry-points/reference"),
        ("[console_scripts]\na/b = c:d\n", "error", "entry-points/script-name"),
        ("[console_scripts]\n../b = c:d\n", "error", "entry-points/script-name"),
        ("[other]\na = {json}\n", "warning", "entry-points/reference"),
        ("[other]\na = b\n c\n", "error", "entry-points/format"),
    ],
)
def test_faults(text: str | bytes, level: str, rule: str) -> None:
    assert (level, rule) in [finding[:2] for finding in parsed(text)[1]]


NAME = st.text("abcXYZ09._-", min_size=1).filter(lambda name: name[0].isalpha())


@given(st.dictionaries(NAME, st.dictionaries(NAME, st.sampled_from(["a:b", "a.b:c.d", "a"]), min_size=1)))
def test_what_is_written_is_read_back(groups: EntryPoints) -> None:
    assert parsed(render_entry_points(groups)) == (groups, [])
