"""Archives that break exactly one rule each, byte by byte."""

from __future__ import annotations

import struct
from dataclasses import replace

from making import Local, RawEnd, RawMember, extra_field, raw_zip, with_descriptor

A = RawMember()
B = RawMember(name=b"demo/b.txt", content=b"other\n")

FULL = 0xFFFFFFFF


def zip64(*values: int) -> bytes:
    """Return a zip64 extra field."""
    return extra_field(1, struct.pack(f"<{len(values)}Q", *values))


def wide(member: RawMember) -> RawMember:
    """Return a member whose sizes are in zip64 extra fields."""
    crc, compressed_size, size = member.values
    extra = zip64(size, compressed_size)
    local = Local(extra=extra, size=FULL, compressed_size=FULL)
    return replace(member, crc=crc, size=FULL, compressed_size=FULL, extra=extra, local=local, data=member.stream)


def patched(data: bytes, at: int, value: bytes) -> bytes:
    """Return `data` with other bytes at an offset; a negative one counts from the end."""
    at %= len(data)
    return data[:at] + value + data[at + len(value) :]


def entry_at(data: bytes) -> int:
    """Return where the first entry of the central directory is."""
    return data.index(b"PK\x01\x02")


ONE = raw_zip([A])

# What is wrong with one member: (member, rule, message).
MEMBERS: list[tuple[RawMember, str, str]] = [
    (replace(A, flags=1), "archive/encrypted", "is encrypted"),
    (replace(A, flags=0x41), "archive/encrypted", "is encrypted"),
    (replace(A, flags=0x2000), "archive/encrypted", "is encrypted"),
    (replace(A, flags=0x20), "archive/flags", "has flags that no wheel needs (0x0020)"),
    *(
        (
            replace(A, method=method, data=b"x"),
            "archive/compression",
            f"is compressed with {name}; only stored and deflate count",
        )
        for method, name in {
            1: "shrink",
            6: "implode",
            9: "deflate64",
            12: "bzip2",
            14: "lzma",
            77: "method 77",
            93: "zstandard",
            95: "xz",
            99: "AES",
        }.items()
    ),
    (replace(A, mode=0o120777), "archive/symlink", "is a symbolic link; wheels hold regular files only"),
    *(
        (replace(A, mode=kind | 0o644), "archive/not-regular", "is not a regular file")
        for kind in (0o010000, 0o020000, 0o040000, 0o060000, 0o140000)
    ),
    (replace(A, method=0, size=3), "archive/stored-size", "is stored, yet its two sizes differ"),
    (replace(A, name=b"/etc/passwd"), "archive/absolute-path", "the path is absolute"),
    (replace(A, name=b"C:/x"), "archive/absolute-path", "the path is absolute"),
    (replace(A, name=b"a/../../x"), "archive/unsafe-path", "the path climbs with `..`"),
    (replace(A, name=b".."), "archive/unsafe-path", "the path climbs with `..`"),
    (replace(A, name=b"a//x"), "archive/unsafe-path", "the path has an empty or `.` segment"),
    (replace(A, name=b"a/./x"), "archive/unsafe-path", "the path has an empty or `.` segment"),
    (replace(A, name=b"a\\x"), "archive/unsafe-path", "the path holds a backslash"),
    (replace(A, name=b"a\x00x"), "archive/unsafe-path", "the path holds a control character"),
    (replace(A, name=b"a\nx"), "archive/unsafe-path", "the path holds a control character"),
    (replace(A, name=b""), "archive/unsafe-path", "the path is empty"),
    (replace(A, name=b"x" * 5000), "archive/unsafe-path", "the path is longer than 4096 characters"),
    (replace(A, name=b"\xff.txt"), "archive/name-encoding", "the name is not UTF-8"),
    (
        replace(A, name="ü.txt".encode()),
        "archive/name-encoding",
        "the name is not ASCII, and no flag says that it is UTF-8",
    ),
    (replace(A, disk=1), "archive/multi-disk", "is said to be on another disk"),
    *(
        (replace(A, local=local), "archive/headers-differ", f"local header and central directory differ in {what}")
        for local, what in [
            (Local(name=b"demo/z.txt"), "name"),
            (Local(flags=2), "flags"),
            (Local(method=0), "compression"),
            (Local(crc=1), "checksum"),
            (Local(compressed_size=1), "compressed size"),
            (Local(size=1), "size"),
            (Local(size=0), "size"),
            (Local(crc=1, size=9, method=0), "compression, checksum, size"),
        ]
    ),
    (
        replace(A, local=Local(signature=b"PK\x05\x06")),
        "archive/local-header",
        "the central directory points to something else",
    ),
    (
        replace(A, extra=extra_field(0x7075, b"\x01abcdother.txt")),
        "archive/two-names",
        "an extra field gives the member another name",
    ),
    (
        replace(A, local=Local(extra=extra_field(0x7075, b"\x01abcdother.txt"))),
        "archive/two-names",
        "an extra field gives the member another name",
    ),
    (replace(A, extra=b"\x01\x00\xff\xff"), "archive/extra-field", "the extra fields are malformed"),
    (replace(A, extra=b"\x01"), "archive/extra-field", "the extra fields are malformed"),
    (replace(A, extra=extra_field(9, b"a") * 2), "archive/extra-field", "the extra fields are malformed"),
    (replace(A, extra=zip64(7)), "archive/zip64", "its zip64 extra field holds values that nothing asks for"),
    (
        replace(wide(A), extra=zip64(8, len(A.stream), 0, 0)),
        "archive/zip64",
        "its zip64 extra field holds values that nothing asks for",
    ),
    (
        with_descriptor(A, values=(1, 2, 3)),
        "archive/data-descriptor",
        "the data descriptor is missing or disagrees",
    ),
    (replace(A, flags=8), "archive/data-descriptor", "the data descriptor is missing or disagrees"),
    (
        replace(with_descriptor(A), descriptor=b"PK\x07\x08" + b"x" * 40),
        "archive/data-descriptor",
        "the data descriptor is missing or disagrees",
    ),
    *(
        (
            RawMember(name=b"folder/", content=content, method=0, mode=mode),
            "archive/folder-with-data",
            "a folder's entry carries data or another type",
        )
        for content, mode in [(b"data", 0o040755), (b"", 0o100644), (b"", 0o120777)]
    ),
]

