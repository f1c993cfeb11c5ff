"""Who is head, core or provider, and what remains to be required."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bundling.laying import planned, recipe, refused, requirements_of, said

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    MakeWheel = Callable[..., Path]


def test_head_and_core_make_the_base_and_a_provider_its_extra(make_wheel: MakeWheel) -> None:
    wheels = [
        make_wheel("head", requires=["core>=1", "click"], extras={"s3": ["aws"]}),
        make_wheel("core", requires=["numpy>=1.26"]),
        make_wheel("aws", requires=["core", "boto3", "numpy"]),
    ]
    plan = planned(wheels)
    assert {origin.name: (origin.role.value, origin.extras) for origin in plan.provenance.components} == {
        "head": ("head", ()),
        "core": ("core", ()),
        "aws": ("provider", ("s3",)),
    }
    assert plan.extras == ("s3",)
    assert requirements_of(plan) == ["click", "numpy>=1.26", 'boto3; extra == "s3"']


def test_b37_a_providers_marker_is_joined_to_its_extra_in_parentheses(make_wheel: MakeWheel) -> None:
    wheels = [
        make_wheel("head", extras={"d": ["provider"]}),
        make_wheel("provider", requires=["aiohttp; sys_platform != 'win32' or implementation_name != 'pypy'"]),
    ]
    assert requirements_of(planned(wheels)) == [
        'aiohttp; (implementation_name != "pypy" or sys_platform != "win32") and extra == "d"'
    ]


def test_a_component_under_a_marker_passes_the_marker_on(make_wheel: MakeWheel) -> None:
    wheels = [
        make_wheel("head", requires=["core; sys_platform == 'linux'"]),
        make_wheel("core", requires=["numpy", "pywin32; sys_platform == 'win32'", "tbb; os_name == 'posix'"]),
    ]
    assert requirements_of(planned(wheels)) == [
        'numpy; sys_platform == "linux"',
        'pywin32; sys_platform == "linux" and sys_platform == "win32"',
        'tbb; os_name == "posix" and sys_platform == "linux"',
    ]


def test_extras_of_components_are_followed(make_wheel: MakeWheel) -> None:
    wheels = [
        make_wheel("head", requires=["core[fast]"], extras={"all": ["head[s3,gcs]"], "s3": ["aws"], "gcs": ["gcp"]}),
        make_wheel("core", requires=["numpy"], extras={"fast": ["numba"]}),
        make_wheel("aws", requires=["boto3"]),
        make_wheel("gcp", requires=["gcsfs"]),
    ]
    assert requirements_of(planned(wheels)) == [
        "numba",
        "numpy",
        'boto3; extra == "all"',
        'gcsfs; extra == "all"',
        'gcsfs; extra == "gcs"',
        'boto3; extra == "s3"',
    ]


def test_components_that_require_one_another_in_circles(make_wheel: MakeWheel) -> None:
    wheels = [
        make_wheel("head", requires=["one; os_name == 'posix' or sys_platform == 'win32'"]),
        make_wheel("one", requires=["two; python_version < '3.13'", "numpy"]),
        make_wheel("two", requires=["one; platform_machine == 'x86_64' or os_name == 'nt'", "pandas"]),
    ]
    assert requirements_of(planned(wheels)) == [
        'numpy; os_name == "posix" or sys_platform == "win32"',
        'pandas; (os_name == "posix" or sys_platform == "win32") and python_version < "3.13"',
    ]


def test_a_range_that_excludes_the_bundled_version_is_an_error(make_wheel: MakeWheel) -> None:
    wheels = [make_wheel("head", requires=["my.core>=2"]), make_wheel("my-core", "1.5")]
    assert refused(wheels) == {
        ("bundle/component-version", "my-core"): "`head` requires `my.core>=2`, and the bundle has 1.5"
    }


def test_a_pre_release_of_a_component_is_in_range(make_wheel: MakeWheel) -> None:
    assert requirements_of(planned([make_wheel("head", requires=["core>=1"]), make_wheel("core", "1.5.dev3")])) == []


def test_each_component_must_be_reachable(make_wheel: MakeWheel) -> None:
    wheels = [make_wheel("head"), make_wheel("core")]
    assert refused(wheels) == {
        (
            "bundle/unreachable-component",
            "core",
        ): "nothing in the bundle requires `core`: neither `head` nor one of its extras leads to it"
    }


def test_the_manifests_extras_replace_the_heads(make_wheel: MakeWheel) -> None:
    wheels = [make_wheel("head", extras={"old": ["aws"]}), make_wheel("aws", requires=["boto3"])]
    plan = planned(wheels, recipe(extras={"S3": ["aws", "fsspec"], "both": ["head[s3]", "rich; os_name == 'nt'"]}))
    assert plan.extras == ("both", "s3")
    assert requirements_of(plan) == [
        'boto3; extra == "both"',
        'fsspec; extra == "both"',
        'rich; os_name == "nt" and extra == "both"',
        'boto3; extra == "s3"',
        'fsspec; extra == "s3"',
    ]


@pytest.mark.parametrize(("requires", "extras"), [(["head-core>=1"], {}), ([], {"x": ["head-core"]})])
def test_a_forgotten_component_is_an_error(
    make_wheel: MakeWheel, requires: list[str], extras: dict[str, list[str]]
) -> None:
    asker = "head" if requires else "head[x]"
    assert refused([make_wheel("head", requires=requires, extras=extras)]) == {
        ("bundle/missing-component", "head-core"): f"`{asker}` requires `head-core`, which is not among the components"
    }


def test_an_extra_may_require_a_range_of_a_relative(make_wheel: MakeWheel) -> None:
    wheels = [make_wheel("head", extras={"text": ["head-glove>=1,<2"]})]
    assert said(wheels) == {
        (
            "bundle/missing-component",
            "head-glove",
        ): "`head[text]` requires `head-glove`, which is not among the components"
    }
    assert said(wheels, recipe(external=["head.glove"])) == {}


def test_an_external_package_is_refused_as_a_component(make_wheel: MakeWheel) -> None:
    wheels = [make_wheel("head", requires=["torch-geometric"]), make_wheel("torch_geometric")]
    assert refused(wheels, recipe(external=["torch.geometric"])) == {
        (
            "bundle/external-component",
            "torch-geometric",
        ): "`torch-geometric` is on the list of external packages, and its wheel is among the components"
    }


def test_direct_urls_are_refused_unless_allowed(make_wheel: MakeWheel) -> None:
    wheels = [
        make_wheel("head", requires=["lib @ https://example.org/lib.whl", "core @ file:///tmp/core.whl"]),
        make_wheel("core"),
    ]
    assert refused(wheels) == {
        ("bundle/direct-url", "lib"): "`head` requires `lib` by a direct URL, which public indexes refuse"
    }
    allowed = planned(wheels, recipe(allow_direct_urls=True))
    assert requirements_of(allowed) == ["lib @ https://example.org/lib.whl"]


def test_extras_that_get_lost_are_named(make_wheel: MakeWheel) -> None:
    wheels = [make_wheel("head", requires=["core[nope]"]), make_wheel("core", extras={"viz": ["bokeh"]})]
    assert said(wheels) == {
        (
            "bundle/unknown-extra",
            "core",
        ): "`head` requires `core[nope]`, an extra that the component does not have",
        ("bundle/lost-extra", "core"): "no one can ask for `core[viz]` once `core` is bundled",
    }


def test_all_conflicts_come_in_one_run(make_wheel: MakeWheel, tmp_path: Path) -> None:
    wheels = [
        make_wheel("head", requires=["core>=9", "numpy<1"], files={"pkg/a.py": "1"}, requires_python=">=3.12"),
        make_wheel("core", requires=["numpy>=2"], files={"pkg/a.py": "2"}, requires_python="<3.12"),
        make_wheel("lonely", tag="cp312-cp312-win_amd64"),
        make_wheel("odd", tag="cp312-cp312-macosx_11_0_arm64"),
    ]
    rules = {rule for rule, _ in refused(wheels)}
    assert rules == {
        "bundle/component-version",
        "bundle/path-collision",
        "bundle/requirement-conflict",
        "bundle/requires-python",
        "bundle/tags",
        "bundle/unreachable-component",
    }
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in wheels)


def test_there_must_be_a_head(make_wheel: MakeWheel) -> None:
    assert refused([make_wheel("core")]) == {
        ("bundle/no-head", "head"): "there is no wheel of `head`, the component whose name, version and extras lead"
    }


def test_a_component_that_comes_twice_is_refused(make_wheel: MakeWheel) -> None:
    wheels = [make_wheel("head", requires=["core"]), make_wheel("core", "1.0"), make_wheel("core", "2.0")]
    assert refused(wheels) == {
        (
            "bundle/duplicate-component",
            "core",
        ): "`core` comes twice: `core-1.0-py3-none-any.whl` and `core-2.0-py3-none-any.whl`"
    }
