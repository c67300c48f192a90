"""What can be wrong with the shape of a job, and how it is said."""

import pytest

from switchyard.domain.errors import InvalidJob, Problem
from switchyard.domain.jobs.graph import TaskSpec, problems_in
from switchyard.domain.jobs.limits import MAX_EDGES, MAX_TASKS
from tests.builders import specs


def said(edges: dict[str, list[str]]) -> list[str]:
    return [str(problem) for problem in problems_in(specs(edges))]


def lattice(layers: int, width: int) -> dict[str, list[str]]:
    """Every task depends on all of the layer before."""
    names = [[f"t{layer}-{n}" for n in range(width)] for layer in range(layers)]
    return {
        name: names[layer - 1] if layer else [] for layer in range(layers) for name in names[layer]
    }


@pytest.mark.parametrize(
    ("edges", "cycle"),
    [
        ({"a": ["a"]}, "a → a"),
        ({"a": ["b"], "b": ["a"]}, "a → b → a"),
        ({"a": ["c"], "b": ["a"], "c": ["b"]}, "a → b → c → a"),
        ({"root": [], "a": ["root", "c"], "b": ["a"], "c": ["b"], "z": ["c"]}, "a → b → c → a"),
    ],
)
def test_a_cycle_is_named_from_each_task_to_the_one_that_depends_on_it(
    edges: dict[str, list[str]], cycle: str
) -> None:
    """It begins with the task that stands first, and is reported there."""
    first = list(edges).index("a")
    assert said(edges) == [
        f"tasks.{first}.dependsOn: the dependencies form a cycle: {cycle}; "
        "remove one of these dependencies"
    ]


def test_a_cycle_of_ten_thousand_is_named_in_short() -> None:
    edges = {f"t{n}": [f"t{n - 1 if n else MAX_TASKS - 1}"] for n in range(MAX_TASKS)}
    (problem,) = said(edges)
    assert "→ (9,981 more) →" in problem
    assert len(problem) < 400


def test_a_chain_of_ten_thousand_and_a_hundred_thousand_dependencies_are_fine() -> None:
    assert said({f"t{n}": [f"t{n - 1}"] if n else [] for n in range(MAX_TASKS)}) == []
    assert said(lattice(11, 100)) == []


def test_too_many_dependencies_are_counted() -> None:
    edges = lattice(11, 100)
    edges["one-more"] = ["t0-0"]
    assert said(edges) == [f"tasks: a job has at most {MAX_EDGES:,} dependencies, this one 100,001"]


def test_every_task_with_a_problem_is_listed() -> None:
    tasks = [
        *specs({"a": ["nobody", "noone"], "b": ["a", "a"], "__mine": [], "bad id": []}),
        TaskSpec(task_id="a", name="scrape"),
    ]
    assert [str(problem) for problem in problems_in(tasks)] == [
        "tasks.0.taskId: 'a' is used 2 times",
        "tasks.2.taskId: '__mine': ids beginning with __ are reserved",
        "tasks.3.taskId: 'bad id' must be 1 to 128 of a-z A-Z 0-9 - _",
        "tasks.4.taskId: 'a' is used 2 times",
        "tasks.0.dependsOn: 'a' depends on 'nobody', which does not exist",
        "tasks.0.dependsOn: 'a' depends on 'noone', which does not exist",
        "tasks.1.dependsOn: 'b' names a dependency twice",
    ]


@pytest.mark.parametrize(("count", "listed", "last"), [(100, 100, "p99"), (101, 101, "p100")])
def test_a_hundred_problems_are_listed(count: int, listed: int, last: str) -> None:
    refused = InvalidJob([Problem((), f"p{n}") for n in range(count)])
    assert (len(refused.problems), refused.problems[-1].message) == (listed, last)


def test_of_ten_thousand_problems_a_hundred_are_listed_and_the_rest_counted() -> None:
    refused = InvalidJob([Problem((), f"p{n}") for n in range(10_000)])
    assert len(refused.problems) == 101
    assert str(refused).endswith("p99; and 9,900 problems more")