# What is wrong with the whole: (archive, rule, member, message).
WHOLES: list[tuple[bytes, str, str, str]] = [
    (raw_zip([A, A]), "archive/duplicate-member", "demo/a.txt", "stands more than once in the archive"),
    (
        raw_zip([A, replace(A, content=b"other bytes\n")]),
        "archive/duplicate-member",
        "demo/a.txt",
        "stands more than once in the archive",
    ),
    *(
        (
            raw_zip([replace(A, name=one.encode(), flags=0x800), replace(A, name=two.encode(), flags=0x800)]),
            "archive/colliding-names",
            two,
            f"is the same file as `{one}` on some systems",
        )
        for one, two in [
            ("demo/a.txt", "demo/A.txt"),
            ("demo/a.txt", "DEMO/a.txt"),
            ("demo/\u00fc", "demo/u\u0308"),
            ("demo/\u00dc", "demo/u\u0308"),
            ("stra\u00dfe", "STRASSE"),
        ]
    ),
    *(
        (raw_zip([replace(A, name=one), replace(A, name=two)]), "archive/file-and-folder", one.decode(), message)
        for one, two, message in [
            (b"demo/a.txt", b"demo/a.txt/x", "is a file and a folder at once"),
            (b"demo/a.txt", b"demo/a.txt/x/y/z", "is a file and a folder at once"),
            (b"demo/A", b"demo/a/x", "is a file and a folder at once"),
        ]
    ),
    (
        raw_zip([replace(A, name=b"demo"), RawMember(name=b"demo/", content=b"", method=0, mode=0o040755)]),
        "archive/file-and-folder",
        "demo",
        "is a file and a folder at once",
    ),
    (ONE + b"\0", "archive/trailing-data", "", "1 bytes stand after the end of the archive"),
    (
        raw_zip([A], RawEnd(comment=b"hi")),
        "archive/comment",
        "",
        "an archive comment of 2 bytes can hide data from other readers",
    ),
    (
        raw_zip([A], RawEnd(prefix=b"#!/bin/sh\n")),
        "archive/gap",
        "",
        "10 bytes that belong to nothing stand before the first member",
    ),
    (
        b"#!/bin/sh\n" + ONE,
        "archive/gap",
        "",
        "10 bytes before the archive or after its directory belong to nothing",
    ),
    (
        raw_zip([A, replace(B, gap=b"hidden")]),
        "archive/gap",
        "demo/a.txt",
        "its data are followed by bytes that belong to nothing",
    ),
    (
        raw_zip([A], RawEnd(gap=b"hidden")),
        "archive/gap",
        "demo/a.txt",
        "its data are followed by bytes that belong to nothing",
    ),
    (
        raw_zip([A], RawEnd(late_gap=b"hidden")),
        "archive/gap",
        "",
        "6 bytes before the archive or after its directory belong to nothing",
    ),
    (
        raw_zip([replace(A, method=0, size=40, compressed_size=40, local=Local(size=40, compressed_size=40)), B]),
        "archive/gap",
        "demo/a.txt",
        "its data overlap the next member",
    ),
    (raw_zip([A], RawEnd(disk=1)), "archive/multi-disk", "", "is one part of an archive split over several files"),
    (
        raw_zip([A], RawEnd(directory_disk=1)),
        "archive/multi-disk",
        "",
        "is one part of an archive split over several files",
    ),
    (raw_zip([A], RawEnd(here=0)), "archive/multi-disk", "", "is one part of an archive split over several files"),
    (
        raw_zip([A], RawEnd(zip64=True, disks=2)),
        "archive/multi-disk",
        "",
        "is one part of an archive split over several files",
    ),
    (
        raw_zip([A], RawEnd(zip64=True, disk=1)),
        "archive/multi-disk",
        "",
        "is one part of an archive split over several files",
    ),
    (
        raw_zip([A], RawEnd(entries=2, here=2)),
        "archive/directory",
        "",
        "the end record counts 2 members, the directory 1",
    ),
    (
        raw_zip([A], RawEnd(zip64=True, zip64_entries=7)),
        "archive/directory",
        "",
        "the end record counts 7 members, the directory 1",
    ),
    (
        patched(ONE, entry_at(ONE), b"PK\x01\x03"),
        "archive/directory",
        "",
        "the central directory holds something that is not an entry",
    ),
    (
        patched(ONE, entry_at(ONE) + 28, b"\xff\x00"),
        "archive/truncated",
        "",
        "the last entry of the central directory is cut off",
    ),
    (
        raw_zip([A], RawEnd(directory_size=5000)),
        "archive/truncated",
        "",
        "the central directory reaches past its end record",
    ),
    (
        patched(ONE, entry_at(ONE) + 6, b"\x40"),
        "archive/version",
        "demo/a.txt",
        "needs version 6.4 of the format, which does not exist",
    ),
    (
        raw_zip([A], RawEnd(zip64=True, zip64_at=3)),
        "archive/zip64",
        "",
        "the zip64 end record is not right before its locator",
    ),
    (
        raw_zip([A], RawEnd(zip64=True, zip64_record=b"x" * 56)),
        "archive/zip64",
        "",
        "the zip64 end record is not right before its locator",
    ),
    (
        raw_zip([A], RawEnd(directory_offset=FULL)),
        "archive/zip64",
        "",
        "the end record refers to a zip64 record that is not there",
    ),
    (
        # The plain record counts one member, where it should leave that to the other.
        patched(patched(raw_zip([A], RawEnd(zip64=True)), -14, b"\x02\0"), -12, b"\x02\0"),
        "archive/zip64",
        "",
        "the zip64 end record and the plain one disagree",
    ),
    (
        raw_zip(
            [A],
            RawEnd(
                zip64=True,
                entries=1,
                directory_size=len(ONE) - entry_at(ONE) - 22,
                directory_offset=entry_at(ONE),
            ),
        ),
        "archive/zip64",
        "",
        "the zip64 end record and the plain one disagree",
    ),
]
