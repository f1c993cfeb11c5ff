"""Requirements of several components as one list: nothing is accepted that was not, nothing lost that was."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from bundling.test_markers import ENVIRONMENT, MARKER
from ropewalk.bundling.markers import condition_of, with_extra
from ropewalk.bundling.requirements import Demand, accepts_no_more, collapse, covers, merge_demands
from ropewalk.finding import Collector

if TYPE_CHECKING:
    from collections.abc import Sequence


def demand(text: str, extra: str | None = None, origin: str = "`a`") -> Demand:
    requirement = Requirement(text)
    return Demand(
        name=canonicalize_name(requirement.name),
        extra=extra,
        requested=frozenset(map(canonicalize_name, requirement.extras)),
        condition=condition_of(requirement.marker),
        specifier=requirement.specifier,
        url=requirement.url,
        origins=frozenset({origin}),
    )


def merged(demands: Sequence[Demand]) -> tuple[list[str], list[tuple[str, str]]]:
    found = Collector("head")
    result = merge_demands(demands, found)
    return [str(one) for one in result], [(finding.level.value, finding.message) for finding in found.findings]


@pytest.mark.parametrize(
    ("texts", "result"),
    [
        (["numpy<3,>=1.26", "numpy>=1.26,<3", "numpy"], ["numpy<3,>=1.26"]),
        (["pyarrow>=8.0.0", "pyarrow==24.0.0", "pyarrow<25,>=15"], ["pyarrow==24.0.0"]),
        (["typing_extensions>=4.5.0", "typing-extensions>=4.12.2"], ["typing-extensions>=4.12.2"]),
        (["pydantic>=2.7", "Pydantic>=1.10.21", "pydantic>=2.11"], ["pydantic>=2.11"]),
        (["tabulate<1,>=0.8.10", "tabulate==0.8.10"], ["tabulate==0.8.10"]),
        (["fsspec>=1.26", "fsspec>=1.26.0"], ["fsspec>=1.26"]),
        (["google-auth[requests]<3", "google-auth>=2"], ["google-auth>=2", "google-auth[requests]<3"]),
        (["a; os_name == 'nt'", "a>=1; os_name == 'posix'"], ['a; os_name == "nt"', 'a>=1; os_name == "posix"']),
        (["a!=1.5", "a!=1.6"], ["a!=1.5,!=1.6"]),
        (["a~=1.4.2", "a>=1.4"], ["a~=1.4.2"]),
        (["a===1.0", "a"], ["a===1.0"]),
        (["a>=1.0rc1", "a>=1.0"], ["a>=1.0,>=1.0rc1"]),
        (["a<2.0a0", "a<2"], ["a<2,<2.0a0"]),
    ],
)
def test_one_line_a_name_and_marker(texts: list[str], result: list[str]) -> None:
    for order in itertools.permutations(texts):
        assert merged([demand(text) for text in order]) == (result, [])


def test_an_extra_does_not_repeat_what_the_base_demands() -> None:
    demands = [
        demand("pyarrow==24.0.0"),
        demand("numpy>=1.26"),
        demand("pandas; os_name == 'posix'"),
        demand("pyarrow>=14", "s3"),
        demand("numpy>=2,>=1.2", "s3"),
        demand("pyarrow[x]>=15,<25,!=24.0.1", "s3"),
        demand("pandas; os_name == 'posix' and sys_platform == 'linux'", "s3"),
        demand("pandas", "gcs"),
    ]
    assert merged(demands)[0] == [
        "numpy>=1.26",
        'pandas; os_name == "posix"',
        "pyarrow==24.0.0",
        'pandas; extra == "gcs"',
        'numpy>=2; extra == "s3"',
        'pyarrow[x]; extra == "s3"',
    ]


def test_an_empty_intersection_names_both_components() -> None:
    assert merged([demand("numpy>=2", origin="`one`"), demand("numpy<2", origin="`two`"), demand("numpy!=9")])[1] == [
        ("error", "no version of `numpy` fulfils what `one` (>=2), `two` (<2) require")
    ]


def test_three_that_contradict_one_another_only_together() -> None:
    demands = [demand("a>=1", origin="`x`"), demand("a<=1", origin="`y`"), demand("a!=1", origin="`z`")]
    assert merged(demands)[1] == [("error", "no version of `a` fulfils what `x` (>=1), `y` (<=1), `z` (!=1) require")]


def test_one_component_that_contradicts_itself() -> None:
    assert merged([demand("a>2,<1")])[1] == [("error", "no version of `a` fulfils what `a` (<1,>2) requires")]


def test_an_extra_against_the_base_is_an_error_or_a_warning() -> None:
    sure = merged([demand("numpy>=2"), demand("numpy<2", "old", "`b`")])[1]
    assert sure == [("error", "no version of `numpy` fulfils both `a` (>=2) and `b` (<2) when `old` is chosen")]
    perhaps = merged([demand("numpy>=2; os_name == 'nt'"), demand("numpy<2; sys_platform == 'win32'", "old", "`b`")])[1]
    assert perhaps == [
        (
            "warning",
            (
                "no version of `numpy` fulfils both `a` (>=2) and `b` (<2) when `old` is chosen, "
                'should `os_name == "nt"` and `sys_platform == "win32"` hold together'
            ),
        )
    ]
    assert merged([demand("numpy>=2", "new"), demand("numpy<2", "old", "`b`")])[1] == []


def test_demands_on_different_pythons_do_not_exclude_one_another() -> None:
    texts = ["numpy<2; python_version < '3.12'", "numpy>=2; python_version >= '3.12'"]
    assert merged([demand(text) for text in texts]) == (
        ['numpy<2; python_version < "3.12"', 'numpy>=2; python_version >= "3.12"'],
        [],
    )


def test_what_never_holds_is_left_out() -> None:
    never = replace(demand("numpy"), condition=False)
    assert merged([never, demand("pandas")]) == (["pandas"], [])


def test_markers_that_no_machine_fulfils_stay() -> None:
    text = 'a; sys_platform == "linux" and sys_platform == "win32"'
    assert merged([demand(text)]) == ([text], [])


@pytest.mark.parametrize(
    ("base", "extra", "is_covered"),
    [
        ("a>=2", "a>=1", True),
        ("a>=2", "a>=2", True),
        ("a>=2", "a", True),
        ("a", "a>=1", False),
        ("a>=1", "a>=2", False),
        ("a==2", "a!=1,<3,~=2.0", True),
        ("a[x,y]", "a[x]", True),
        ("a[x]", "a[x,y]", False),
        ("a>=2", "a>=1.0rc1", False),
        ("a>=2rc1", "a>=1.0rc1", True),
        ("a; os_name == 'nt'", "a; os_name == 'nt' and sys_platform == 'win32'", True),
        ("a; os_name == 'nt'", "a", False),
        ("a; os_name == 'nt' or os_name == 'posix'", "a; os_name == 'nt'", True),
        ("a @ file:///a.whl", "a @ file:///a.whl", True),
        ("a @ file:///a.whl", "a", False),
        ("a", "a @ file:///a.whl", False),
        ("a", "b", False),
    ],
)
def test_a_base_that_is_as_strict_covers_an_extra(base: str, extra: str, is_covered: bool) -> None:
    assert covers(demand(base), demand(extra, "x")) == is_covered
    assert (len(merged([demand(base), demand(extra, "x")])[0]) == 1) == is_covered


def test_urls_that_differ_exclude_one_another() -> None:
    first, second = demand("a @ file:///1.whl", origin="`x`"), demand("a @ file:///2.whl", origin="`y`")
    assert merged([second, first])[1] == [
        ("error", "no version of `a` fulfils both `x` (@ file:///1.whl) and `y` (@ file:///2.whl)")
    ]


CLAUSE = st.tuples(
    st.sampled_from([">=", "<=", "<", ">", "==", "!=", "~="]),
    st.sampled_from(["1.0", "1.1", "1.1.0", "1.2.3", "2.0", "2.0rc1", "2.0.dev1", "1.0.post1"]),
).map("".join) | st.sampled_from(["==1.*", "!=1.1.*", "===1.1", "==1.0+local"])
SPECIFIER = st.lists(CLAUSE, max_size=4).map(lambda clauses: SpecifierSet(",".join(clauses)))
VERSIONS = [
    Version(text)
    for text in (
        *("0.9", "1.0a1", "1.0", "1.0+local", "1.0.post1", "1.0.post2.dev1", "1.1.dev1", "1.1", "1.1.1", "1.2.2"),
        *("1.2.3", "1.2.3rc1", "1.2.4", "1.9", "2.0.dev1", "2.0.dev2", "2.0a1", "2.0rc1", "2.0", "2.0+x", "2.0.1", "3"),
    )
]


@given(SPECIFIER, st.booleans())
def test_collapsing_changes_nothing_that_is_accepted(specifier: SpecifierSet, keep: bool) -> None:
    result = collapse(specifier, keep_exclusions=keep)
    for prereleases in (True, False, None):
        assert list(result.filter(VERSIONS, prereleases=prereleases)) == list(
            specifier.filter(VERSIONS, prereleases=prereleases)
        )
    assert collapse(result, keep_exclusions=keep) == result
    if keep:
        assert {one for one in specifier if one.operator == "!="} <= set(result)


@given(SPECIFIER, SPECIFIER)
def test_what_accepts_no_more_does_not(narrow: SpecifierSet, wide: SpecifierSet) -> None:
    if accepts_no_more(narrow, wide):
        for prereleases in (True, None):
            accepted = set(wide.filter(VERSIONS, prereleases=True))
            assert set(narrow.filter(VERSIONS, prereleases=prereleases)) <= accepted


SOME_MARKER = st.sampled_from(
    ["", "; os_name == 'posix'", "; sys_platform == 'linux'", "; os_name == 'posix' and sys_platform == 'linux'"]
)
DEMAND = st.builds(
    lambda name, clauses, marker, extra: demand(f"{name}{','.join(clauses)}{marker}", extra),
    st.sampled_from(["numpy", "Num.Py", "pandas", "pandas[x]"]),
    st.lists(st.sampled_from([">=1.0", "<3", "!=1.5", ">=2.0", "==2.*", "~=1.1", ">=2.0rc1", "==1.1"]), max_size=3),
    SOME_MARKER,
    st.sampled_from([None, None, "s3", "gcs"]),
)


@given(st.lists(DEMAND, max_size=6), ENVIRONMENT, st.sampled_from(["", "s3", "gcs"]))
def test_a_requirement_holds_in_the_bundle_where_it_held_in_a_component(
    demands: list[Demand], environment: dict[str, Any], extra: str
) -> None:
    result = merge_demands(demands, Collector("head"))
    before, after = ([one.to_requirement() for one in side] for side in (demands, result))
    assert wanted(after, environment, extra) == wanted(before, environment, extra)


COMPONENT = st.lists(
    st.builds(
        lambda name, clause, marker: f"{name}{clause}; {marker}",
        st.sampled_from(["numpy", "pandas[x]"]),
        st.sampled_from(["", ">=1.1", "<2", "==1.*"]),
        MARKER,
    ),
    max_size=4,
)


@given(st.lists(COMPONENT, max_size=3), ENVIRONMENT, st.sampled_from(["", "a", "b"]))
def test_markers_with_extras_hold_in_the_bundle_where_they_held_in_a_component(
    components: list[list[str]], environment: dict[str, Any], extra: str
) -> None:
    requirements = [Requirement(text) for texts in components for text in texts]
    demands = [
        replace(demand(str(requirement)), extra=chosen, condition=condition)
        for requirement in requirements
        for chosen in (None, "a", "b")
        if (condition := with_extra(condition_of(requirement.marker), chosen)) is not False
    ]
    result = [one.to_requirement() for one in merge_demands(demands, Collector("head"))]
    assert wanted(result, environment, extra) == wanted(requirements, environment, extra)


def wanted(
    requirements: Sequence[Requirement], environment: dict[str, Any], extra: str
) -> dict[str, tuple[set[Version], set[str]]]:
    """Return the versions of each package that a resolver may choose, and the extras of it that it must install."""
    allowed: dict[str, tuple[set[Version], set[str]]] = {}
    chosen = [{**environment, "extra": name} for name in ("", extra)]
    for one in requirements:
        if one.marker is None or any(map(one.marker.evaluate, chosen)):
            versions, extras = allowed.get(one.name, (set(VERSIONS), set()))
            accepted = set(one.specifier.filter(VERSIONS, prereleases=True))
            allowed[one.name] = versions & accepted, extras | one.extras
    return allowed


@given(st.lists(DEMAND, max_size=5), st.randoms(use_true_random=False))
def test_merging_is_free_of_order_and_settled(demands: list[Demand], chance: Any) -> None:  # noqa: ANN401
    result = merge_demands(demands, Collector("head"))
    shuffled = list(demands)
    chance.shuffle(shuffled)
    assert merged(shuffled) == merged(demands)
    assert list(map(str, merge_demands(result, Collector("head")))) == list(map(str, result))


@given(st.lists(DEMAND, max_size=3), st.lists(DEMAND, max_size=3), st.lists(DEMAND, max_size=3))
def test_merging_is_associative(one: list[Demand], two: list[Demand], three: list[Demand]) -> None:
    found = Collector("head")
    whole = list(map(str, merge_demands([*one, *two, *three], found)))
    assert list(map(str, merge_demands([*merge_demands([*one, *two], found), *three], found))) == whole
    assert list(map(str, merge_demands([*one, *merge_demands([*two, *three], found)], found))) == whole


IN_THE_ORDER_OF_SETS = """
from packaging.specifiers import SpecifierSet
from packaging.tags import parse_tag

