"""All attacks that are tried, by group."""

from typing import Final

from tests.security.attack import Attack
from tests.security.attacks import disk, files, key, limits, logs, loop, users
from tests.security.attacks.loop import nested_unevaluated

TASK_ATTACKS: Final[tuple[Attack, ...]] = (
    *files.ATTACKS,
    *users.ATTACKS,
    *limits.ATTACKS,
    *disk.ATTACKS,
    *loop.ATTACKS,
    *key.ATTACKS,
    *logs.ATTACKS,
)
"""Attacks that are programs of a task's child."""


def attack_named(name: str) -> Attack:
    return next(attack for attack in TASK_ATTACKS if attack.name == name)


__all__ = ["TASK_ATTACKS", "attack_named", "nested_unevaluated"]
