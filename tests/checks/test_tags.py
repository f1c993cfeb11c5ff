from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checks.checking import hints, said
from checks.elves import AARCH64, CUDA, GLOBAL, RELOCATABLE, SHARED, WEAK, elf_header, make_elf

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    MakeWheel = Callable[..., Path]

ABI3 = "cp311-abi3-manylinux_2_28_x86_64"
CP312 = "cp312-cp312-manylinux_2_28_x86_64"


def needing(version: str, *users: str, library: str = "libc.so.6") -> bytes:
    return make_elf(needed=[library], versions={library: {version: users}})


NATIVE = needing("GLIBC_2.28")


def of(make_wheel: MakeWheel, tag: str, files: Mapping[str, bytes], **options: object) -> list[str]:
    return said(make_wheel(tag=tag, files=files, **options), "tags")


def test_good_native_wheels(make_wheel: MakeWheel) -> None:
    assert of(make_wheel, ABI3, {"demo/_x.abi3.so": NATIVE, "demo/bin/tool": NATIVE}) == []
    assert of(make_wheel, CP312, {"demo/_x.cpython-312-x86_64-linux-gnu.so": NATIVE}) == []
    assert of(make_wheel, "cp313-cp313t-linux_x86_64", {"demo/_x.cpython-313t-x86_64-linux-gnu.so": NATIVE}) == []
    assert of(make_wheel, "py3-none-manylinux_2_28_x86_64", {"demo/tool": NATIVE}) == []


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"demo/_x.so": NATIVE}, "`demo/_x.so` holds native code (ELF), yet the platform tag is `any`"),
        (
            {"demo/a.so": NATIVE, "demo/b.so": NATIVE},
            "`demo/a.so` and 1 more hold native code (ELF), yet the platform tag is `any`",
        ),
        (
            {"demo/_x.so": b"\xcf\xfa\xed\xfe" + bytes(60)},
            "`demo/_x.so` holds native code (Mach-O), yet the platform tag is `any`",
        ),
        (
            {"demo/_x.cp312-win_amd64.pyd": b"MZ" + bytes(60)},
            "`demo/_x.cp312-win_amd64.pyd` holds native code (PE), yet the platform tag is `any`",
        ),
    ],
)
def test_native_code_for_any_platform(files: dict[str, bytes], message: str, make_wheel: MakeWheel) -> None:
    assert of(make_wheel, "py3-none-any", files) == [f"error: {message} [tags/native-in-any]"]


def test_code_that_the_system_does_not_run_is_data(make_wheel: MakeWheel) -> None:
    files = {
        "demo/kernel.cubin": elf_header(CUDA),
        "demo/probe.o": elf_header(kind=RELOCATABLE),
        "demo/launcher.exe": b"MZ" + bytes(100),
        "demo/Demo.class": b"\xca\xfe\xba\xbe" + bytes(100),
        "demo/short": b"\x7fE",
        "demo/empty": b"",
    }
    assert of(make_wheel, "py3-none-any", files) == []


def test_native_code_in_a_pure_library(make_wheel: MakeWheel) -> None:
    assert of(make_wheel, ABI3, {"demo/_x.abi3.so": NATIVE}, root_is_purelib=True) == [
        (
            "warning: demo-1.0.dist-info/WHEEL: `demo/_x.abi3.so` holds native code (ELF), yet WHEEL says"
            " `Root-Is-Purelib: true` [tags/native-in-purelib]"
        )
    ]


def test_b45_a_module_for_one_python_in_an_abi3_wheel(make_wheel: MakeWheel) -> None:
    files = {"demo/_x.cpython-311-x86_64-linux-gnu.so": NATIVE, "demo/_y.cpython-311-x86_64-linux-gnu.so": NATIVE}
    assert of(make_wheel, ABI3, files) == [
        (
            "error: demo/_x.cpython-311-x86_64-linux-gnu.so: its name says `cp311`, the tags say `abi3`;"
            " 2 modules in all [tags/suffix]"
        )
    ]
    assert hints(make_wheel(tag=ABI3, files=files)) == ["build it for the limited API, or tag the wheel for one Python"]


def test_b45_a_module_for_another_python(make_wheel: MakeWheel) -> None:
    assert of(make_wheel, CP312, {"demo/_x.cpython-311-x86_64-linux-gnu.so": NATIVE}) == [
        ("error: demo/_x.cpython-311-x86_64-linux-gnu.so: its name says `cp311`, the tags say `cp312` [tags/suffix]")
    ]


