"""The index of this machine, as it is."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ropewalk.indexes.catalogue import open_catalogue
from ropewalk.indexes.places import Index, Places
from ropewalk.indexes.targets import serves
from ropewalk.indexes.values import Target
from ropewalk.tools.simple_api import index_of_machine

if TYPE_CHECKING:
    from pathlib import Path

    from packaging.utils import NormalizedName

pytestmark = pytest.mark.online

SIX, NUMPY, BOTO3 = "six", "numpy", "boto3"


def places() -> Places:
    return Places(default=Index(url=index_of_machine()), exclude_newer="2025-07-01T00:00:00Z")


def names(*texts: str) -> list[NormalizedName]:
    return list(texts)  # type: ignore[arg-type]


def test_real_projects_as_of_a_day(tmp_path: Path) -> None:
    target = Target(python="3.12", platform="manylinux_2_28_x86_64")
    with open_catalogue(places(), cache=tmp_path) as catalogue:
        catalogue.prefetch(names(SIX, NUMPY))
        six, numpy = (catalogue.releases(name)[-1] for name in names(SIX, NUMPY))
        assert (six.version, numpy.version) == ("1.17.0", "2.3.1")
        usable = [file.name for file in numpy.files if serves(file, target, builds=False)]
        assert usable == ["numpy-2.3.1-cp312-cp312-manylinux_2_28_x86_64.whl"]
        metadata = catalogue.metadata(numpy.name, numpy.version)
        assert (metadata.requires, metadata.requires_python) == ((), ">=3.11")
    with open_catalogue(places(), cache=tmp_path, offline=True) as offline:
        assert offline.releases(numpy.name)[-1] == numpy
        assert offline.metadata(numpy.name, numpy.version) == metadata


def test_the_end_of_a_wheel_says_the_same_as_what_stands_beside_it(tmp_path: Path) -> None:
    with open_catalogue(places(), cache=tmp_path) as catalogue:
        (name,) = names(NUMPY)
        release = catalogue.releases(name)[-1]
        wheel = next(file for file in release.files if file.is_wheel)
        beside = catalogue.metadata(name, release.version, wheel.name)
        bare = replace(wheel, has_metadata=False, metadata_sha256="")
        assert catalogue._reader.metadata(bare, name, release.version) == beside


def test_many_releases_do_not_take_long(tmp_path: Path) -> None:
    (name,) = names(BOTO3)
    with open_catalogue(places(), cache=tmp_path) as catalogue:
        assert len(catalogue.releases(name)) > 1500
    with open_catalogue(places(), cache=tmp_path, offline=True) as offline:
        began = time.perf_counter()
        offline.releases(name)
        assert time.perf_counter() - began < 1
