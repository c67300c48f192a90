"""The shapes of jobs that are measured, at any size: each task by its number, with its parents."""

from collections.abc import Callable, Mapping
from math import isqrt
from random import Random  # noqa: TID251 - seeded: a benchmark measures the same each time
from typing import Any, Final

from switchyard.contracts.jobs import SubmitJob

SEED: Final = 7
EDGES_PER_TASK: Final = 3
DEFINITION: Final = "scrape"

Parents = Callable[[int], list[int]]


def chain(_count: int) -> Parents:
    return lambda number: [number - 1] if number else []


def fan_out(_count: int) -> Parents:
    """Let all tasks wait for the first."""
    return lambda number: [0] if number else []


def fan_in(count: int) -> Parents:
    """The last waits for all others."""
    return lambda number: list(range(number)) if number == count - 1 else []


def lattice(count: int) -> Parents:
    """A square: each waits for its neighbours to the left and above."""
    width = isqrt(count)

    def parents(number: int) -> list[int]:
        left = [number - 1] if number % width else []
        above = [number - width] if number >= width else []
        return [*left, *above]

    return parents


def at_random(_count: int) -> Parents:
    """Let each task wait for a few of those before it; always the same few."""
    dice = seeded()
    return lambda number: sorted(dice.sample(range(number), min(number, EDGES_PER_TASK)))


def seeded() -> Random:
    return Random(SEED)  # noqa: S311 - guards nothing


STATIC: Final = "fan-out"
AT_RUN_TIME: Final = "fan-out at run time"
MOST_ABOVE_STATIC: Final = 1.1
"""The highest allowed ratio of a fan-out's cost to that of a declared one of the same size."""

SHAPES: Final[Mapping[str, Callable[[int], Parents]]] = {
    "chain": chain,
    STATIC: fan_out,
    AT_RUN_TIME: fan_out,
    "fan-in": fan_in,
    "lattice": lattice,
    "random": at_random,
}


def a_job(shape: str, count: int) -> SubmitJob:
    if shape == AT_RUN_TIME:
        return _at_run_time(count)
    parents = SHAPES[shape](count)
    tasks = [_task(number, parents(number)) for number in range(count)]
    return SubmitJob.model_validate({"name": f"{shape} of {count:,}", "tasks": tasks})


def outputs_of(job: SubmitJob) -> dict[str, Any]:
    """Return what tasks make that others read, by task id."""
    listing = next((task for task in job.tasks if task.for_each), None)
    if listing is None:
        return {}
    return {_name(0): {"items": list(range(int(job.tags["items"])))}}


def _at_run_time(count: int) -> SubmitJob:
    """Make a job of two tasks, of which one returns a list and the other makes tasks of it."""
    made = {
        **_task(1, [0]),
        "forEach": f"${{tasks.{_name(0)}.output.items}}",
        "input": {"page": "${item}"},
    }
    return SubmitJob.model_validate(
        {
            "name": f"{AT_RUN_TIME} of {count:,}",
            "tags": {"items": str(count - 2)},
            "tasks": [_task(0, []), made],
        }
    )


def _task(number: int, parents: list[int]) -> dict[str, Any]:
    return {
        "taskId": _name(number),
        "name": DEFINITION,
        "dependsOn": [_name(parent) for parent in parents],
        "input": {"page": number},
    }


def _name(number: int) -> str:
    """Return names of one length, so that an item of a larger job is not larger for its names."""
    return f"task-{number:05}"
