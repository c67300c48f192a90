"""Measures how four real workers drain the bare messages that waited during an outage.

The last line is JSON. `messages_per_second` depend on the machine; `calls_per_message` are requests
to AWS from receive to delete, `messages_per_receive` how full the batches are, `busiest_share` how
many messages the busiest worker had for each that would have been its part.
"""

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import psutil

from benchmarks.output import say
from benchmarks.worker import NOT_A_TASKS, clock, cpu_seconds, wait_for, worker
from switchyard.domain.states import TaskState
from switchyard_local.environments import aws_environment
from switchyard_scenarios.harness.harness import Harness, a_harness
from switchyard_scenarios.harness.names import Names
from switchyard_scenarios.harness.place import Place, clients
from switchyard_scenarios.producer import Producer, ProducerSwitches
from tests.contract.clouds import on_ministack

WORKERS: Final = 4


def main(count: int) -> int:
    with tempfile.TemporaryDirectory() as name, on_ministack(Path(name) / "cloud") as cloud:
        place = _place(urlsplit(cloud.client("sqs").meta.endpoint_url).port or 0)
        with a_harness(place, Names.numbered(0), say=say) as harness:
            figures = measure(harness, count, Path(name))
    say(json.dumps(figures))
    return 0


def measure(harness: Harness, count: int, folder: Path) -> dict[str, Any]:
    say(f"Sending {count} messages, and then starting {WORKERS} workers")
    Producer(harness.place.client("sqs"), harness.queue_url, ProducerSwitches()).send(count)
    reports = [folder / f"worker-{number}" / "requests.json" for number in range(WORKERS)]
    began = clock.monotonic()
    with workers(harness, reports) as processes:
        wait_for(Draining(harness, count))
        took, cpu = clock.monotonic() - began, sum(map(cpu_seconds, processes))
    tasks = harness.tasks()
    completed = sum(task.state is TaskState.COMPLETED for task in tasks)
    if completed < count:
        raise SystemExit(f"only {completed} of {count} messages were handled")
    each = [Counter[str](json.loads(report.read_text())["calls"]) for report in reports]
    calls = sum(each, Counter[str]())
    say(f"{count} messages, {WORKERS} workers, {took:.1f} s")
    for operation, number in sorted(calls.items()):
        say(f"  {number / count:7.3f}  {operation}")
    return {
        "messages": count,
        "workers": WORKERS,
        "messages_per_second": round(count / took, 1),
        "calls_per_message": round(_of_messages(calls) / count, 2),
        "messages_per_receive": round(count / calls["ReceiveMessage"], 2),
        "cpu_ms_per_message": round(cpu * 1000 / count, 1),
        "busiest_share": round(max(map(_of_messages, each)) * WORKERS / _of_messages(calls), 2),
        "duplicates": sum(task.fence for task in tasks) - count,
    }


class Draining:
    """Return whether the queue is empty; print the progress every so often."""

    def __init__(self, harness: Harness, count: int) -> None:
        self._harness = harness
        self._tell_below = float(count)
        self._step = count / 10

    def __call__(self) -> bool:
        left = sum(self._harness.depth(self._harness.queue_url).values())
        if left < self._tell_below:
            say(f"  {left} messages left")
            self._tell_below = left - self._step
        return left == 0


@contextmanager
def workers(harness: Harness, reports: Sequence[Path]) -> Iterator[list[psutil.Process]]:
    with ExitStack() as stack:
        processes = []
        for report in reports:
            report.parent.mkdir()
            running = worker(harness.environment, report.parent, report)
            processes.append(stack.enter_context(running))
        yield processes


def _place(port: int) -> Place:
    environment = aws_environment(port)
    client = clients(
        endpoint_url=environment["AWS_ENDPOINT_URL"],
        region_name=environment["AWS_REGION"],
        aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
    )
    return Place(stage="local", client=client, environment=environment)


def _of_messages(calls: Counter[str]) -> int:
    return sum(number for name, number in calls.items() if name not in NOT_A_TASKS)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000))
