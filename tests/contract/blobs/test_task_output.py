"""The contract of `TaskOutput`: the lines that a task printed."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from switchyard.adapters.cloudwatch_logs import CloudWatchTaskOutput
from switchyard.adapters.system import SystemClock
from switchyard.contracts.worker_log import mark_of, printed_in
from switchyard.ports import TaskOutput
from switchyard_local.workers.log import WorkerLogFile
from tests.contract.clouds import Cloud
from tests.unit.cli.fakes.stage import FakeTaskOutput

TASK, ANOTHER = "job-1__scrape", "job-1__scrape-more"
GROUP, STREAM = "/switchyard/dev/worker", "worker/1"

Print = Callable[..., None]


def logged(task: str, text: str) -> str:
    return json.dumps({"level": "INFO", "message": f"{mark_of(task)} {text}"})


def in_a_file(folder: Path) -> tuple[TaskOutput, Print]:
    file = folder / "worker.log"

    def log(*lines: str) -> None:
        with file.open("a") as log:
            log.writelines(f"{line}\n" for line in lines)

    return WorkerLogFile(file, TASK), log


def in_cloudwatch(cloud: Cloud) -> tuple[TaskOutput, Print]:
    logs: Any = cloud.client("logs")
    group = cloud.fresh(GROUP)
    logs.create_log_group(logGroupName=group)
    logs.create_log_stream(logGroupName=group, logStreamName=STREAM)
    began = SystemClock().now_ms()
    times = iter(range(began, began + 100))

    def log(*lines: str) -> None:
        events = [{"timestamp": next(times), "message": line} for line in lines]
        logs.put_log_events(logGroupName=group, logStreamName=STREAM, logEvents=events)

    return CloudWatchTaskOutput(logs, group, TASK, since_ms=began), log


def in_memory() -> tuple[TaskOutput, Print]:
    fake = FakeTaskOutput()

    def log(*lines: str) -> None:
        printed = (printed_in(line, TASK) for line in lines)
        fake.lines.append([line for line in printed if line is not None])

    return fake, log


@pytest.fixture(params=["memory", "file", "moto", "ministack"])
def printing(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[TaskOutput, Print]:
    match request.param:
        case "memory":
            return in_memory()
        case "file":
            return in_a_file(tmp_path)
    return in_cloudwatch(request.getfixturevalue(request.param))


def test_a_task_that_has_printed_nothing_has_no_news(printing: tuple[TaskOutput, Print]) -> None:
    output, _ = printing
    assert output.news() == []


def test_lines_are_returned_in_order_and_once(printing: tuple[TaskOutput, Print]) -> None:
    output, log = printing
    log(logged(TASK, "one"), logged(TASK, "two"), logged(TASK, "one"))
    assert output.news() == ["one", "two", "one"]
    assert output.news() == []
    log(logged(TASK, "three"))
    assert output.news() == ["three"]
    assert output.news() == []


def test_only_what_the_task_printed_is_returned(printing: tuple[TaskOutput, Print]) -> None:
    output, log = printing
    log(
        logged(ANOTHER, "not ours"),
        json.dumps({"message": f"the worker quotes {mark_of(TASK)} itself"}),
        f"no JSON, but {mark_of(TASK)} in it",
        logged(TASK, 'with "quotes" and [brackets]'),
    )
    assert output.news() == ['with "quotes" and [brackets]']
