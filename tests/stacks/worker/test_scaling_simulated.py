"""What the synthesized alarms and steps do when metrics are late: a worker is woken, kept, stopped.

Simulated are CloudWatch, Application Auto Scaling, ECS and SQS, see `simulated_service.py`.
"""

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from tests.stacks.synthesized import SynthesizedStage
from tests.stacks.worker.simulated_scaling import MINUTE_S, Aggregation, autoscaling_of
from tests.stacks.worker.simulated_service import Metrics, Service

pytestmark = pytest.mark.parametrize("stage", ["dev", "prod"], indirect=True, scope="session")

HOUR_S: Final = 3_600
SENT_AT_S: Final = 20 * MINUTE_S  # the alarms have seen an empty queue before
PERIODS_TO_WAKE: Final = 2

Arrivals = tuple[tuple[int, int], ...]


def at_once(messages: int) -> Arrivals:
    return ((SENT_AT_S, messages),)


def each_minute(messages: int, minutes: int) -> Arrivals:
    return tuple((SENT_AT_S + minute * MINUTE_S, messages) for minute in range(minutes))


def bursts(messages: int, *, every_minutes: int) -> Arrivals:
    return tuple((SENT_AT_S + number * every_minutes * MINUTE_S, messages) for number in range(6))


SCENARIOS: Final = {
    **{
        f"{messages} messages at once, {task_s} s each": (at_once(messages), task_s)
        for messages in (1, 3, 20, 21, 60, 100)
        for task_s in (5, 45, 600, HOUR_S)
    },
    "1000 messages at once, 30 s each": (at_once(1_000), 30),
    "1000 messages at once, 300 s each": (at_once(1_000), 300),
    "1 message each minute, 20 s each": (each_minute(1, 30), 20),
    "7 messages each minute, 90 s each": (each_minute(7, 20), 90),
    "20 messages each minute, 240 s each": (each_minute(20, 15), 240),
    "bursts of 16 every 4 minutes": (bursts(16, every_minutes=4), 10),
    "bursts of 45 every 8 minutes": (bursts(45, every_minutes=8), 150),
    "bursts of 5 every 12 minutes": (bursts(5, every_minutes=12), 400),
    "a long tail": (((SENT_AT_S, 15), (SENT_AT_S + 4 * HOUR_S, 1)), 3 * HOUR_S),
}
QUIET_BETWEEN: Final = SCENARIOS["bursts of 16 every 4 minutes"]
ARRIVING: Final = {
    "90 s late": Metrics(),
    "none in flight is not reported": Metrics(reports_none_in_flight=False),
    "every fifth datapoint is missing": Metrics(missing=lambda minute: minute % 5 == 2),
    "two in a row are missing": Metrics(missing=lambda minute: minute % 11 in (3, 4)),
    "what is in flight is two minutes later": Metrics(in_flight_late_s=210),
    "two minutes late": Metrics(late_s=120, in_flight_late_s=120, reports_none_in_flight=False),
}


@dataclass(frozen=True)
class Simulation:
    synthesized: SynthesizedStage
    aggregation: Aggregation = "window"

    @cache  # noqa: B019  until the process ends, which is meant
    def run(self, arrivals: Arrivals, task_s: int, metrics: Metrics) -> Service:
        """Return the service at its end; several tests ask for the same one."""
        stage = self.synthesized.stage
        messages = sum(number for _, number in arrivals)
        alone_s = messages * task_s // stage.default_pool.slots  # if one worker had to do all of it
        patience_s = arrivals[-1][0] + alone_s + 3 * task_s + 2 * HOUR_S
        return Service(
            autoscaling_of(self.synthesized, self.aggregation),
            slots=stage.default_pool.slots,
            arrivals=arrivals,
            task_s=task_s,
            metrics=metrics,
        ).run(at_most_s=patience_s)

    def problems(self, arrivals: Arrivals, task_s: int, metrics: Metrics) -> list[str]:
        """Return what went wrong, as far as it must hold for any arrivals."""
        service = self.run(arrivals, task_s, metrics)
        return [
            *self._waking(service),
            *self._stopping(service),
            *self._ending(service, sum(number for _, number in arrivals), metrics),
        ]

    def _waking(self, service: Service) -> Iterator[str]:
        woken = next((change.at_s for change in service.changes if change.after > 0), math.inf)
        known = service.first_known_at_s
        if known is None or woken - known > PERIODS_TO_WAKE * MINUTE_S:
            yield f"readable at {known}, the first worker is wanted at {woken}"

    def _stopping(self, service: Service) -> Iterator[str]:
        if service.stopped_busy:
            yield f"{service.stopped_busy} busy workers were stopped"
        stage = self.synthesized.stage
        for change in service.changes:
            in_flight = change.known[-1][1]
            pool = stage.default_pool
            busy = min(math.ceil(in_flight / pool.slots), pool.max_workers)
            if change.after < min(busy, change.before):
                yield f"{in_flight} in flight, and {change.after} workers wanted"

    def _ending(self, service: Service, messages: int, metrics: Metrics) -> Iterator[str]:
        scaling = self.synthesized.stage.default_pool.scaling
        if service.done != messages:
            yield f"{service.done} of {messages} messages were handled"
        if not service.at_rest:
            yield f"{service.desired} workers are wanted in the end"
        if service.most_workers > scaling.max_workers:
            yield f"{service.most_workers} workers at once"
        gaps = 2 * MINUTE_S
        bound = scaling.scale_in_after_seconds + metrics.in_flight_late_s + 3 * MINUTE_S + gaps
        if service.now_s - service.last_done_at_s > bound:
            yield f"{service.now_s - service.last_done_at_s} s after the last message at rest"

    def early_reductions(self, arrivals: Arrivals, task_s: int, metrics: Metrics) -> list[str]:
        """Return where the number fell although more were needed within the window."""
        stage = self.synthesized.stage
        return [
            f"{change.before} to {change.after} at {change.at_s}: {change.known}"
            for change in self.run(arrivals, task_s, metrics).changes
            if change.after
            < max(
                stage.default_pool.scaling.workers_for(
                    waiting=waiting, in_flight=in_flight, slots=stage.default_pool.slots
                )
                for waiting, in_flight in change.known
            )
        ]


