"""The local cloud: MiniStack with our stacks in it, and a worker beside it."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NoReturn

from switchyard.clock import system_clock
from switchyard.domain.measuring.scaling import ScalingPolicy
from switchyard.domain.scheduling.pools import DEFAULT_POOL, WhenEmpty
from switchyard_local.deployment.api import api_serves
from switchyard_local.deployment.deployed import read_outputs, worker_container
from switchyard_local.deployment.deployer import Deployer
from switchyard_local.emulator.gateway import Gateway
from switchyard_local.emulator.ministack import MiniStack
from switchyard_local.emulator.port_choice import chosen_port
from switchyard_local.endpoint import Endpoint, recall
from switchyard_local.errors import CloudError
from switchyard_local.functions.invoke import Invoked, function_environment, invoke
from switchyard_local.home import Home
from switchyard_local.interrupts import signals_interrupt
from switchyard_local.lock import held
from switchyard_local.processes.roster import Roster
from switchyard_local.running import running_endpoint
from switchyard_local.say import Say
from switchyard_local.sharing import Sharing
from switchyard_local.source_tree import default_folder, deployable_sources
from switchyard_local.workers.environment import agent_of, container_environment
from switchyard_local.workers.fleet import WorkerFleet
from switchyard_local.workers.functions import (
    add_functions,
    forget_missing,
    functions_environment,
    remember_functions,
)
from switchyard_local.workers.pools import (
    GRACE_SECONDS,
    LocalPool,
    first_role,
    pool_named,
    run_all,
    supervisor_of,
    work_in_foreground,
)
from switchyard_local.workers.process import ROLE, WorkerProcess


@dataclass(frozen=True)
class Status:
    port: int
    ministack_pid: int | None
    worker_pid: int | None
    api_url: str | None
    healthy: bool
    """Both processes run, and the API accepts its key and refuses requests without it."""

    @property
    def running(self) -> bool:
        return self.ministack_pid is not None


class LocalCloud:
    """A local cloud, one per folder. Every method may be called in any state of it, and may raise
    `CloudError`."""

    def __init__(
        self,
        folder: Path | None = None,
        *,
        port: int | None = None,
        extra_environment: Mapping[str, str] | None = None,
    ) -> None:
        """Use the data in `folder`, or else in that of `default_folder`.

        `extra_environment` reaches MiniStack, hence every Lambda function, and the worker."""
        self._home = Home((folder or default_folder()).resolve())
        self._sharing = Sharing(self._home.users, self._home.temporary_cloud)
        self._asked_port = port
        self._extra_environment = extra_environment or {}
        self._clock = system_clock()

    def up(self, say: Say, *, functions: Sequence[str] | None = None) -> Endpoint:
        """Start or update what is missing or outdated, to stay. On failure or interruption whatever
        this call started is ended again; the `CloudError` says what to do.

        `functions` are the packages that workers serve from now on; `None` changes nothing."""
        if functions is not None:
            remember_functions(self._home.functions_file, functions)
        forget_missing(self._home.functions_file, say)
        before = self._worker.pid
        endpoint = self._bring_up(say)
        if before is not None and before == self._worker.pid:
            say(f"The worker runs already, with {agent_of(self._deployed_environment())}")
        self._sharing.keep()
        return endpoint

    def borrowed(self, say: Say, *, functions: Sequence[str] = ()) -> AbstractContextManager[bool]:
        """Run the cloud within the block; then restore what was, unless another command uses it.

        Yields whether it will be stopped. Workers serve the packages of `functions`, too, from now
        on; one takes the place of another with the same name.
        """
        if functions:
            add_functions(self._home.functions_file, functions)
        forget_missing(self._home.functions_file, say)
        return self._sharing.borrowed(
            say, running=lambda: self._ministack.running, up=self._bring_up, down=self.down
        )

    def down(self, say: Say) -> None:
        """End everything; the data stays for the next `up`. Being interrupted hurries it."""
        if not self._home.folder.exists():
            return
        with self._alone(say), signals_interrupt(), ExitStack() as in_any_case:
            in_any_case.callback(self._sharing.keep)
            in_any_case.callback(self._home.remove_temporary)
            in_any_case.callback(self._deployer.take_down, say)
            self._worker.stop(say)

    def status(self) -> Status:
        known = recall(self._home.cloud_file)
        ministack_pid, worker_pid = self._ministack.pid, self._worker.pid
        return Status(
            port=self._port,
            ministack_pid=ministack_pid,
            worker_pid=worker_pid,
            api_url=known.endpoint.api_url if known and ministack_pid else None,
            healthy=bool(ministack_pid and worker_pid and known and api_serves(known.endpoint)),
        )

    def require_worker(self) -> None:
        """Raise `CloudError` when no worker runs."""
        if self._worker.pid is None:
            raise CloudError(
                "The local cloud's worker has ended, so no task goes on. "
                f"Its log: {self._worker.log}. `switchyard up` starts another."
            )

    def endpoint(self) -> Endpoint:
        """Return the endpoint of the running cloud."""
        return running_endpoint(self._home)

    def supervise(self, policy: ScalingPolicy, say: Say) -> None:
        """Start and stop workers with the backlog, until interrupted or until the cloud is stopped.

        Those beside the first are gone afterwards.
        """
        with self.borrowed(say), self._as_the_supervisor(), signals_interrupt():
            pools = self._pools()
            supervisors = [
                supervisor_of(pool, policy, self._fleet(say, pool.name), self._clock, say)
                for pool in pools
            ]
            try:
                run_all(supervisors, self._clock)
            except KeyboardInterrupt:
                say("Stopping all workers but the first: they finish or hand back their tasks")
            except CloudError:
                if self._ministack.running:
                    raise
                say("The local cloud was stopped, and its workers with it")
            finally:
                for pool, supervisor in zip(pools, supervisors, strict=True):
                    is_first = pool.name == DEFAULT_POOL or pool.starts_with_the_cloud
                    supervisor.stop(keep=1 if is_first else 0)

    def work(self, pool: str, say: Say, *, read: Callable[[str], None]) -> int:
        """Run one more worker of a pool until its groups are empty; return its exit code.

        `read` is called with each line of its log.
        """
        with self.borrowed(say), signals_interrupt():
            deployed = pool_named(self._pools(), pool).environment
            worker = self._worker_in(first_role(pool))
            batch_run = {**deployed, "WHEN_EMPTY": WhenEmpty.TERMINATE.value}
            return work_in_foreground(self._root, worker.environment(batch_run), read=read)

    def invoke(self, function: str, event: bytes) -> Invoked:
        """Run the handler on this machine, with the environment of the deployed function."""
        endpoint = self.endpoint()
        return invoke(
            self._root,
            function,
            event,
            environment=function_environment(self._home, endpoint.port, function),
            log=self._home.log(f"invoke-{function}"),
            clock=self._clock,
        )

    def _bring_up(self, say: Say) -> Endpoint:
        self._home.create()
        with self._alone(say), signals_interrupt(), ExitStack() as undo:
            if not self._ministack.running:
                self._worker.stop(say)
            deployment = self._deployer.bring_up(say, undo)
            self._ensure_worker(say, undo)
            undo.pop_all()
        return deployment.endpoint

    def _alone(self, say: Say) -> AbstractContextManager[None]:
        return held(
            self._home.lock,
            when_waiting=lambda: say("Waiting for another command on the same local cloud"),
        )

    def _ensure_worker(self, say: Say, undo: ExitStack) -> None:
        pools = self._pools()
        deployed = pools[0].environment
        if self._worker.serves(deployed):
            self._ensure_others(pools, undo)
            return
        self._worker.stop(say)
        say(f"Starting the worker with {agent_of(deployed)}")
        undo.callback(self._worker.stop, say)
        self._worker.start(deployed)
        self._worker.wait_until_it_speaks()
        self._ensure_others(pools, undo)

    def _ensure_others(self, pools: Sequence[LocalPool], undo: ExitStack) -> None:
        """Start the first workers of other pools, and do not wait for them."""
        roster = Roster(self._home.processes_file)
        for pool in pools:
            worker = self._worker_in(first_role(pool.name))
            wanted = pool.name != DEFAULT_POOL and pool.starts_with_the_cloud
            if not wanted or worker.serves(pool.environment):
                continue
            roster.end(worker.name, grace_seconds=GRACE_SECONDS)
            undo.callback(roster.end, worker.name, grace_seconds=0)
            worker.start(pool.environment)

    def _deployed_environment(self, pool: str = DEFAULT_POOL) -> dict[str, str]:
        return dict(pool_named(self._pools(), pool).environment)

    def _pools(self) -> list[LocalPool]:
        """Return the deployed pools, the default one first."""
        outputs, gateway = read_outputs(self._home.outputs_file), Gateway(self._port)
        served = functions_environment(self._home.functions_file)
        return [
            LocalPool(
                container_environment(worker_container(gateway, definition), os.environ) | served
            )
            for definition in outputs.worker_task_definitions
        ]

    def _as_the_supervisor(self) -> AbstractContextManager[None]:
        def refuse() -> NoReturn:
            raise CloudError("Another command supervises the workers of this local cloud already.")

        return held(self._home.supervisor, when_waiting=refuse)

    def _fleet(self, say: Say, pool: str) -> WorkerFleet:
        return WorkerFleet(
            pool=pool,
            roster=Roster(self._home.processes_file),
            gateway=Gateway(self._port),
            deployed=lambda: self._deployed_environment(pool),
            worker=self._worker_in,
            alone=lambda: self._alone(say),
            cloud_runs=lambda: self._ministack.running,
        )

    @cached_property
    def _root(self) -> Path:
        return deployable_sources(self._home.folder)

    @cached_property
    def _port(self) -> int:
        known = recall(self._home.cloud_file)
        last_used = known.endpoint.port if known else None
        return self._asked_port or chosen_port(os.environ, last_used)

    @cached_property
    def _ministack(self) -> MiniStack:
        extra = self._extra_environment
        return MiniStack(self._home, self._port, clock=self._clock, extra_environment=extra)

    @cached_property
    def _worker(self) -> WorkerProcess:
        return self._worker_in(ROLE)

    def _worker_in(self, role: str) -> WorkerProcess:
        return WorkerProcess(
            self._root,
            self._home,
            self._port,
            clock=self._clock,
            extra_environment=self._extra_environment,
            role=role,
        )

    @cached_property
    def _deployer(self) -> Deployer:
        return Deployer(self._root, self._home, self._port, self._ministack)