from bundling.test_requirements import demand
from ropewalk.bundling.licences import LicenceStatement, merge_licences
from ropewalk.bundling.python_range import check_tags, intersect_pythons
from ropewalk.bundling.requirements import merge_demands
from ropewalk.finding import Collector

found = Collector("head")
texts = {"a>=1,<9,!=4", "a!=3,<8", "a>=1.0,<8.0", "a[x,y,z]<1", "a>2; os_name == 'nt' or sys_platform == 'x'", "b<1",
         "b>1", "b==1", "a>1; sys_platform == 'x' or os_name == 'nt'"}
demands = {demand(text, extra, f"`{origin}`") for text in texts for extra in (None, "s3", "gcs") for origin in "xyz"}
for one in merge_demands(demands, found):
    print(one, sorted(one.origins))
ranges = {name: SpecifierSet(text) for name, text in {("p", ">=3.12,!=3.13.1"), ("q", "<3.12"), ("r", "!=3.13.*,<4")}}
print(intersect_pythons(ranges, found))
check_tags(SpecifierSet(">=3.12"), parse_tag("cp310.cp311.cp39-cp310.cp311.none-any"), found)
licences = {("p", "MIT OR ISC"), ("q", "ISC OR MIT AND Zlib"), ("r", "Zlib"), ("s", "x"), ("t", None)}
print(merge_licences([LicenceStatement(name=name, expression=text) for name, text in licences], found))
for finding in sorted(found.findings, key=str):
    print(finding)
"""


def test_nothing_hangs_on_the_order_of_sets() -> None:
    written = {
        subprocess.run(
            [sys.executable, "-c", IN_THE_ORDER_OF_SETS],
            env={**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": str(Path(__file__).parents[1])},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in range(4)
    }
    (text,) = written
    assert "a!=3,!=4,<8,>=1 ['`x`', '`y`', '`z`']" in text