@pytest.mark.parametrize(
    ("scenario", "arriving"),
    [
        pytest.param(scenario, arriving, marks=pytest.mark.long if (number + turn) % 4 else ())
        for number, scenario in enumerate(SCENARIOS)
        for turn, arriving in enumerate(ARRIVING)
        if turn == 0 or (number + turn) % 3 == 0  # each with some, and each way with many
    ],
)
def test_a_worker_is_woken_no_busy_one_is_stopped_and_none_is_left(
    synthesized: SynthesizedStage, scenario: str, arriving: str
) -> None:
    """Woken within two periods of the first datapoint that counts a message being readable."""
    assert Simulation(synthesized).problems(*SCENARIOS[scenario], ARRIVING[arriving]) == []


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_fewer_workers_are_wanted_only_after_a_window_in_which_fewer_were_enough(
    synthesized: SynthesizedStage, scenario: str
) -> None:
    assert Simulation(synthesized).early_reductions(*SCENARIOS[scenario], Metrics()) == []


@pytest.mark.parametrize("scenario", [name for name in SCENARIOS if "at once" in name])
def test_for_one_backlog_the_number_rises_and_then_falls(
    synthesized: SynthesizedStage, scenario: str
) -> None:
    wanted = [
        change.after
        for change in Simulation(synthesized).run(*SCENARIOS[scenario], Metrics()).changes
    ]
    top = wanted.index(max(wanted))
    assert wanted[: top + 1] == sorted(wanted[: top + 1])
    assert wanted[top:] == sorted(wanted[top:], reverse=True)


@pytest.mark.parametrize(
    "scenario",
    [
        pytest.param(scenario, marks=pytest.mark.long if number % 4 else ())
        for number, scenario in enumerate(SCENARIOS)
    ],
)
def test_if_a_policy_were_given_the_newest_datapoint_alone_it_would_still_be_safe(
    synthesized: SynthesizedStage, scenario: str
) -> None:
    assert Simulation(synthesized, "newest").problems(*SCENARIOS[scenario], Metrics()) == []


def test_a_first_message_has_a_worker_within_five_minutes(synthesized: SynthesizedStage) -> None:
    service = Simulation(synthesized).run(at_once(1), 30, Metrics())
    assert service.last_done_at_s - 30 - SENT_AT_S <= 5 * MINUTE_S


def changed(
    synthesized: SynthesizedStage, folder: Path, change: Callable[[dict[str, Any]], None]
) -> SynthesizedStage:
    """Return the stage with another template of its consumer stack."""
    for file in synthesized.template_files():
        template = json.loads(file.read_text())
        if "consumer" in file.name:
            for resource in template["Resources"].values():
                change(resource)
        (folder / file.name).write_text(json.dumps(template))
    return SynthesizedStage(synthesized.stage, folder)


def with_expressions(resource: dict[str, Any], **expressions: str) -> None:
    for metric in resource["Properties"].get("Metrics", ()):
        if "Expression" in metric:
            metric["Expression"] = expressions.get(metric["Id"], metric["Expression"])


def as_it_was_first(resource: dict[str, Any]) -> None:
    """Both metrics filled in, one period, and one worker for twenty messages in all."""
    with_expressions(
        resource, messages="FILL(waiting, 0) + FILL(running, 0)", by_slots="messages / 20"
    )
    if "EvaluationPeriods" in resource["Properties"] and "AlarmName" not in resource["Properties"]:
        resource["Properties"] |= {"EvaluationPeriods": 1, "DatapointsToAlarm": 1}


def a_plain_sum(resource: dict[str, Any]) -> None:
    with_expressions(resource, messages="waiting + running")


def without_slots(resource: dict[str, Any]) -> None:
    with_expressions(resource, by_slots="messages / 20")


@pytest.mark.parametrize(
    ("defect", "arriving", "noticed"),
    [
        (as_it_was_first, "90 s late", "the first worker is wanted at inf"),
        (a_plain_sum, "none in flight is not reported", "the first worker is wanted at inf"),
        (without_slots, "90 s late", "workers wanted"),
    ],
)
def test_the_simulation_notices_a_policy_that_does_not_work(
    synthesized: SynthesizedStage,
    tmp_path: Path,
    defect: Callable[[dict[str, Any]], None],
    arriving: str,
    noticed: str,
) -> None:
    simulation = Simulation(changed(synthesized, tmp_path, defect))
    problems = simulation.problems(at_once(100), 600, ARRIVING[arriving])
    assert any(noticed in problem for problem in problems), problems


def test_the_simulation_notices_a_window_of_one_period(
    synthesized: SynthesizedStage, tmp_path: Path
) -> None:
    def one_period(resource: dict[str, Any]) -> None:
        if "DatapointsToAlarm" in resource["Properties"]:
            resource["Properties"] |= {"EvaluationPeriods": 1, "DatapointsToAlarm": 1}

    changes = (
        Simulation(changed(synthesized, tmp_path, one_period))
        .run(*QUIET_BETWEEN, Metrics())
        .changes
    )
    assert len(changes) > len(Simulation(synthesized).run(*QUIET_BETWEEN, Metrics()).changes)