def test_b45_an_abi3_module_in_a_wheel_for_one_python(make_wheel: MakeWheel) -> None:
    assert of(make_wheel, CP312, {"demo/_x.abi3.so": NATIVE}) == [
        (
            "note: `demo/_x.abi3.so` can be loaded by later Pythons, yet the tags hide it from these (`cp312`)"
            " [tags/hidden-abi3]"
        )
    ]


def test_b45_an_abi3_module_beside_one_for_one_python(make_wheel: MakeWheel) -> None:
    files = {"demo/_x.abi3.so": NATIVE, "demo/_y.cpython-312-x86_64-linux-gnu.so": NATIVE}
    assert of(make_wheel, CP312, files) == []


def test_a_damaged_elf_file(make_wheel: MakeWheel) -> None:
    assert of(make_wheel, ABI3, {"demo/_x.abi3.so": NATIVE[:-40]}) == [
        "warning: demo/_x.abi3.so: begins like an ELF file, but no loader could read it [tags/damaged-elf]"
    ]


def test_code_for_another_machine(make_wheel: MakeWheel) -> None:
    files = {"demo/_x.abi3.so": NATIVE, "demo/_y.abi3.so": make_elf(machine=AARCH64)}
    assert of(make_wheel, ABI3, files) == [
        "error: demo/_y.abi3.so: is for `aarch64`, the tag for `x86_64` [tags/machine]"
    ]


def test_code_for_another_system(make_wheel: MakeWheel) -> None:
    assert of(make_wheel, "cp311-abi3-macosx_14_0_arm64", {"demo/_x.abi3.so": NATIVE}) == [
        "error: `demo/_x.abi3.so` is for Linux, the tag for `macosx` [tags/system]"
    ]


def test_a_tag_that_allows_another_arm(make_wheel: MakeWheel) -> None:
    files = {"demo/tool": elf_header(40, SHARED, bits=32)}
    assert of(make_wheel, "py3-none-linux_armv6l", files) == []


def test_b47_a_symbol_that_is_newer_than_the_tag(make_wheel: MakeWheel) -> None:
    files = {"demo/_x.abi3.so": needing("GLIBC_2.34", "dlsym", "pthread_create")}
    assert of(make_wheel, ABI3, files) == [
        (
            "error: demo/_x.abi3.so: needs GLIBC_2.34 (`dlsym`, `pthread_create`), which systems with glibc 2.28 lack;"
            " the tag promises `manylinux_2_28_x86_64` [tags/glibc-floor]"
        )
    ]
    assert hints(make_wheel(tag=ABI3, files=files)) == [
        "tag the wheel `manylinux_2_34_x86_64`, or build it on an older system"
    ]


def test_b47_a_version_that_the_machines_profile_lets_pass(make_wheel: MakeWheel) -> None:
    elf = make_elf(machine=AARCH64, versions={"libc.so.6": {"GLIBC_2.18": ["__cxa_thread_atexit_impl"]}})
    assert of(make_wheel, "cp311-abi3-manylinux_2_17_aarch64", {"demo/_x.abi3.so": elf}) == [
        (
            "error: demo/_x.abi3.so: needs GLIBC_2.18 (`__cxa_thread_atexit_impl`), which systems with glibc 2.17 lack;"
            " the tag promises `manylinux_2_17_aarch64` [tags/glibc-floor]"
        )
    ]


def test_b47_every_tag_of_a_set_has_to_hold(make_wheel: MakeWheel) -> None:
    tag = "cp311-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64.manylinux_2_28_x86_64"
    (line,) = of(make_wheel, tag, {"demo/_x.abi3.so": NATIVE})
    assert line == (
        "error: demo/_x.abi3.so: needs GLIBC_2.28, which systems with glibc 2.17 lack; the tag promises"
        " `manylinux_2_17_x86_64` [tags/glibc-floor]"
    )


def test_b47_libstdcxx_that_is_newer_than_the_tag(make_wheel: MakeWheel) -> None:
    files = {"demo/_x.abi3.so": needing("GLIBCXX_3.4.29", library="libstdc++.so.6")}
    (line,) = of(make_wheel, ABI3, files)
    assert line.startswith("error: demo/_x.abi3.so: needs GLIBCXX_3.4.29, which systems with glibc 2.28 lack;")
    assert hints(make_wheel(tag=ABI3, files=files)) == [
        "tag the wheel `manylinux_2_34_x86_64`, or build it on an older system"
    ]


def test_a_libstdcxx_that_the_wheel_brings_along(make_wheel: MakeWheel) -> None:
    files = {"demo/_x.abi3.so": needing("GLIBCXX_3.4.33", library="libstdc++-1a2b.so.6")}
    assert of(make_wheel, ABI3, files) == []


