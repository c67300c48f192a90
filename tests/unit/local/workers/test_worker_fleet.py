"""The local cloud's workers: which there are, and how another comes."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from switchyard.ports import QueueDepth
from switchyard_local.errors import CloudError
from switchyard_local.processes.roster import Roster
from switchyard_local.processes.started import StartedProcess
from switchyard_local.workers.fleet import GET_QUEUE_ATTRIBUTES, WorkerFleet

DEPLOYED = {"MAX_CONCURRENT_CLAUDE": "3", "SQS_QUEUE_URL": "http://127.0.0.1/tasks"}


@dataclass
class FakeWorker:
    name: str
    pid: int | None
    given: list[Mapping[str, str]] = field(default_factory=list)

    @property
    def running(self) -> bool:
        return self.pid is not None

    def start(self, deployed: Mapping[str, str]) -> None:
        self.pid = 8
        self.given.append(deployed)


@dataclass
class FakeGateway:
    asked: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)

    def call(self, target: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        self.asked.append((target, arguments))
        waiting, hidden = arguments["AttributeNames"]
        return {"Attributes": {waiting: "7", hidden: "2"}}


class Stand:
    def __init__(self, folder: Path, **workers: bool) -> None:
        self.workers = {
            name.replace("_", "-"): FakeWorker(name.replace("_", "-"), 7 if runs else None)
            for name, runs in workers.items()
        }
        self.cloud_runs = True
        self.alone = False
        self.gateway = FakeGateway()
        roster = Roster(folder / "processes.json")
        for role in (*self.workers, "ministack"):
            roster.enter(role, StartedProcess(1, 0.0))
        self.fleet = WorkerFleet(
            roster=roster,
            gateway=self.gateway,  # type: ignore[arg-type]
            deployed=lambda: DEPLOYED,
            worker=self.worker,  # type: ignore[arg-type]
            alone=self.locked,
            cloud_runs=lambda: self.alone and self.cloud_runs,
        )

    def worker(self, role: str) -> FakeWorker:
        return self.workers.setdefault(role, FakeWorker(role, pid=None))

    @contextmanager
    def locked(self) -> Iterator[None]:
        self.alone = True
        yield
        self.alone = False


def test_those_that_run_are_present(tmp_path: Path) -> None:
    stand = Stand(tmp_path, worker=True, worker_2=False, worker_3=True)
    assert [worker.name for worker in stand.fleet.present()] == ["worker", "worker-3"]


@pytest.mark.parametrize(
    ("running", "role"),
    [
        ({}, "worker"),
        ({"worker": True}, "worker-2"),
        ({"worker": True, "worker_2": True}, "worker-3"),
        ({"worker": True, "worker_2": False, "worker_3": True}, "worker-2"),
        ({"worker": False, "worker_2": True}, "worker"),
    ],
)
def test_another_takes_the_first_place_that_is_free(
    running: dict[str, bool], role: str, tmp_path: Path
) -> None:
    stand = Stand(tmp_path, **running)
    stand.fleet.present()
    assert stand.fleet.start().name == role
    assert stand.workers[role].given == [DEPLOYED]


def test_one_that_another_command_started_meanwhile_is_as_good(tmp_path: Path) -> None:
    stand = Stand(tmp_path, worker=True)
    stand.fleet.present()
    stand.workers["worker"].pid = 9
    assert stand.fleet.start().name == "worker"
    assert stand.workers["worker"].given == []
    assert stand.fleet.start().name == "worker-2"


def test_none_is_started_once_the_cloud_was_stopped(tmp_path: Path) -> None:
    stand = Stand(tmp_path)
    stand.cloud_runs = False
    with pytest.raises(CloudError, match="was stopped"):
        stand.fleet.start()
    assert not any(worker.given for worker in stand.workers.values())


def test_the_depth_is_that_of_the_task_queue(tmp_path: Path) -> None:
    stand = Stand(tmp_path)
    assert stand.fleet.depth() == QueueDepth(waiting=7, hidden=2)
    ((target, asked),) = stand.gateway.asked
    assert (target, asked["QueueUrl"]) == (GET_QUEUE_ATTRIBUTES, DEPLOYED["SQS_QUEUE_URL"])


def test_a_worker_does_as_much_at_once_as_was_deployed(tmp_path: Path) -> None:
    assert Stand(tmp_path).fleet.slots == 3
