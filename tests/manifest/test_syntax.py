from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from manifest.manifests import refused
from ropewalk.errors import UsageError
from ropewalk.manifest.load import SMALLEST, load_manifest, parse_manifest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("a", "line 1, column 2: there is no `=` after a key", ""),
        ("\n\na b", "line 3, column 3: there is no `=` after a key", ""),
        ("a =", "line 1, column 4: there is no value that TOML knows", "text goes in quotes, arrays in brackets"),
        ("a = b", "line 1, column 5: there is no value that TOML knows", "text goes in quotes, arrays in brackets"),
        ("a = 1\na = 2\n", "line 2, column 6: a key stands twice", "a key has one value: remove one of them"),
        ("x = {a = 1, a = 2}", "line 1, column 18: a key stands twice", "a key has one value: remove one of them"),
        (
            "[a]\n[a]\n",
            "line 2, column 3: a table is declared that is there already",
            "put its keys together below one header",
        ),
        (
            "[a.b]\n[a]\nb.c = 1",
            "line 3, column 8: a table is declared that is there already",
            "put its keys together below one header",
        ),
        (
            "a = {}\na.b = 1",
            "line 2, column 8: a table is added to that was written in braces or brackets",
            "write it in one place",
        ),
        ('a = "\0"', "line 1, column 6: there is a NUL byte", "a manifest is text"),
        (
            'a = "\x07"',
            "line 1, column 6: there is a control character",
            "write it as an escape, like `\\u0007`",
        ),
        (
            "a = '\n'",
            "line 1, column 6: there is a line break or control character where none may be",
            "close the quotes",
        ),
        (
            'a = "\\q"',
            "line 1, column 8: there is a backslash that begins no escape",
            "double it, or use single quotes",
        ),
        ("a = 1 b = 2", "line 1, column 7: there is more on the line than one key and value", ""),
        ("a. = 1", "line 1, column 4: there is no name where a key has to be", "quote it, or name it"),
        (
            "é = 1",
            "line 1, column 1: there is neither a key nor a table's header",
            "quote a key that is not letters and digits",
        ),
        ("a = [1", "line 1, column 7: an array is not closed", "close it with `]`"),
        ("a = {b = 1", "line 1, column 11: an inline table is not closed", "close it with `}`"),
        ('a = "b', "line 1, column 7: a string is not closed", "close the quotes"),
        ("a = '''b", "line 1, column 9: a string is not closed", "close the quotes"),
        ("[a", "line 1, column 3: a table's header is not closed", "close it with `]`"),
        ("\ufeffa = 1", "line 1, column 1: there is a byte order mark", "save the file as UTF-8 without one"),
        ("a = '\ud800'", "line 1, column 6: there is half a character", "save the file as UTF-8"),
        ("a = " + "[" * 100_000, "arrays or inline tables are nested too deep", "a manifest nests a few levels"),
        ("a = " + "{a=" * 100_000, "arrays or inline tables are nested too deep", "a manifest nests a few levels"),
        ("a." * 100_000 + "a = 1", "line 1: a key has more than 64 parts", "a manifest nests a few levels"),
        ("\n[" + '"a" . ' * 64 + "a]", "line 2: a key has more than 64 parts", "a manifest nests a few levels"),
        ("a = 2020-02-30", "line 1, column 5: invalid date or datetime", ""),
        ("a = " + "1" * 10_000, "a number is too long", "text goes in quotes"),
    ],
)
def test_what_is_not_toml(text: str, message: str, hint: str) -> None:
    error = refused(text)
    assert error.message == "the manifest `m.toml` is not valid TOML"
    (finding,) = error.findings
    assert (finding.rule, finding.subject, finding.member) == ("manifest/toml", "m.toml", "")
    assert (finding.message, finding.hint) == (message, hint)


@pytest.mark.parametrize("text", ["", "\n", "# nothing yet\n", " \t\r\n"])
def test_an_empty_manifest_learns_what_a_smallest_one_is(text: str) -> None:
    error = refused(text)
    assert error.message == "the manifest `m.toml` is empty"
    assert error.hint == 'a smallest manifest is `bundle = { name = "my-bundle", components = ["my-core"] }`'
    assert parse_manifest(SMALLEST, "m.toml").bundle is not None


def test_dots_in_text_are_no_deep_key() -> None:
    text = f'{SMALLEST}\nenvironments.a.requires = [{", ".join(f""""p{n}>=1.2.3" """ for n in range(100))}]'
    assert len(parse_manifest(text, "m.toml").environments["a"].requires) == 100


def unreadable(path: Path) -> UsageError:
    with pytest.raises(UsageError) as caught:
        load_manifest(path)
    return caught.value


def test_a_file_is_named_in_its_faults(tmp_path: Path) -> None:
    path = tmp_path / "ropewalk.toml"
    path.write_text("a = 1", encoding="utf-8")
    error = unreadable(path)
    assert error.message == f"the manifest `{path}` has 1 fault"
    assert [finding.subject for finding in error.findings] == [str(path)]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    error = unreadable(tmp_path / "x.toml")
    assert error.message == f"cannot read `{tmp_path / 'x.toml'}`: no such file or directory"
    assert error.hint == "name the manifest's file with `--manifest`"


def test_a_folder(tmp_path: Path) -> None:
    error = unreadable(tmp_path)
    assert error.message == f"cannot read `{tmp_path}`: it is a folder"
    assert error.hint == f"name the file in it: `{tmp_path / 'ropewalk.toml'}`"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="the superuser may read every file")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.touch(mode=0o000)
    assert unreadable(path).message == f"cannot read `{path}`: permission denied"


def test_a_path_with_a_nul(tmp_path: Path) -> None:
    assert unreadable(tmp_path / "a\0b").message == "cannot read the manifest: its path holds a NUL character"


def test_a_large_file_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    with path.open("wb") as file:
        file.truncate(100_000_000)  # sparse
    assert unreadable(path).message == f"`{path}` is no manifest: it has more than 524288 bytes"


def test_a_long_text() -> None:
    assert refused("#" * 600_000).message == "`m.toml` is no manifest: it has more than 524288 characters"


def test_bytes_that_are_not_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_bytes(b'[project]\nname = "caf\xe9"\n')
    error = unreadable(path)
    assert error.message == f"the manifest `{path}` is not valid TOML"
    (finding,) = error.findings
    assert finding.message == "line 2: the bytes are not UTF-8"
    assert finding.hint == "save the file as UTF-8"


def test_a_byte_order_mark_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(SMALLEST, encoding="utf-8-sig")
    (finding,) = unreadable(path).findings
    assert finding.message == "line 1, column 1: there is a byte order mark"
