"""Jobs of every shape, as their producers declare them."""

import random
from collections.abc import Callable, Sequence
from typing import Any, Final

from switchyard.contracts.jobs import SubmitJob
from switchyard.domain.states import Rule
from tests.simulation.jobs import FANS_OUT, NESTED, NESTS, RULES, TEMPLATE
from tests.simulation.reference import Declared
from tests.simulation.scripted.held import held_request

Shape = Callable[[random.Random, int], list[Declared]]

LAYERS: Final = 3
FEW: Final = (0, 1, 1, 2, 3)


def tangle(dice: random.Random, size: int) -> list[Declared]:
    """Each follows a few of those before it."""
    tasks: list[Declared] = []
    for name in _names(size):
        tasks.append(following(dice, name, [task.task_id for task in tasks]))
    return tasks


def chain(dice: random.Random, size: int) -> list[Declared]:
    names = _names(size)
    return [
        _declared(dice, name, tuple(names[max(number - 1, 0) : number]))
        for number, name in enumerate(names)
    ]


def fan(dice: random.Random, size: int) -> list[Declared]:
    """One, then all the others at once, then one again."""
    first, *many = _names(size)
    last = many.pop() if len(many) > 1 else None
    spread = [_declared(dice, name, (first,)) for name in many]
    end = [_declared(dice, last, tuple(many))] if last else []
    return [Declared(first), *spread, *end]


def layers(dice: random.Random, size: int) -> list[Declared]:
    """Each follows most of the layer before it."""
    width = max(size // LAYERS, 1)
    names = _names(size)
    tasks = []
    for number, name in enumerate(names):
        begin = number // width * width
        before = names[max(begin - width, 0) : begin]
        parents = dice.sample(before, dice.randint(min(1, len(before)), len(before)))
        tasks.append(_declared(dice, name, tuple(sorted(parents))))
    return tasks


SHAPES: Final[Sequence[Shape]] = (tangle, chain, fan, layers)


def following(dice: random.Random, name: str, known: Sequence[str]) -> Declared:
    parents = dice.sample(known, min(len(known), dice.choice(FEW)))
    return _declared(dice, name, tuple(parents))


def requests(tasks: Sequence[Declared]) -> list[dict[str, Any]]:
    return [_request(task) for task in tasks]


def _request(task: Declared) -> dict[str, Any]:
    over = {
        "forEach": f"${{tasks.{task.list_of}.output.items}}",
        "input": "${item}",
        "tolerate": task.tolerate,
    }
    return {
        "taskId": task.task_id,
        "name": "scrape",
        "dependsOn": list(task.parents),
        "rule": task.rule.value,
        **(over if task.list_of else {}),
        **held_request(task),
        **(NESTED if task.inner else {}),
    }


def job_of(tasks: Sequence[Declared], *, name: str = "drawn") -> SubmitJob:
    return SubmitJob.model_validate({"name": name, "tasks": requests(tasks)})


def _declared(dice: random.Random, name: str, parents: tuple[str, ...]) -> Declared:
    rule = dice.choice(RULES) if parents else Rule.ALL_COMPLETED
    if parents and dice.random() < FANS_OUT:
        return Declared(name, parents, rule, dice.choice(parents), dice.choice((0, 1, 7)))
    if dice.random() < NESTS:
        return Declared(name, parents, rule, inner=_inner(name))
    return Declared(name, parents, rule)


def _inner(name: str) -> tuple[Declared, ...]:
    """Return the tasks of the template of all jobs that are tasks."""
    return tuple(
        Declared(f"{name}[{inner}]", tuple(f"{name}[{one}]" for one in parents), rule)
        for inner, parents, rule in TEMPLATE
    )


def _names(size: int) -> list[str]:
    return [f"t{number}" for number in range(size)]
