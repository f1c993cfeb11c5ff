from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from packaging.markers import Marker, default_environment
from packaging.tags import sys_tags

from ropewalk.errors import UsageError
from ropewalk.indexes.targets import marker_environment, runs_on, serves, supported_tags
from ropewalk.indexes.values import File, Target

if TYPE_CHECKING:
    from collections.abc import Sequence

LINUX = Target(python="3.12", platform="manylinux_2_34_x86_64")
MAC = Target(python="3.12", platform="macosx_14_0_arm64")
WINDOWS = Target(python="3.12.4", platform="win_amd64")


def fitting(target: Target, tags: Sequence[str]) -> list[str]:
    return [tag for tag in tags if serves(File(name=f"demo-1.0-{tag}.whl", url=""), target)]


def test_all_variables_of_markers_have_a_value() -> None:
    environment = marker_environment(LINUX)
    assert sorted(environment) == sorted(set(default_environment()) - {"extra"})
    assert len(environment) == 11
    assert environment["python_full_version"] == environment["implementation_version"] == "3.12.0"
    assert marker_environment(WINDOWS)["python_full_version"] == "3.12.4"


@pytest.mark.parametrize(
    ("target", "marker"),
    [
        (LINUX, "sys_platform == 'linux' and platform_machine == 'x86_64' and os_name == 'posix'"),
        (MAC, "sys_platform == 'darwin' and platform_machine == 'arm64' and platform_system == 'Darwin'"),
        (WINDOWS, "sys_platform == 'win32' and platform_machine == 'AMD64' and os_name == 'nt'"),
        (Target(python="3.11", platform="musllinux_1_2_aarch64"), "platform_machine == 'aarch64'"),
        (Target(python="3.13t", platform="linux_x86_64"), "python_version == '3.13' and sys_platform == 'linux'"),
    ],
)
def test_markers_hold_where_they_should(target: Target, marker: str) -> None:
    assert Marker(marker).evaluate({**marker_environment(target)})


@pytest.mark.parametrize(
    ("python", "platform", "why"),
    [
        ("3", "win_amd64", "`3` is not a version of Python"),
        ("3.12", "macosx_14_0_universal2", "`macosx_14_0_universal2` is not a platform of one machine"),
        ("3.12", "solaris_2_11_sparc", "`solaris_2_11_sparc` is not a platform of one machine"),
    ],
)
def test_targets_that_are_none(python: str, platform: str, why: str) -> None:
    for ask in (marker_environment, supported_tags):
        with pytest.raises(UsageError, match=why):
            ask(Target(python=python, platform=platform))


def test_wheels_of_older_systems_and_pythons_serve() -> None:
    good = [
        "cp312-cp312-manylinux_2_34_x86_64",
        "cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64",
        "cp312-cp312-manylinux2014_x86_64",
        "cp312-cp312-manylinux1_x86_64",
        "cp312-cp312-linux_x86_64",
        "cp38-abi3-manylinux2010_x86_64",
        "cp312-none-any",
        "2-py2.py3-none-any",
        "py312-none-manylinux_2_28_x86_64",
    ]
    bad = [
        "cp312-cp312-manylinux_2_35_x86_64",
        "cp312-cp312-manylinux_2_17_aarch64",
        "cp312-cp312-musllinux_1_2_x86_64",
        "cp311-cp311-manylinux_2_17_x86_64",
        "cp313-abi3-manylinux_2_17_x86_64",
        "cp312-cp312t-manylinux_2_17_x86_64",
        "cp312-cp312-win_amd64",
        "py2-none-any",
        "pp310-pypy310_pp73-manylinux_2_17_x86_64",
    ]
    assert fitting(LINUX, [*good, *bad]) == good


def test_a_mac_takes_older_and_fat_wheels() -> None:
    good = ["cp312-cp312-macosx_11_0_arm64", "cp312-cp312-macosx_10_9_universal2", "cp312-cp312-macosx_14_0_universal2"]
    bad = ["cp312-cp312-macosx_15_0_arm64", "cp312-cp312-macosx_11_0_x86_64", "cp312-cp312-macosx_10_9_x86_64"]
    assert fitting(MAC, [*good, *bad]) == good


def test_the_free_threaded_python_takes_its_own_wheels() -> None:
    target = Target(python="3.13t", platform="win_arm64")
    tags = ["cp313-cp313t-win_arm64", "cp313-cp313-win_arm64", "cp38-abi3-win_arm64", "py3-none-any"]
    assert fitting(target, tags) == ["cp313-cp313t-win_arm64", "py3-none-any"]


@pytest.mark.skipif(sys.platform != "linux" or sys.implementation.name != "cpython", reason="looks at this machine")
def test_this_machine_agrees() -> None:
    own = list(sys_tags())
    best = next(tag.platform for tag in own if tag.platform.startswith(("manylinux", "musllinux")))
    target = Target(python=f"3.{sys.version_info.minor}", platform=best)
    assert set(supported_tags(target)) == {tag for tag in own if tag.interpreter != "cp3"}
    assert next(iter(supported_tags(target))) == next(tag for tag in own if tag.platform == best)


@pytest.mark.parametrize(
    ("requires", "holds"),
    [
        ("", True),
        (">=3.9", True),
        (">=3.9.*", True),
        ("!=3.12.*", False),
        (">=3.12.1", False),
        ("<3.13,>3", True),
        ("nonsense", False),
        (">=3.7, <4.0,", True),
    ],
)
def test_requires_python(requires: str, holds: bool) -> None:
    assert runs_on(requires, LINUX) is holds
    assert serves(File(name="demo-1.0-py3-none-any.whl", url="", requires_python=requires), LINUX) is holds
    assert serves(File(name="demo-1.0.tar.gz", url="", requires_python=requires), LINUX) is holds


def test_an_sdist_serves_where_it_may_be_built() -> None:
    assert serves(File(name="demo-1.0.tar.gz", url=""), MAC)
    assert not serves(File(name="demo-1.0.tar.gz", url=""), MAC, builds=False)
