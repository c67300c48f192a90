"""The services that commands use: the local cloud, the stages and the clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import typer

from switchyard_cli.interrupts import raise_on_ctrl_c

if TYPE_CHECKING:
    import httpx

    from switchyard.domain.measuring.scaling import ScalingPolicy
    from switchyard.ports import Clock, PauseSwitch, TaskOutput
    from switchyard.usecases.access.api_keys import KeyMove, KeyRing
    from switchyard.usecases.access.erase_tenant import TenantEraser
    from switchyard.usecases.access.tenants import TenantOperator
    from switchyard.usecases.dead_letters.parked_messages import ParkedMessages
    from switchyard.usecases.dead_letters.watch_redrive import RedriveWatch
    from switchyard.usecases.health.check_tasks import TaskChecker
    from switchyard.usecases.health.examine_stage import Examiner
    from switchyard.usecases.health.watch_rollout import RolloutWatch
    from switchyard.usecases.measuring.measure import Measurer
    from switchyard.usecases.scheduling.survey_pools import PoolSurvey
    from switchyard.usecases.triggers.operate_triggers import TriggerOperator
    from switchyard_local.cloud import Status
    from switchyard_local.endpoint import Endpoint
    from switchyard_local.functions.invoke import Invoked
    from switchyard_local.say import Say


class Cloud(Protocol):
    """The local cloud. Every method may raise `CloudError`, a sentence for the user."""

    def up(self, say: Say, *, functions: Sequence[str] | None = None) -> Endpoint:
        """Start it or update it; `functions` are the packages that workers serve from now on."""

    def down(self, say: Say) -> None: ...

    def borrowed(self, say: Say, *, functions: Sequence[str] = ()) -> AbstractContextManager[bool]:
        """Keep it up within the block; yield whether it will be stopped after its last user.

        Workers serve the packages of `functions`, too, from now on.
        """

    def status(self) -> Status: ...

    def require_worker(self) -> None:
        """Raise `CloudError` when no worker runs."""

    def supervise(self, policy: ScalingPolicy, say: Say) -> None:
        """Workers come and go with the backlog, until interrupted or until it is stopped."""

    def work(self, pool: str, say: Say, *, read: Callable[[str], None]) -> int:
        """Run a worker until its pool has no work; return its exit code.

        `read` is called with each line of its log.
        """

    def invoke(self, function: str, event: bytes) -> Invoked:
        """Run a function's handler here, with the environment that it has there."""

    def endpoint(self) -> Endpoint:
        """Raise `CloudError` when it is not running."""


@dataclass(frozen=True)
class Services:
    environment: Mapping[str, str]
    clock: Clock
    new_key: Callable[[], str]
    """Return a new idempotency key."""
    cloud: Cloud
    worker_output: Path
    """The folder of the files of the local cloud's worker, with a folder for each request."""
    deployed_url: Callable[[str], str]
    """The API's URL of a deployed stage. Raises `SwitchyardError`."""
    api_keys: Callable[[str, Endpoint | None], AbstractContextManager[KeyRing]]
    """The keys of a stage; the local one is at its endpoint.

    Raises `SwitchyardError`, within the block too."""
    key_move: Callable[[str, Endpoint | None], AbstractContextManager[KeyMove]]
    """Moves the keys of an older stage into their own table; otherwise as `api_keys`."""
    parked_messages: Callable[[str, Endpoint | None], AbstractContextManager[ParkedMessages]]
    """The parked messages of a stage; otherwise as `api_keys`."""
    redrive_watch: Callable[[str, Endpoint | None], AbstractContextManager[RedriveWatch]]
    """Observes whether a redriven message is handled; otherwise as `api_keys`."""
    pause_switch: Callable[[str, Endpoint | None], AbstractContextManager[PauseSwitch]]
    """Pauses and resumes the workers of a stage; otherwise as `api_keys`."""
    pools: Callable[[str, Endpoint | None], AbstractContextManager[PoolSurvey]]
    """Surveys the pools of a stage and changes what they serve; otherwise as `api_keys`."""
    triggers: Callable[[str, Endpoint | None], AbstractContextManager[TriggerOperator]]
    """The triggers of a stage, with their rules; otherwise as `api_keys`."""
    tenants: Callable[[str, Endpoint | None], AbstractContextManager[TenantOperator]]
    """The settings of the tenants of a stage, which operators make; otherwise as `api_keys`."""
    eraser: Callable[[str, Endpoint | None], AbstractContextManager[TenantEraser]]
    """Erases tenants of a stage; otherwise as `api_keys`."""
    task_output: Callable[[str, Endpoint | None, str, int], AbstractContextManager[TaskOutput]]
    """The output of a task of a stage, by its request id and from a time on; as `api_keys`."""
    checker: Callable[[str, Endpoint | None], AbstractContextManager[TaskChecker]]
    """Looks at the running tasks of a stage; otherwise as `api_keys`."""
    measurer: Callable[[str, Endpoint | None], AbstractContextManager[Measurer]]
    """Measures a stage; otherwise as `api_keys`."""
    rollout: Callable[[str, Endpoint | None], AbstractContextManager[RolloutWatch]]
    """Looks at the releases of a stage's workers; otherwise as `api_keys`."""
    examiner: Callable[[str, str, Endpoint | None], Examiner]
    """Examines a stage; its commands need the option, and the local stage is at the endpoint."""
    transport: httpx.BaseTransport | None = None
    """Replaces the network in tests."""


def services_of(context: typer.Context) -> Services:
    """Return the services of a test, or build the real ones at their first use."""
    root = context.find_root()
    if root.obj is None:
        from switchyard_cli.wiring import real_services  # noqa: PLC0415 - it imports almost all

        root.obj = real_services()
        raise_on_ctrl_c()  # from here on, clean up first
    services: Services = root.obj
    return services
