"""A task definition as text, always in the same way, so that two of them can be compared."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from switchyard.contracts.definitions import TaskDefinition

NAME_AND_VERSION = {"name", "version"}


def canonical_yaml(definition: TaskDefinition) -> str:
    """Return the definition as YAML, in the order of the documentation; defaults are left out."""
    said = definition.model_dump(
        mode="json", by_alias=True, exclude=NAME_AND_VERSION, exclude_defaults=True
    )
    return yaml.safe_dump(said, sort_keys=False, allow_unicode=True, width=100)


def differences(old: tuple[str, TaskDefinition], new: tuple[str, TaskDefinition]) -> Iterable[str]:
    """Lines of a unified diff between two that are called so; none if they say the same."""
    return difflib.unified_diff(
        canonical_yaml(old[1]).splitlines(),
        canonical_yaml(new[1]).splitlines(),
        fromfile=old[0],
        tofile=new[0],
        lineterm="",
    )
