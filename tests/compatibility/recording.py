"""Runs use cases at the version at hand; collects what crosses processes or outlives them."""

import contextlib
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, Final

from tests.compatibility import use_cases
from tests.compatibility.answers import api_of, ask_for_everything
from tests.compatibility.novelties import Watch
from tests.compatibility.other_items import OtherItems
from tests.compatibility.stage import Moment, Stage, stable
from tests.simulation.run import silence
from tests.simulation.weather import drawn

STORMS: Final = (3, 11, 12)
"""Seeds of stages in which much goes wrong, for what a calm one never stores."""


@dataclass
class Recording:
    watch: Watch = field(default_factory=Watch)
    moments: dict[str, Moment] = field(default_factory=dict)
    ends: dict[str, str] = field(default_factory=dict)
    """How every job of the moments ended."""
    answers: list[dict[str, Any]] = field(default_factory=list)
    log: list[Any] = field(default_factory=list)
    """The events of one job."""


def record(*, storms: bool = True) -> Recording:
    recording = Recording()
    with silence():
        _calm(recording)
        for seed in STORMS if storms else ():
            _stormy(recording, seed)
    return recording


def _calm(recording: Recording) -> None:
    with contextlib.closing(Stage()) as stage, use_cases.small_limits():
        recording.watch.over(stage)
        for seconds, name, step in use_cases.STEPS:
            step(stage)
            stage.pass_time(seconds)
            recording.moments[name] = stage.save()
        stage.settle()
        use_cases.redrive(stage)
        stage.pass_time(3.0)
        recording.moments["redriving"] = stage.save()
        stage.settle()
        assert not stage.bugs, stage.bugs
        recording.ends = stage.ends()
        _beside_the_jobs(recording, stage)
        recording.log = _log_of(stage, "brand")
        with api_of(stage) as api:
            ask_for_everything(api)
            recording.answers = api.answers


def _beside_the_jobs(recording: Recording, stage: Stage) -> None:
    others = OtherItems(stage)
    others.write()
    for queue, body in others.messages():
        recording.watch.note_message(queue, SimpleNamespace(body=body, attributes={}))
    for name in ("definitions", "state"):
        for item in stage.cloud.dynamodb.items(getattr(stage.cloud, name)):
            recording.watch.note(item)
    recording.watch.note_bucket(stage.cloud.s3.objects)


def _stormy(recording: Recording, seed: int) -> None:
    with contextlib.closing(Stage(seed)) as stage, use_cases.small_limits():
        stage.weather = drawn(stage.dice)
        recording.watch.over(stage)
        stage.cloud._sky.weather = stage.weather
        use_cases.first_jobs(stage)
        use_cases.later_jobs(stage)
        for _ in range(6):
            stage.world.after(stage.dice.uniform(30, 200), stage.change)
        stage.run(jobs=2, storm_seconds=300.0)
        recording.watch.note_bucket(stage.cloud.s3.objects)


def _log_of(stage: Stage, name: str) -> list[Any]:
    job = use_cases.named(stage, name).job_id
    items = stage.cloud.dynamodb.items(stage.cloud.events)
    return [stable(item) for item in items if item["entityId"]["S"].startswith(job)]