@pytest.mark.parametrize("library", ["libc.so.6", "libm.so.6"])
def test_b47_glibc_in_a_musllinux_wheel(library: str, make_wheel: MakeWheel) -> None:
    files = {"demo/_x.abi3.so": needing("GLIBC_2.17", library=library)}
    reason = "`libc.so.6`" if library == "libc.so.6" else "`GLIBC_2.17`"
    assert of(make_wheel, "cp311-abi3-musllinux_1_2_x86_64", files) == [
        (
            f"error: demo/_x.abi3.so: needs {reason}, which only glibc has; the tag promises musl"
            " [tags/glibc-in-musllinux]"
        )
    ]


def test_b47_a_glibc_symbol_without_version_in_a_musllinux_wheel(make_wheel: MakeWheel) -> None:
    strong = make_elf(unversioned={"__cxa_thread_atexit_impl": GLOBAL, "malloc": GLOBAL})
    weak = make_elf(unversioned={"__cxa_thread_atexit_impl": WEAK})
    assert of(make_wheel, "cp311-abi3-musllinux_1_2_x86_64", {"demo/a.abi3.so": strong, "demo/b.abi3.so": weak}) == [
        (
            "error: demo/a.abi3.so: needs `__cxa_thread_atexit_impl`, which only glibc has; the tag promises musl"
            " [tags/glibc-in-musllinux]"
        )
    ]


def test_b47_musl_in_a_manylinux_wheel(make_wheel: MakeWheel) -> None:
    assert of(make_wheel, ABI3, {"demo/_x.abi3.so": make_elf(needed=["libc.musl-x86_64.so.1"])}) == [
        (
            "error: demo/_x.abi3.so: needs `libc.musl-x86_64.so.1`, which is musl; the tag promises glibc"
            " [tags/musl-in-manylinux]"
        )
    ]


@pytest.mark.parametrize(
    ("tag", "version", "better"),
    [
        ("manylinux_2_34_x86_64", "GLIBC_2.30", "manylinux_2_31_x86_64"),
        ("manylinux_2_34_x86_64", "GLIBC_2.2.5", "manylinux_2_5_x86_64"),
        ("manylinux_2_39_x86_64", "GLIBC_2.36", "manylinux_2_36_x86_64"),
    ],
)
def test_a_tag_that_asks_for_more_than_is_needed(tag: str, version: str, better: str, make_wheel: MakeWheel) -> None:
    path = make_wheel(tag=f"cp311-abi3-{tag}", files={"demo/_x.abi3.so": needing(version)})
    needed = version.removeprefix("GLIBC_").removesuffix(".5")
    asked = tag.removesuffix("_x86_64").removeprefix("manylinux_").replace("_", ".")
    assert said(path) == [
        f"note: the native code needs no glibc above {needed}, the tag asks for {asked} [tags/glibc-slack]"
    ]
    assert hints(path) == [f"`{better}` would do, and lets it install on more systems"]


@pytest.mark.parametrize(("tag", "version"), [("manylinux_2_31", "GLIBC_2.30"), ("manylinux2014", "GLIBC_2.16")])
def test_a_tag_that_is_the_nearest(tag: str, version: str, make_wheel: MakeWheel) -> None:
    assert of(make_wheel, f"cp311-abi3-{tag}_x86_64", {"demo/_x.abi3.so": needing(version)}) == []


def test_a_tag_for_pythons_that_are_not_allowed(make_wheel: MakeWheel) -> None:
    tag = "cp310-cp310-linux_x86_64"
    assert of(make_wheel, tag, {"demo/a.py": b""}, requires_python=">=3.11") == [
        (
            "error: `Requires-Python: >=3.11` allows no Python that the tag `cp310-cp310-linux_x86_64` is for"
            " [tags/requires-python]"
        )
    ]
    assert of(make_wheel, "cp310-abi3-linux_x86_64", {"demo/a.py": b""}, requires_python=">=3.11") == []


def test_the_rules_of_the_reader(make_wheel: MakeWheel) -> None:
    path = make_wheel(wheel_text="Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py2-none-any\n")
    assert said(path, "tags") == [
        ("error: demo-1.0.dist-info/WHEEL: WHEEL lists other tags than the file name: py2-none-any [tags/differ]")
    ]


def test_a_large_file_is_set_aside_and_read(make_wheel: MakeWheel) -> None:
    elf = make_elf(versions={"libc.so.6": {"GLIBC_2.34": ["dlsym"]}}, payload=bytes(3_000_000))
    (line,) = of(make_wheel, ABI3, {"demo/_x.abi3.so": elf})
    assert "needs GLIBC_2.34 (`dlsym`)" in line
