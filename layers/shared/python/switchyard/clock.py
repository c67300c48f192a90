"""The clock alone, for commands that must start at once: bootstrap imports boto3."""

from switchyard.adapters.system import SystemClock
from switchyard.ports import Clock


def system_clock() -> Clock:
    return SystemClock()
