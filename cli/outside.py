"""What commands touch beyond their arguments and the terminal. Tests hand in their own."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import httpx
import typer

from local.cloud import Status
from local.endpoint import Endpoint
from local.invoking import Invoked
from local.say import Say
from switchyard.domain.measuring.scaling import ScalingPolicy
from switchyard.ports import Clock, Consumption, TaskOutput
from switchyard.usecases.access.api_keys import KeyMove, KeyRing
from switchyard.usecases.access.tenants import TenantOperator
from switchyard.usecases.health.check_tasks import TaskChecker
from switchyard.usecases.health.examine_stage import Examiner
from switchyard.usecases.health.watch_rollout import RolloutWatch
from switchyard.usecases.letters.kept_letters import KeptLetters
from switchyard.usecases.letters.watch_letter import LetterWatch
from switchyard.usecases.measuring.measure import Measurer
from switchyard.usecases.triggers.operate_triggers import TriggerOperator


class Cloud(Protocol):
    """The local cloud. Every method may raise `CloudError`, a sentence for the user."""

    def up(self, say: Say) -> Endpoint: ...

    def down(self, say: Say) -> None: ...

    def borrowed(self, say: Say) -> AbstractContextManager[bool]:
        """Up within the block; yields whether it will be stopped once nobody uses it."""

    def status(self) -> Status: ...

    def require_worker(self) -> None:
        """Raise `CloudError` when nobody is there to do the tasks."""

    def supervise(self, policy: ScalingPolicy, say: Say) -> None:
        """Workers come and go with the backlog, until interrupted or until it is stopped."""

    def invoke(self, function: str, event: bytes) -> Invoked:
        """Run a function's handler here, with the environment that it has there."""

    def endpoint(self) -> Endpoint:
        """Raise `CloudError` when it is not running."""


@dataclass(frozen=True)
class Outside:
    environment: Mapping[str, str]
    clock: Clock
    new_key: Callable[[], str]
    """An idempotency key that nobody has used."""
    cloud: Cloud
    worker_output: Path
    """Where the local cloud's worker leaves its files, a folder per request."""
    deployed_url: Callable[[str], str]
    """The API's URL of a deployed stage. Raises `SwitchyardError`."""
    api_keys: Callable[[str, Endpoint | None], AbstractContextManager[KeyRing]]
    """The keys of a stage; the local one is at its endpoint.

    Raises `SwitchyardError`, within the block too."""
    key_move: Callable[[str, Endpoint | None], AbstractContextManager[KeyMove]]
    """Moves the keys of an older stage into their own table; otherwise as `api_keys`."""
    kept_letters: Callable[[str, Endpoint | None], AbstractContextManager[KeptLetters]]
    """What a stage keeps because nobody could handle it; otherwise as `api_keys`."""
    letter_watch: Callable[[str, Endpoint | None], AbstractContextManager[LetterWatch]]
    """Sees what becomes of those that are sent again; otherwise as `api_keys`."""
    consumption: Callable[[str, Endpoint | None], AbstractContextManager[Consumption]]
    """The brake of a stage's workers; otherwise as `api_keys`."""
    triggers: Callable[[str, Endpoint | None], AbstractContextManager[TriggerOperator]]
    """The triggers of a stage, with their rules; otherwise as `api_keys`."""
    tenants: Callable[[str, Endpoint | None], AbstractContextManager[TenantOperator]]
    """What operators allow the tenants of a stage; otherwise as `api_keys`."""
    task_output: Callable[[str, Endpoint | None, str, int], AbstractContextManager[TaskOutput]]
    """What a task of a stage prints, by its request id and from a time on; as `api_keys`."""
    checker: Callable[[str, Endpoint | None], AbstractContextManager[TaskChecker]]
    """Looks at the running tasks of a stage; otherwise as `api_keys`."""
    measurer: Callable[[str, Endpoint | None], AbstractContextManager[Measurer]]
    """Measures a stage; otherwise as `api_keys`."""
    rollout: Callable[[str, Endpoint | None], AbstractContextManager[RolloutWatch]]
    """Looks at the releases of a stage's workers; otherwise as `api_keys`."""
    examiner: Callable[[str, str, Endpoint | None], Examiner]
    """Of a stage, with the option that its commands need; the local one is at its endpoint."""
    transport: httpx.BaseTransport | None = None
    """Instead of the network."""


def outside_of(context: typer.Context) -> Outside:
    outside: Outside = context.obj
    return outside
