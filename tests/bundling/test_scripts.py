"""Scripts and entry points of several components: merged where they are the same, else refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bundling.laying import planned, refused

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    MakeWheel = Callable[..., Path]


def console(name: str, reference: str) -> dict[str, Any]:
    return {"entry_points": {"console_scripts": {name: reference}}}


def gui(name: str, reference: str) -> dict[str, Any]:
    return {"entry_points": {"gui_scripts": {name: reference}}}


def file(path: str) -> dict[str, Any]:
    return {"data_files": {path: "#!python\n"}}


def entry_points(wheels: list[Path]) -> str:
    (text,) = [
        item.content.decode()
        for item in planned(wheels).items
        if item.name == "head-1.0.dist-info/entry_points.txt" and hasattr(item, "content")
    ]
    return text


def test_b31_one_name_and_one_target_are_one_script(make_wheel: MakeWheel) -> None:
    wheels = [
        make_wheel("head", requires=["b"], **console("tool", "a:main")),
        make_wheel("b", entry_points={"console_scripts": {"tool": "a : main", "other": "b:main"}, "x": {"y": "z w"}}),
    ]
    assert entry_points(wheels) == "[console_scripts]\nother = b:main\ntool = a:main\n\n[x]\ny = z w\n"


@pytest.mark.parametrize(
    ("first", "second", "rule", "message"),
    [
        (
            console("tool", "a:main"),
            console("tool", "b:main"),
            "bundle/entry-point",
            "`tool` in [console_scripts] is `b:main` in `b` and `a:main` in `head`",
        ),
        (
            console("Tool", "a:main"),
            console("tool", "a:main"),
            "bundle/script-collision",
            "`tool` in [console_scripts] of `b` and `Tool` in [console_scripts] of `head` become one script",
        ),
        (
            console("tool", "a:main"),
            gui("tool", "a:main"),
            "bundle/script-collision",
            "`tool` in [gui_scripts] of `b` and `tool` in [console_scripts] of `head` become one script",
        ),
        (
            console("tool", "a:main"),
            file("scripts/tool"),
            "bundle/script-collision",
            "`tool` in [console_scripts] of `head` and the file `scripts/tool` of `b` become one script",
        ),
        (
            console("tool", "a:main"),
            file("data/bin/tool.exe"),
            "bundle/script-collision",
            "`tool` in [console_scripts] of `head` and the file `data/bin/tool.exe` of `b` become one script",
        ),
    ],
)
def test_b31_anything_else_is_an_error(
    make_wheel: MakeWheel, first: dict[str, Any], second: dict[str, Any], rule: str, message: str
) -> None:
    wheels = [make_wheel("head", requires=["b"], **first), make_wheel("b", **second)]
    assert refused(wheels) == {(rule, "tool"): message}


def test_b31_a_script_file_and_an_entry_point_in_one_wheel(make_wheel: MakeWheel) -> None:
    wheel = make_wheel("head", **console("tool", "pkg:main"), **file("scripts/tool"))
    assert refused([wheel]) == {
        (
            "bundle/script-collision",
            "tool",
        ): "`tool` in [console_scripts] of `head` and the file `scripts/tool` of `head` become one script"
    }


def test_other_groups_conflict_by_name_only(make_wheel: MakeWheel) -> None:
    wheels = [
        make_wheel("head", requires=["b"], entry_points={"my.plugins": {"csv": "a:One"}}),
        make_wheel("b", entry_points={"my.plugins": {"csv": "b:Two", "CSV": "b:Three"}}),
    ]
    assert refused(wheels) == {
        ("bundle/entry-point", "csv"): "`csv` in [my.plugins] is `b:Two` in `b` and `a:One` in `head`"
    }
