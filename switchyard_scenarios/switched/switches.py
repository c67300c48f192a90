"""The faults that a scenario can cause in a worker, by environment variable.

These are read by `python -m switchyard_scenarios.worker` alone: a production worker knows none of
them.
"""

from enum import StrEnum
from pathlib import Path
from typing import Literal

from pydantic import Field, PositiveFloat, PositiveInt
from pydantic_settings import BaseSettings, SettingsConfigDict


class CrashPoint(StrEnum):
    """The points in the handling of a message at which a worker can die."""

    WORKING = "working"
    """The worker dies at the first renewal of its lease, while the child still runs."""
    BEFORE_EFFECT = "before-effect"
    """The work is done, and not yet recorded."""
    AFTER_EFFECT = "after-effect"
    """The downstream effect is there, but the task is not settled."""
    AFTER_SETTLING = "after-settling"
    """The work is settled, but the message is not deleted."""


class WorkerSwitches(BaseSettings):
    model_config = SettingsConfigDict(frozen=True, extra="ignore")

    journal_file: Path
    message_status_table: str
    message_completed_table: str
    entities_table: str = ""
    """The table of entities; if given, versioned messages are applied to their entities."""

    crash_rate: float = Field(default=0.0, ge=0, le=1)
    """The share of messages that kill their worker."""
    crash_on_first: bool = False
    """The first attempt at a message kills its worker; later ones do not."""
    crash_at: CrashPoint = CrashPoint.BEFORE_EFFECT
    crash_only: str = ""
    """The beginning of the ids of messages that can kill."""

    no_delete_after_process: bool = False
    receive_visibility_seconds: PositiveInt | None = None
    """The seconds for which a received message is hidden, instead of what the lease calls for."""
    visibility_extension_seconds: PositiveInt | None = None
    """The seconds for which an extension hides a message, instead of what the lease calls for."""
    extend_every_n: PositiveInt = 1
    """The worker asks for every n-th extension of a message only."""
    message_limit: PositiveInt | None = None
    """The number of messages after which the worker takes no more, finishes and ends."""
    stale_after_seconds: PositiveFloat | None = None
    """The age from which on a message is stale."""
    stale_messages: Literal["process", "discard"] = "process"
    """A stale message that is discarded is reported as FAILED, and not handled."""

    planted: str = ""
    """A defect on purpose, by its name in `switchyard_scenarios/switched/defects.py`."""
