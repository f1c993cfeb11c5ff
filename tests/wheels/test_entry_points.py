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
        ("\ufeff[console_scripts]\na = b:c\n", "error", "entry-points/format"),
    ],
)
def test_faults(text: str | bytes, level: str, rule: str) -> None:
    assert (level, rule) in [finding[:2] for finding in parsed(text)[1]]


def test_no_group_holds_for_all_the_others() -> None:
    assert parsed("[\0]\nhidden = a:b\n[console_scripts]\ntool = a:b\n") == (
        {},
        [("error", "entry-points/format", "holds a NUL")],
    )
    assert parsed("[DEFAULT]\na = b:c\n[console_scripts]\n") == ({"DEFAULT": {"a": "b:c"}, "console_scripts": {}}, [])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[x]\na\n", "Source contains parsing errors: 'entry_points.txt' [line 2]: 'a\\n'"),
        ("a = b\n", "File contains no section headers. file: 'entry_points.txt', line: 1 'a = b\\n'"),
        (
            "[x]\na = b\na = c\n",
            "While reading from 'entry_points.txt' [line 3]: option 'a' in section 'x' already exists",
        ),
        ("[console_scripts]\nt = a b\n", "`t = a b` in [console_scripts] names no object"),
        ("[console_scripts]\na/b = c:d\n", "`a/b` is not a name for a script"),
        ("[x]\na = b\x1bc\n", "`a = b\\x1bc` in [x] is not one line of plain text"),
    ],
)
def test_messages(text: str, message: str) -> None:
    assert parsed(text)[1][0][2] == message


@given(st.text(st.sampled_from("[]=:;#%ab.\t\r\n \0\x1b\u2028")) | st.binary())
def test_nothing_breaks_the_reader(text: str | bytes) -> None:
    points, findings = parsed(text)
    assert isinstance(points, dict)
    assert all(message.isprintable() for _, _, message in findings)


NAME = st.text("abcXYZ09._-", min_size=1).filter(lambda name: name[0].isalpha())


@given(st.dictionaries(NAME, st.dictionaries(NAME, st.sampled_from(["a:b", "a.b:c.d", "a"]), min_size=1)))
def test_what_is_written_is_read_back(groups: EntryPoints) -> None:
    assert parsed(render_entry_points(groups)) == (groups, [])
