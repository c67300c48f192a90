"""The clock and new ids, for commands that must start at once: bootstrap imports boto3."""

from __future__ import annotations

from typing import TYPE_CHECKING

from switchyard.adapters.system import SystemClock, SystemIds

if TYPE_CHECKING:
    from switchyard.ports import Clock, Ids


def system_clock() -> Clock:
    return SystemClock()


def system_ids() -> Ids:
    return SystemIds()
