"""The pools of the local cloud: their workers' roles, environments and processes."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

from switchyard.domain.measuring.scaling import ScalingPolicy
from switchyard.domain.scheduling.pools import DEFAULT_POOL, WhenEmpty
from switchyard.ports import Clock
from switchyard_local.errors import CloudError
from switchyard_local.say import Say
from switchyard_local.workers.process import ROLE, is_worker
from switchyard_local.workers.supervisor import STEP_SECONDS, Supervisor

if TYPE_CHECKING:
    from switchyard_local.workers.fleet import WorkerFleet

GRACE_SECONDS: Final = 10.0


@dataclass(frozen=True)
class LocalPool:
    """A pool as the deployed environment of its workers describes it."""

    environment: Mapping[str, str]

    @property
    def name(self) -> str:
        return self.environment.get("POOL", DEFAULT_POOL)

    @property
    def starts_with_the_cloud(self) -> bool:
        """Whether a worker of it is there from the start; others come with their first task."""
        return bool(self._row.get("min_workers", 0))

    @property
    def hibernates(self) -> bool:
        return self.environment.get("WHEN_EMPTY") == WhenEmpty.HIBERNATE

    @property
    def policy(self) -> ScalingPolicy:
        row = self._row
        up, down = row["scale_up_threshold"], row["scale_down_threshold"]
        return ScalingPolicy(
            min_workers=row["min_workers"],
            max_workers=row["max_workers"],
            target_per_worker=up,
            kept_per_worker=down if down < up else None,
            scale_out_cooldown_seconds=row["scale_out_cooldown_seconds"],
            scale_in_after_seconds=row["scale_in_after_seconds"],
        )

    @property
    def _row(self) -> Mapping[str, int]:
        rows = json.loads(self.environment.get("POOLS", "[]"))
        return next((row["pool"] for row in rows if row["pool"]["name"] == self.name), {})


def first_role(pool: str) -> str:
    """Name the role of a pool's first worker; the default pool's is as before pools."""
    return ROLE if pool == DEFAULT_POOL else f"{ROLE}-{pool}"


def roles_of(pool: str) -> Iterator[str]:
    """Name the roles of a pool's workers, without an end."""
    yield first_role(pool)
    between = "-" if pool == DEFAULT_POOL else "."  # a pool's name has no dot
    yield from (f"{first_role(pool)}{between}{number}" for number in count(2))


def is_role_of(pool: str, role: str) -> bool:
    if pool != DEFAULT_POOL:
        return role.partition(".")[0] == first_role(pool)
    return role == ROLE or (is_worker(role) and role.removeprefix(f"{ROLE}-").isdecimal())


def pool_named(pools: Sequence[LocalPool], name: str) -> LocalPool:
    for pool in pools:
        if pool.name == name:
            return pool
    known = ", ".join(pool.name for pool in pools)
    raise CloudError(f"There is no pool '{name}'. The pools of the local cloud are {known}.")


def supervisor_of(
    pool: LocalPool, policy: ScalingPolicy, fleet: "WorkerFleet", clock: Clock, say: Say
) -> Supervisor:
    """Scale the default pool by the policy that was asked for, others by their own."""
    is_default = pool.name == DEFAULT_POOL
    return Supervisor(
        policy if is_default else pool.policy,
        start=fleet.start,
        depth=fleet.depth,
        slots=fleet.slots,
        clock=clock,
        say=say if is_default else lambda line: say(f"{pool.name}: {line}"),
        present=fleet.present(),
        hibernates=pool.hibernates,
    )


def run_all(supervisors: Sequence[Supervisor], clock: Clock) -> None:
    """Supervise all pools until something is raised, such as an interruption."""
    while True:
        for supervisor in supervisors:
            supervisor.step()
        clock.sleep(STEP_SECONDS)


def work_in_foreground(
    root: Path, environment: Mapping[str, str], *, read: Callable[[str], None]
) -> int:
    """Run a worker until it ends, and pass on the lines of its log; return its exit code.

    An interruption stops it: it finishes its tasks, or hands them back.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "switchyard_worker"],
        cwd=root,
        env={**environment, "PYTHONUNBUFFERED": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    if process.stdout is None:  # it is a pipe, as asked for
        raise CloudError("The worker's output cannot be read.")
    try:
        _read_all(process, read)
    except KeyboardInterrupt:
        process.send_signal(signal.SIGTERM)
        _read_all(process, read)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    return process.wait()


def _read_all(process: "subprocess.Popen[str]", read: Callable[[str], None]) -> None:
    for line in process.stdout or ():
        read(line)
    process.wait()
