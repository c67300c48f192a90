"""Relays change how many names an item holds, never who depends on whom."""

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from switchyard.domain.ids import END, HIDDEN_PREFIX, RELAY_PREFIX, START
from switchyard.domain.jobs.limits import MAX_NAMES
from switchyard.domain.jobs.plan import JobPlan
from switchyard.domain.jobs.relays import compile_edges, declared_parents, parents_of
from tests.builders import a_plan

Declared = dict[str, list[str]]

WIDTHS = st.sampled_from([1, 2, 3, 99, 100, 101, 130, 215])
LAYERS = st.lists(st.tuples(WIDTHS, st.integers(1, 4), st.booleans()), min_size=1, max_size=3)


def layered(layers: list[tuple[int, int, bool]]) -> Declared:
    """Each layer depends on every so-manieth task of the one before: all on the same, or not."""
    declared: Declared = {}
    before: list[str] = []
    for number, (width, every, same) in enumerate(layers):
        names = [f"t{number}-{n}" for n in range(width)]
        for n, name in enumerate(names):
            declared[name] = before[0 if same else n % every :: every]
        before = names
    return declared


def fan(width: int) -> Declared:
    middle = [f"m{n}" for n in range(width)]
    return {"first": [], **{name: ["first"] for name in middle}, "last": middle}


def bipartite(width: int) -> Declared:
    above = [f"a{n}" for n in range(width)]
    return {**{name: [] for name in above}, **{f"b{n}": above for n in range(width)}}


def chain(length: int) -> Declared:
    return {f"t{n}": [f"t{n - 1}"] if n else [] for n in range(length)}


def relays_of(plan: JobPlan) -> list[str]:
    return [task.ref.task_id for task in plan.tasks if task.ref.relay]


def check(declared: Declared) -> JobPlan:
    plan = a_plan(declared)
    edges = sum(map(len, declared.values())) + 2 * len(declared)
    assert all(len(task.waiting_on) <= MAX_NAMES for task in plan.tasks)
    assert all(len(names) <= MAX_NAMES for names in plan.dependents.values())
    assert declared_parents(plan.dependents) == {
        child: tuple(sorted(parents)) for child, parents in declared.items() if parents
    }
    assert len(relays_of(plan)) * 20 <= edges
    return plan


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(LAYERS)
def test_relays_are_few_and_narrow_and_keep_every_edge(layers: list[tuple[int, int, bool]]) -> None:
    check(layered(layers))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(LAYERS)
def test_each_task_waits_for_exactly_those_that_name_it(
    layers: list[tuple[int, int, bool]],
) -> None:
    plan = a_plan(layered(layers))
    parents = parents_of(plan.dependents)
    for task in plan.tasks:
        assert task.waiting_on == {f"{name}@1" for name in parents.get(task.ref.task_id, ())}
    assert {task.ref.task_id for task in plan.tasks} == {*plan.dependents, END}


def test_what_names_few_has_no_relays() -> None:
    plan = check(chain(MAX_NAMES) | {"beside": []})
    assert relays_of(plan) == []
    assert check(fan(MAX_NAMES)).dependents["first"] == tuple(f"m{n}" for n in range(MAX_NAMES))


@pytest.mark.slow
def test_a_fan_of_ten_thousand_has_a_hundred_relays_each_way() -> None:
    plan = check(fan(9_998))
    assert len(relays_of(plan)) == 200


def test_tasks_with_the_same_parents_share_their_relays() -> None:
    plan = check(bipartite(300))
    together = 3 + 3 * 3  # three gather the parents, and each tells 300 by three more
    ends = 3 + 3  # `__start__` and `__end__` have 300 each
    assert len(relays_of(plan)) == together + ends


def test_a_chain_of_ten_thousand_is_compiled() -> None:
    assert relays_of(check(chain(10_000))) == []


@pytest.mark.slow
def test_ten_thousand_tasks_without_edges_begin_and_end_by_relays() -> None:
    plan = check({f"t{n}": [] for n in range(10_000)})
    assert len(relays_of(plan)) == 200
    assert all(name.startswith(RELAY_PREFIX) for name in plan.dependents[START])


def test_relays_become_a_tree_when_there_are_too_many_of_them() -> None:
    wide = {f"t{n}": ["last"] for n in range(10_001)}
    compiled = compile_edges({"first": list(wide), **wide})
    assert max(map(len, compiled.values())) <= MAX_NAMES
    assert max(map(len, parents_of(compiled).values())) <= MAX_NAMES
    assert declared_parents(compiled)["last"] == tuple(sorted(wide))


def test_a_task_may_wait_for_fewer() -> None:
    wide = {f"t{n}": ["last"] for n in range(12)}
    compiled = compile_edges(wide, fan_in=3)
    assert max(map(len, parents_of(compiled).values())) == 3
    assert declared_parents(compiled) == {"last": tuple(sorted(wide))}


def test_relays_may_be_named_by_who_adds_them() -> None:
    wide = {"first": [f"t{n}" for n in range(101)]}
    assert compile_edges(wide, prefix="__relay-7-")["first"] == ("__relay-7-0", "__relay-7-1")


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", ["0", *(pytest.param(seed, marks=pytest.mark.long) for seed in ("1", "2"))]
)
def test_the_same_job_becomes_the_same_plan_in_every_process(seed: str) -> None:
    script = (
        "from tests.unit.domain.jobs.test_relays import bipartite, a_plan\n"
        "print(list(a_plan(bipartite(101)).dependents.items()))"
    )
    path = [part for part in sys.path if part]
    emitted = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert emitted.stdout.strip() == str(list(a_plan(bipartite(101)).dependents.items()))


def test_nobody_declared_a_hidden_task() -> None:
    declared = declared_parents(a_plan().dependents)
    named = {*declared, *(name for names in declared.values() for name in names)}
    assert not [name for name in named if name.startswith(HIDDEN_PREFIX)]
