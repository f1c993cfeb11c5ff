"""A platform that is asked for has to be true."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bundling.laying import planned, recipe, refused

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    MakeWheel = Callable[..., Path]


def test_a_platform_that_includes_the_components_is_taken(make_wheel: MakeWheel) -> None:
    wheel = make_wheel("head", tag="cp311-abi3-manylinux_2_17_x86_64")
    plan = planned([wheel], recipe(platform="manylinux_2_28_x86_64"))
    assert plan.file_name == "head-1.0-cp311-abi3-manylinux_2_28_x86_64.whl"


def test_another_machine_is_refused(make_wheel: MakeWheel) -> None:
    wheel = make_wheel("head", tag="cp311-abi3-manylinux_2_17_x86_64")
    assert refused([wheel], recipe(platform="manylinux_2_28_aarch64")) == {
        (
            "bundle/platform",
            "manylinux_2_28_aarch64",
        ): "`head` is built for manylinux_2_17_x86_64, which does not make it run on `manylinux_2_28_aarch64`"
    }


def test_a_pure_bundle_has_no_platform(make_wheel: MakeWheel) -> None:
    assert refused([make_wheel("head")], recipe(platform="manylinux_2_28_x86_64")) == {
        (
            "bundle/platform",
            "manylinux_2_28_x86_64",
        ): "no component is native, so the bundle runs on more than `manylinux_2_28_x86_64`"
    }


def test_less_glibc_is_fine_where_no_binary_needs_more(make_wheel: MakeWheel) -> None:
    wheel = make_wheel("head", tag="cp311-abi3-manylinux_2_34_x86_64", files={"head/data.bin": b"\x7fELF damaged"})
    plan = planned([wheel], recipe(platform="manylinux_2_31_x86_64"))
    assert plan.file_name == "head-1.0-cp311-abi3-manylinux_2_31_x86_64.whl"
