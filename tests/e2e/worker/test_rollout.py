"""A new release while a job is in progress: old and new workers beside each other on one queue."""

import json
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from switchyard.contracts.jobs import JobView
from switchyard_cli.app import app
from switchyard_cli.wiring import real_services
from tests.e2e.conftest import PATIENCE_SECONDS, RunningCloud
from tests.e2e.documents import a_job, scripted
from tests.e2e.patience import eventually
from tests.e2e.workers import Worker, Workers
from tests.fakes.servers.ecs_metadata import EcsMachine, ecs_machine

pytestmark = pytest.mark.long  # six workers of two versions; each step has tests of its own

IMPATIENT = Path(__file__).parent / "impatient"
SLOTS = 2
TASKS = 16
TASK_IDS = [f"t{number}" for number in range(TASKS)]
STARTED = "Task Processing Started"
REPLACED = "worker is replaced: it finishes its tasks and takes no more"


class Service:
    """The deployed ECS service, of which the test plays the part that starts and stops tasks."""

    def __init__(self, cloud: RunningCloud) -> None:
        self._ecs = cloud.client("ecs")
        self._names = {
            "cluster": "switchyard-local-workers",
            "service": "switchyard-local-worker",
        }

    @property
    def release(self) -> str:
        """The primary deployment's."""
        cluster, service = self._names.values()
        found = self._ecs.describe_services(cluster=cluster, services=[service])["services"][0]
        (primary,) = (d for d in found["deployments"] if d["status"] == "PRIMARY")
        name: str = primary["taskDefinition"].rpartition("/")[2]
        return name

    def register(self, release: str) -> str:
        """Another revision of the same family, as a changed image would make one."""
        family = release.rpartition(":")[0]
        container = {"name": "worker", "image": "switchyard-worker:next", "memory": 512}
        answer = self._ecs.register_task_definition(family=family, containerDefinitions=[container])
        name: str = answer["taskDefinition"]["taskDefinitionArn"].rpartition("/")[2]
        return name

    def deploy(self, release: str) -> None:
        self._ecs.update_service(**self._names, taskDefinition=release)


@dataclass(frozen=True)
class Container:
    """A worker, and the machine that ECS gives it."""

    worker: Worker
    machine: EcsMachine

    @property
    def said(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.worker.log.splitlines() if line[:1] == "{"]

    @property
    def worker_id(self) -> str:
        found: str = next(line["worker_id"] for line in self.said if "worker_id" in line)
        return found

    @property
    def waits(self) -> list[dict[str, Any]]:
        return [line for line in self.said if line["message"] == REPLACED]

    def stop_once_unprotected(self) -> None:
        """Stop the worker as ECS does."""
        until(lambda: not self.machine.protected, "it is still protected")
        self.worker.signal(signal.SIGTERM)
        assert self.worker.exit_code() == 0, self.worker.log


@dataclass(frozen=True)
class RolledOut:
    job: JobView
    starts: dict[str, list[dict[str, Any]]]
    """The start events of each task."""
    old: list[Container]
    new: list[Container]
    during: dict[str, Any]
    """What `switchyard rollout --json` said while the old workers drained."""


def until(holds: Callable[[], bool], problem: str) -> None:
    eventually(lambda: holds() or None, problem, seconds=PATIENCE_SECONDS)


@contextmanager
def restored(service: Service) -> Iterator[str]:
    release = service.release
    try:
        yield release
    finally:
        service.deploy(release)


def asked(cloud: RunningCloud, *arguments: str) -> Any:
    outside = replace(real_services(), cloud=cloud.local)
    result = CliRunner().invoke(app, [*arguments, "--json"], obj=outside)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def starts_of(cloud: RunningCloud, job_id: str) -> dict[str, list[dict[str, Any]]]:
    return {
        task_id: [e for e in cloud.named_job(job_id, task_id) if e["eventType"] == STARTED]
        for task_id in TASK_IDS
    }


@pytest.fixture(scope="module")
def rolled_out(cloud: RunningCloud, workers: Workers) -> Iterator[RolledOut]:
    service = Service(cloud)
    with ExitStack() as machines, restored(service) as old_release:

        def start(release: str) -> Container:
            machine = machines.enter_context(ecs_machine(release))
            worker = workers.start(
                PYTHONPATH=str(IMPATIENT),
                MAX_CONCURRENT_CLAUDE=str(SLOTS),
                **machine.environment,
            )
            return Container(worker, machine)

        old = [start(old_release) for _ in range(2)]
        until(lambda: all(one.said for one in old), "the old workers do not start")
        job_id = cloud.submit(
            a_job(*({"taskId": task_id, **scripted(delayMs=3_000)} for task_id in TASK_IDS))
        )
        until(lambda: all(one.machine.protected for one in old), "the old workers are not busy")

        new_release = service.register(old_release)
        service.deploy(new_release)
        new = [start(new_release) for _ in range(2)]
        until(lambda: all(one.waits for one in old), "the old workers do not see it")
        during = while_draining(cloud)

        for one in old:
            one.stop_once_unprotected()
        job = cloud.settled(job_id)
        until(lambda: all(starts_of(cloud, job_id).values()), "start events are missing")
        yield RolledOut(job, starts_of(cloud, job_id), old, new, during)


def while_draining(cloud: RunningCloud) -> dict[str, Any]:
    def look() -> dict[str, Any] | None:
        found: dict[str, Any] = asked(cloud, "rollout")
        drained = [worker for worker in found["workers"] if worker["state"] == "draining"]
        return found if len(drained) == 2 else None

    return eventually(look, "their presence does not say it", seconds=PATIENCE_SECONDS)


def test_nothing_runs_twice_and_nothing_is_lost(rolled_out: RolledOut) -> None:
    assert rolled_out.job.status == "completed"
    assert {task.attempt for task in rolled_out.job.tasks} == {1}
    assert {task_id: len(found) for task_id, found in rolled_out.starts.items()} == dict.fromkeys(
        TASK_IDS, 1
    )


def test_the_log_agrees_with_the_state_table(cloud: RunningCloud, rolled_out: RolledOut) -> None:
    assert asked(cloud, "verify", rolled_out.job.job_id)["agree"]


def test_an_old_worker_takes_nothing_after_it_saw_that_it_is_replaced(
    rolled_out: RolledOut,
) -> None:
    """It says every second what it still runs, and a task takes three."""
    for one in rolled_out.old:
        first, *later = (set(line["tasks"]) for line in one.waits)
        assert later
        assert set().union(*later) <= first


def test_old_and_new_workers_share_the_job(rolled_out: RolledOut) -> None:
    ran = Counter(found["properties"]["workerId"] for (found,) in rolled_out.starts.values())
    assert all(ran[one.worker_id] for one in (*rolled_out.old, *rolled_out.new))
    assert ran.total() == TASKS


def test_an_old_worker_is_protected_until_its_last_task_is_done(rolled_out: RolledOut) -> None:
    for one in rolled_out.old:
        *asked_for, dropped = one.machine.protections
        assert asked_for
        assert None not in asked_for
        assert dropped is None


def test_a_person_sees_what_the_rollout_waits_for(rolled_out: RolledOut) -> None:
    during = rolled_out.during
    assert during["replacedWorkers"] == 2
    assert "of an older release" in during["summary"]
    drained = [worker for worker in during["workers"] if worker["state"] == "draining"]
    assert {worker["workerId"] for worker in drained} == {one.worker_id for one in rolled_out.old}
    assert during["currentRelease"] not in {worker["release"] for worker in drained}
