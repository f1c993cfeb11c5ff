from __future__ import annotations

import io
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.elves import (
    AARCH64,
    ARM,
    CUDA,
    GLOBAL,
    I386,
    LOONGARCH,
    PPC64,
    PROGRAM,
    RELOCATABLE,
    RISCV,
    S390,
    SHARED,
    WEAK,
    X86_64,
    elf_header,
    make_elf,
)
from ropewalk.wheels.elf import Elf, Need, glibc_version, inspect_elf

if TYPE_CHECKING:
    from pathlib import Path

NEEDS = {
    "libc.so.6": {"GLIBC_2.2.5": ["free", "malloc"], "GLIBC_2.34": ["dlsym", "dlopen", "pthread_create", "dlclose"]},
    "libm.so.6": {"GLIBC_2.29": ["pow"]},
}


def read(data: bytes) -> Elf | None:
    return inspect_elf(io.BytesIO(data))


@pytest.mark.parametrize("gnu_hash", [False, True])
def test_what_a_library_needs(gnu_hash: bool) -> None:
    elf = read(make_elf(needed=["libm.so.6", "libc.so.6"], versions=NEEDS, gnu_hash=gnu_hash))
    assert elf == Elf(
        machine="x86_64",
        is_loaded=True,
        needed=("libm.so.6", "libc.so.6"),
        needs=(
            Need("libc.so.6", "GLIBC_2.2.5"),
            Need("libc.so.6", "GLIBC_2.34"),
            Need("libm.so.6", "GLIBC_2.29"),
        ),
        users={
            "GLIBC_2.2.5": ("free", "malloc"),
            "GLIBC_2.34": ("dlopen", "dlsym", "pthread_create"),
            "GLIBC_2.29": ("pow",),
        },
    )
    assert elf.glibc_floor == (2, 34)


def test_a_library_that_needs_nothing() -> None:
    elf = read(make_elf())
    assert elf == Elf(machine="x86_64", is_loaded=True)
    assert elf.glibc_floor is None


def test_a_file_without_a_dynamic_table_is_a_static_program() -> None:
    assert read(elf_header(kind=PROGRAM)) == Elf(machine="x86_64", is_loaded=True)


def test_an_object_file_is_not_loaded() -> None:
    assert read(elf_header(kind=RELOCATABLE)) == Elf(machine="x86_64", is_loaded=False)


@pytest.mark.parametrize(
    ("number", "bits", "order", "machine"),
    [
        (X86_64, 64, "<", "x86_64"),
        (X86_64, 32, "<", ""),
        (I386, 32, "<", "i686"),
        (ARM, 32, "<", "armv7l"),
        (ARM, 32, ">", ""),
        (AARCH64, 64, "<", "aarch64"),
        (PPC64, 64, "<", "ppc64le"),
        (PPC64, 64, ">", "ppc64"),
        (S390, 64, ">", "s390x"),
        (RISCV, 64, "<", "riscv64"),
        (LOONGARCH, 64, "<", "loongarch64"),
        (CUDA, 64, "<", ""),
        (65000, 64, "<", ""),
    ],
)
def test_machines(number: int, bits: int, order: str, machine: str) -> None:
    elf = read(elf_header(number, SHARED, bits=bits, order=order))
    assert elf is not None
    assert elf.machine == machine


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("GLIBC_2.17", (2, 17)),
        ("GLIBC_2.2.5", (2, 2)),
        ("GLIBC_ABI_DT_RELR", (2, 36)),
        ("GLIBC_PRIVATE", None),
        ("GLIBCXX_3.4.29", None),
        ("GLIBC_2.99999999", None),
    ],
)
def test_versions_of_glibc(name: str, version: tuple[int, int] | None) -> None:
    assert glibc_version(name) == version


def test_versions_are_compared_as_numbers() -> None:
    elf = read(make_elf(versions={"libc.so.6": {"GLIBC_2.9": [], "GLIBC_2.17": [], "GLIBC_PRIVATE": []}}))
    assert elf is not None
    assert elf.glibc_floor == (2, 17)


def test_symbols_that_only_glibc_has() -> None:
    symbols = {"__cxa_thread_atexit_impl": GLOBAL, "__memcpy_chk": GLOBAL, "malloc": GLOBAL, "backtrace": WEAK}
    elf = read(make_elf(unversioned=symbols))
    assert elf is not None
    assert elf.glibc_only == ("__cxa_thread_atexit_impl", "__memcpy_chk")


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"\x7fELF" + bytes(60), b"MZ" + bytes(200), b"text\n" * 100])
def test_what_is_no_elf_file(data: bytes) -> None:
    assert read(data) is None


def test_every_truncation_is_damaged_or_harmless() -> None:
    whole = make_elf(needed=["libc.so.6"], versions=NEEDS)
    answers = [read(whole[:length]) for length in range(len(whole))]
    # The last 16 bytes are the end mark of the dynamic table; all before it is needed.
    assert answers[: len(whole) - 16] == [None] * (len(whole) - 16)


def test_tables_that_never_end_are_damaged() -> None:
    data = bytearray(make_elf(versions={"libc.so.6": {"GLIBC_2.17": []}}))
    row = data.index((1).to_bytes(2, "little") + (1).to_bytes(2, "little"), 64 + 112)
    # One byte further at a time, for as long as there are bytes.
    data[row + 12 : row + 16] = (1).to_bytes(4, "little")
    assert read(bytes(data) + bytes(100)) is None


@given(
    st.lists(st.tuples(st.integers(0, 1 << 12), st.integers(0, 255)), max_size=8),
    st.integers(0, 1 << 12),
)
def test_hostile_files_never_raise(edits: list[tuple[int, int]], cut: int) -> None:
    data = bytearray(make_elf(needed=["libc.so.6"], versions=NEEDS, unversioned={"malloc": GLOBAL}))
    for place, value in edits:
        data[place % len(data)] = value
    elf = read(bytes(data[: len(data) - cut % 64]))
    assert elf is None or isinstance(elf.machine, str)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_a_library_of_the_systems_compiler(tmp_path: Path) -> None:
    source, library = tmp_path / "a.c", tmp_path / "a.so"
    source.write_text("#include <stdlib.h>\nvoid *get(void) { return malloc(1); }\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)  # noqa: S607 - found on the path
    with library.open("rb") as file:
        elf = inspect_elf(file)
    assert elf is not None
    assert elf.is_loaded
    assert elf.needed == ("libc.so.6",)
    assert "malloc" in {name for names in elf.users.values() for name in names}
