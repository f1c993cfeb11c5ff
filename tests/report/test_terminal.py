from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.checks.run import Report
from ropewalk.errors import IntegrityError, ToolError, UsageError
from ropewalk.finding import Finding, Level
from ropewalk.report.terminal import one_line, render_error, render_findings, render_report, visible


def finding(rule: str = "room/rule", level: Level = Level.ERROR, member: str = "", hint: str = "") -> Finding:
    return Finding(rule=rule, message=f"is {level}", subject="a.whl", member=member, level=level, hint=hint)


def report(*findings: Finding) -> Report:
    return Report(file="a.whl", sha256="0" * 64, name="a", version="1.0", checks=("archive", "tags"), findings=findings)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain `text` with ümlauts, 漢字 and …", "plain `text` with ümlauts, 漢字 and …"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("a\rb\tc\x07\x7f\x9b", "a\\rb\\tc\\x07\\x7f\\x9b"),
        ("gnp.\u202etxt", "gnp.\\u202etxt"),
        ("\u2066a\u2069\u200f\u061c", "\\u2066a\\u2069\\u200f\\u061c"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("lone \udc80 half", "lone \\udc80 half"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("a\u2028b\u2029c\x85d", "a\\u2028b\\u2029c\\x85d"),
        ("no-break\xa0space", "no-break\\xa0space"),
    ],
)
def test_what_a_terminal_would_obey_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert one_line(text) == shown


def test_line_ends() -> None:
    assert visible("a\nb\n") == "a\nb\n"
    assert one_line("a\nb\n") == "a\\nb\\n"


@given(st.text(st.characters(exclude_categories=()), max_size=50))
def test_all_that_is_shown_can_be_shown(text: str) -> None:
    assert one_line(text).isprintable()
    assert one_line(one_line(text)) == one_line(text)
    one_line(text).encode()


def test_a_good_report() -> None:
    assert render_report(report()) == "a.whl (a 1.0)\n  passed (checks: archive, tags)\n"


def test_a_report_with_findings() -> None:
    found = (
        finding("tags/slack", Level.NOTE, hint="less would do"),
        finding("contents/path", Level.WARNING, "a/b.so", "map them"),
        finding("contents/path", Level.WARNING, "a/a.so", "map them"),
        finding("record/hash", member="a/c.py", hint="build again"),
        finding("archive/checksum", member="a/c.py"),
    )
    assert render_report(report(*found)) == (
        "a.whl (a 1.0)\n"
        "  error: a/c.py: is error [archive/checksum]\n"
        "  error: a/c.py: is error [record/hash]\n"
        "    hint: build again\n"
        "  warning: a/a.so: is warning [contents/path]\n"
        "  warning: a/b.so: is warning [contents/path]\n"
        "    hint: map them\n"
        "  note: is note [tags/slack]\n"
        "    hint: less would do\n"
        "  failed: 2 errors, 2 warnings, 1 note (checks: archive, tags)\n"
    )


def test_a_report_on_what_is_no_wheel() -> None:
    broken = Report(file="a.whl", sha256="", findings=(finding("archive/not-a-zip"),))
    assert render_report(broken) == (
        "a.whl (not a wheel that can be read)\n"
        "  error: is error [archive/not-a-zip]\n"
        "  failed: 1 error (checks: none could be run)\n"
    )


def test_many_of_a_kind_are_counted_but_errors_all_shown() -> None:
    warnings = [finding("a/a", Level.WARNING, f"m{number}", "do it") for number in range(10, 30)]
    errors = [finding("b/b", Level.ERROR, f"m{number}") for number in range(20)]
    text = render_report(report(*warnings, *errors))
    assert text.count("error: ") == 20
    assert "  warning: m14: is warning [a/a]\n    hint: do it\n  warning: and 15 more like these [a/a]\n" in text
    assert "m15: is warning" not in text
    assert text.endswith("failed: 20 errors, 20 warnings (checks: archive, tags)\n")


def test_no_line_is_saved_by_counting_one() -> None:
    text = render_report(report(*(finding("a/a", Level.NOTE, f"m{number}") for number in range(6))))
    assert text.count("is note") == 6
    assert "more like these" not in text


def test_findings_are_grouped_by_subject() -> None:
    found = [
        Finding(rule="r/r", message="two", subject="b.whl", level=Level.NOTE),
        Finding(rule="r/r", message="one", subject="a.whl", member="m", hint="go"),
        Finding(rule="r/r", message="none"),
    ]
    assert render_findings(found) == (
        "  error: none [r/r]\na.whl:\n  error: m: one [r/r]\n    hint: go\nb.whl:\n  note: two [r/r]\n"
    )
    assert render_findings([]) == ""


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (UsageError("cannot read `a`"), "error: cannot read `a`\n"),
        (ToolError("git failed", hint="look"), "error: git failed\nhint: look\n"),
        (
            UsageError("two faults", hint="mend them", findings=[finding(hint="so"), Finding(rule="s/s", message="x")]),
            (
                "error: two faults\n  error: x [s/s]\na.whl:\n  error: is error [room/rule]\n    hint: so\n"
                "hint: mend them\n"
            ),
        ),
        (
            IntegrityError("git failed:\nfatal: no\nhint: pay here\x1b[2J"),
            "error: git failed:\n  | fatal: no\n  | hint: pay here\\x1b[2J\n",
        ),
        (UsageError("a", hint="b\nerror: c"), "error: a\nhint: b\\nerror: c\n"),
    ],
)
def test_errors(error: UsageError, text: str) -> None:
    assert render_error(error) == text


def test_nothing_from_outside_reaches_the_terminal_as_it_is() -> None:
    bad = "\x1b]0;x\x07\n\u202e"
    found = Finding(rule="r/r", message=bad, subject=bad, member=bad, hint=bad)
    texts = [
        render_error(UsageError(bad, hint=bad, findings=[found])),
        render_report(Report(file=bad, sha256="", name=bad, version=bad, findings=(found,))),
        render_findings([found]),
    ]
    for text in texts:
        assert "\x1b" not in text
        assert all(line.isprintable() for line in text.split("\n"))
    assert len(texts[1].splitlines()) == 4


def test_colour_only_where_it_is_asked_for() -> None:
    plain = render_report(report(finding(hint="go")))
    coloured = render_report(report(finding(hint="go")), colour=True)
    assert "\x1b[1;31merror\x1b[0m: is error" in coloured
    assert "\x1b[1;36mhint\x1b[0m: go" in coloured
    assert "\x1b" not in plain
    for code in ("\x1b[1;31m", "\x1b[1;36m", "\x1b[1m", "\x1b[0m"):
        coloured = coloured.replace(code, "")
    assert coloured == plain
    assert render_error(UsageError("a"), colour=True) == "\x1b[1;31merror\x1b[0m: a\n"
