"""Families of environments resolved with uv: the fewest packages differ."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from freezing.layers.worlds import TARGET, BruteForce, World, floors_of, layers_of, random_world, read_world
from ropewalk.errors import UsageError
from ropewalk.freezing.layers.family import Wish, resolve_family
from ropewalk.freezing.layers.oracle import floors, oracle
from ropewalk.freezing.layers.search import Limits
from ropewalk.freezing.layers.solution import Layer, Solution
from ropewalk.lock.environments import Family, Policy

THREE_LAYERS = """
num==1.0
num==1.9
num==2.0
proto==3.19
proto==3.20
proto==4.0
helper==1.0 | proto>=3.19
helper==2.0 | proto>=4.0
core==2.0 | num>=1.0 | helper
core==3.0 | num>=2.0 | helper
glue==1.0 | proto==3.19
glue==2.0 | proto==3.20
glue==3.0 | proto==4.0
px==1.0 | glue | proto==3.20 | num<2
tx==1.0 | glue | proto==3.19 | num<2
"""
ROWS = [
    {"name": "base", "requires": ["core", "proto"]},
    {"name": "px", "parent": "base", "requires": ["px"]},
    {"name": "tx", "parent": "base", "requires": ["tx"]},
]


def versions(family: Family) -> dict[str, dict[str, str]]:
    return {str(one.package): dict(one.versions) for one in family.divergences}


def test_the_base_moves_back_rather_than_that_more_packages_differ() -> None:
    family = resolve_family(read_world(THREE_LAYERS.splitlines()), layers_of(ROWS), [TARGET])
    assert versions(family) == {
        "glue": {"px": "2.0", "tx": "1.0"},
        "proto": {"base": "4.0", "px": "3.20", "tx": "3.19"},
    }
    assert family.is_proven
    assert [core.packages for core in family.cores] == [("glue",), ("proto",)]
    base = family.environments[0]
    assert [(pin.name, pin.version) for pin in base.pins] == [
        ("core", "2.0"),
        ("helper", "1.0"),
        ("num", "1.9"),
        ("proto", "4.0"),
    ]


def test_the_base_stays_where_it_wins() -> None:
    wish = Wish(policy=Policy.BASE_WINS)
    family = resolve_family(read_world(THREE_LAYERS.splitlines()), layers_of(ROWS), [TARGET], wish=wish)
    assert set(versions(family)) == {"core", "glue", "helper", "num", "proto"}
    base = family.environments[0]
    assert [pin.version for pin in base.pins] == ["3.0", "2.0", "2.0", "4.0"]


def test_differing_is_an_error_where_it_is_to_be_none() -> None:
    with pytest.raises(UsageError, match="cannot agree on 2 packages") as caught:
        resolve_family(
            read_world(THREE_LAYERS.splitlines()), layers_of(ROWS), [TARGET], wish=Wish(policy=Policy.STRICT)
        )
    assert [finding.subject for finding in caught.value.findings] == ["glue", "proto"]


def test_one_solution_for_all_is_taken_where_there_is_one() -> None:
    world = read_world("a==1.0 | b\nb==1.0\nb==2.0\nc==1.0 | b<2".splitlines())
    rows = [{"name": "one", "requires": ["a"]}, {"name": "two", "parent": "one", "requires": ["c"]}]
    family = resolve_family(world, layers_of(rows), [TARGET], wish=Wish(policy=Policy.STRICT))
    assert (family.divergences, family.cores, family.bound) == ((), (), 0)
    assert [pin.version for pin in family.environments[0].pins] == ["1.0", "1.0"]


def test_what_is_there_for_is_not_taken_from_long_ago_to_share_more() -> None:
    world = read_world("a==1.0\na==9.0 | b>=2\nb==1.0\nb==2.0\nc==1.0 | b<2".splitlines())
    rows = [{"name": "one", "requires": ["b"]}, *({"name": n, "parent": "one", "requires": [n]} for n in "ac")]
    family = resolve_family(world, layers_of(rows), [TARGET])
    assert ("a", "9.0") in [(pin.name, pin.version) for pin in family.environments[1].pins]
    assert set(versions(family)) == {"b"}


def test_packages_may_be_let_differ_at_no_price() -> None:
    wish = Wish(may_differ=frozenset(one.package for one in _three_layers().divergences[:1]))
    family = resolve_family(read_world(THREE_LAYERS.splitlines()), layers_of(ROWS), [TARGET], wish=wish)
    assert family.bound == 1


def _three_layers() -> Family:
    return resolve_family(read_world(THREE_LAYERS.splitlines()), layers_of(ROWS), [TARGET])


def test_reasons_name_the_requirements() -> None:
    glue, proto = _three_layers().divergences
    assert "in `px` `px 1.0` requires `proto==3.20`, in `tx` `tx 1.0` requires `proto==3.19`" in proto.reasons
    assert "`glue 2.0` of `px` requires `proto==3.20`, and `tx` has 3.19" in glue.reasons
    assert (
        proto.ends_when == "a release of `glue`, `px` or `tx` that accepts a version of `proto` which the others accept"
    )


def test_an_environment_without_a_solution_is_named() -> None:
    world = read_world("a==1.0 | b==1\nb==1.0\nb==2.0".splitlines())
    rows = [{"name": "one", "requires": ["b"]}, {"name": "two", "parent": "one", "requires": ["a", "b>=2"]}]
    with pytest.raises(UsageError, match="1 of 2 environments have no solution") as caught:
        resolve_family(world, layers_of(rows), [TARGET])
    (finding,) = caught.value.findings
    assert finding.subject == "two"
    assert "a[two]" in finding.message


def test_pins_stay_until_they_are_upgraded() -> None:
    world = read_world("a==1.0 | b\nb==1.0\nc==1.0 | b".splitlines())
    rows = [{"name": "one", "requires": ["a"]}, {"name": "two", "parent": "one", "requires": ["c"]}]
    before = resolve_family(world, layers_of(rows), [TARGET])
    world.add("b", "2.0")
    world.add("a", "2.0", "b")
    assert resolve_family(world, layers_of(rows), [TARGET], before=before) == before
    names = frozenset(pin.name for pin in before.environments[0].pins if pin.name == "b")
    after = resolve_family(world, layers_of(rows), [TARGET], before=before, wish=Wish(upgrade=names))
    assert [(pin.name, pin.version) for pin in after.environments[0].pins] == [("a", "1.0"), ("b", "2.0")]


def test_pins_stay_where_an_environment_asks_for_more() -> None:
    world = read_world("a==1.0 | b\nb==1.0\nc==1.0 | b".splitlines())
    rows = [{"name": "one", "requires": ["a"]}, {"name": "two", "parent": "one", "requires": ["c"]}]
    before = resolve_family(world, layers_of(rows), [TARGET])
    world.add("b", "2.0")
    world.add("d", "1.0")
    rows[1]["requires"] = ["c", "d"]
    after = resolve_family(world, layers_of(rows), [TARGET], before=before)
    assert [(pin.name, pin.version) for pin in after.environments[1].pins] == [
        ("a", "1.0"),
        ("b", "1.0"),
        ("c", "1.0"),
        ("d", "1.0"),
    ]


def test_a_limit_is_said_and_a_solution_found_all_the_same() -> None:
    family = resolve_family(
        read_world(THREE_LAYERS.splitlines()), layers_of(ROWS), [TARGET], wish=Wish(limits=Limits(calls=1))
    )
    assert set(versions(family)) == {"glue", "proto"}
    assert not family.is_proven


def fewest(world: World, layers: list[Layer]) -> int | None:
    """Return what brute force finds, `None` for a world in which an environment has no solution."""
    with oracle(world, layers, [TARGET]) as asked:
        alone = asked.alone()
        if not isinstance(alone, Solution):
            return None
        return BruteForce(world, layers, dict(floors_of(floors(layers, alone)))).fewest()


@pytest.mark.parametrize("seed", range(6))
def test_no_fewer_packages_can_differ(seed: int) -> None:
    check(seed)


@pytest.mark.slow
def test_no_fewer_packages_can_differ_in_300_worlds() -> None:
    checked = 0
    seed = 1000
    while checked < 300:
        checked += check(seed)
        seed += 1


def check(seed: int) -> bool:
    world, layers = random_world(seed)
    least = fewest(world, layers)
    if least is None:
        return False
    family = resolve_family(world, layers, [TARGET])
    assert (family.bound, len(family.divergences)) == (least, least), seed
    return True


CASES = Path(__file__).parents[4] / "shared" / "cases" / "layers"


def test_the_case_that_can_be_checked_by_hand() -> None:
    if not CASES.exists():
        pytest.skip("the cases are not beside this checkout")
    case = tomllib.loads((CASES / "d" / "case.toml").read_text(encoding="utf-8"))
    world = read_world((CASES / "d" / "stubs.txt").read_text(encoding="utf-8").splitlines())
    family = resolve_family(world, layers_of(case["env"]), [TARGET])
    assert family.is_proven
    assert set(versions(family)) - {"xa", "xb"} == {"proto", "glue"}
    assert family.bound == 3
