"""Conditions, approvals, waits and signals among the tasks of a random job."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from switchyard.domain.states import TaskKind
from tests.simulation.held import NO, YES, Form, Held, When
from tests.simulation.reference import Declared

HELD: Final = 0.15
CONDITIONAL: Final = 0.15
SOURCE, DETAIL_TYPE = "shop.orders", "Order Paid"
ANSWERS: Final = ((YES,), (NO,), (YES, NO), (YES, YES), ())
SECONDS: Final = (1, 20, 90)


def with_held(
    dice: random.Random, tasks: Sequence[Declared], known: Mapping[str, Declared]
) -> list[Declared]:
    """Let some of them be held and others be conditional; `known` are in the job already."""
    drawn: dict[str, Declared] = {}
    for task in tasks:
        held = None if task.list_of or task.inner or dice.random() > HELD else _held(dice)
        when = _when(dice, task, {**known, **drawn})
        drawn[task.task_id] = replace(task, held=held, when=when)
    return list(drawn.values())


def _held(dice: random.Random) -> Held:
    kind = dice.choice((TaskKind.APPROVAL, TaskKind.WAIT, TaskKind.SIGNAL))
    if kind is TaskKind.WAIT:
        return Held(kind, seconds=dice.choice(SECONDS))
    drawn = dice.choice(ANSWERS)
    answers = tuple(YES for _ in drawn) if kind is TaskKind.SIGNAL else drawn
    races = not answers or dice.random() < 0.3
    return Held(
        kind,
        seconds=dice.choice(SECONDS) if races else None,
        on_timeout=dice.choice(("fail", "approve", "reject")),
        on_reject=dice.choice(("complete", "fail")),
        answers=answers,
        by_event=kind is TaskKind.SIGNAL and dice.random() < 0.5,
    )


def _when(dice: random.Random, task: Declared, known: Mapping[str, Declared]) -> When | None:
    if not task.parents or dice.random() > CONDITIONAL:
        return None
    asked = [name for name in task.parents if name in known and _asks(known[name])]
    if asked and dice.random() < 0.8:
        return When(Form.APPROVED, dice.choice(asked))
    return When(dice.choice((Form.EXISTS, Form.IS_NULL, Form.IS_THERE)), dice.choice(task.parents))


def _asks(task: Declared) -> bool:
    return task.held is not None and task.held.kind is TaskKind.APPROVAL


def held_request(task: Declared) -> dict[str, Any]:
    """Return what a producer says of it, beside what every task has."""
    condition = {"when": task.when.text} if task.when else {}
    held = task.held
    if held is None:
        return condition
    said: dict[str, Any] = {"name": None, "kind": held.kind.value}
    if held.kind is TaskKind.WAIT:
        return condition | said | {"for": f"{held.seconds}s"}
    if held.seconds:
        said["timeout"] = f"{held.seconds}s"
    if held.kind is TaskKind.APPROVAL:
        said |= {"onTimeout": held.on_timeout, "onReject": held.on_reject, "question": "Go on?"}
    elif held.by_event:
        detail = {"order": ["${input.order}"]}
        said["event"] = {"source": [SOURCE], "detail-type": [DETAIL_TYPE], "detail": detail}
        said["input"] = {"order": task.task_id}
    return condition | said
