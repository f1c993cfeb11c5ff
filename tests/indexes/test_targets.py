"""Targets: markers and tags."""

from __future__ import annotations

import pytest
from packaging.markers import Marker, default_environment

from ropewalk.errors import UsageError
from ropewalk.indexes.targets import marker_environment, serves
from ropewalk.indexes.values import File, Target

LINUX = Target(python="3.12", platform="manylinux_2_34_x86_64")
MAC = Target(python="3.11", platform="macosx_14_0_arm64")


def test_every_variable_of_markers_is_there() -> None:
    assert set(marker_environment(LINUX)) == set(default_environment())


@pytest.mark.parametrize(
    ("target", "marker"),
    [
        (LINUX, "sys_platform == 'linux' and platform_machine == 'x86_64' and python_version == '3.12'"),
        (MAC, "platform_system == 'Darwin' and platform_machine == 'arm64' and os_name == 'posix'"),
        (Target(python="3.13", platform="win_amd64"), "sys_platform == 'win32' and os_name == 'nt'"),
        (Target(python="3.13.2", platform="musllinux_1_2_aarch64"), "python_full_version == '3.13.2'"),
        (Target(python="3.13t", platform="linux_armv7l"), "python_version == '3.13' and platform_machine == 'armv7l'"),
    ],
)
def test_markers_hold(target: Target, marker: str) -> None:
    assert Marker(marker).evaluate(dict(marker_environment(target)))


@pytest.mark.parametrize(
    ("name", "target", "expected"),
    [
        ("a-1-py3-none-any.whl", LINUX, True),
        ("a-1-cp312-cp312-manylinux_2_34_x86_64.whl", LINUX, True),
        ("a-1-cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", LINUX, True),
        ("a-1-cp312-cp312-manylinux1_x86_64.whl", LINUX, True),
        ("a-1-cp37-abi3-manylinux_2_17_x86_64.whl", LINUX, True),
        ("a-1-cp312-cp312-manylinux_2_35_x86_64.whl", LINUX, False),
        ("a-1-cp311-cp311-manylinux_2_17_x86_64.whl", LINUX, False),
        ("a-1-cp313-abi3-manylinux_2_17_x86_64.whl", LINUX, False),
        ("a-1-cp312-cp312-musllinux_1_2_x86_64.whl", LINUX, False),
        ("a-1-cp311-cp311-macosx_11_0_arm64.whl", MAC, True),
        ("a-1-cp311-cp311-macosx_10_9_universal2.whl", MAC, True),
        ("a-1-cp311-cp311-macosx_15_0_arm64.whl", MAC, False),
        ("a-1-cp313-cp313-manylinux_2_17_x86_64.whl", Target(python="3.13t", platform="manylinux_2_17_x86_64"), False),
        ("a-1-cp313-cp313t-manylinux_2_17_x86_64.whl", Target(python="3.13t", platform="manylinux2014_x86_64"), True),
        ("a-1.tar.gz", MAC, True),
        ("nonsense.whl", MAC, False),
    ],
)
def test_a_wheel_serves_the_targets_of_its_tags(name: str, target: Target, expected: bool) -> None:
    assert serves(File(name=name, url=""), target) is expected


@pytest.mark.parametrize(
    ("requires", "expected"), [("", True), (">=3.12", True), ("<3.12", False), (">=3.12.4", True), (">=3.6.*", True)]
)
def test_requires_python_has_to_hold(requires: str, expected: bool) -> None:
    assert serves(File(name="a-1-py3-none-any.whl", url="", requires_python=requires), LINUX) is expected


def test_a_platform_without_markers_is_refused() -> None:
    with pytest.raises(UsageError, match="is not a platform that environments can be resolved for"):
        marker_environment(Target(python="3.12", platform="ios_13_0_arm64_iphoneos"))
