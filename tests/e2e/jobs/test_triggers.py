"""Jobs that start by themselves: real rules on both buses, one job per event."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import yaml

from switchyard.bootstrap.operators import stage_triggers
from switchyard.contracts.parked_messages import ParkedMessage
from switchyard.contracts.triggers import BusEvent, Trigger, TriggerRun
from switchyard.usecases.triggers.operate_triggers import TriggerOperator
from switchyard_cli.files.trigger_file import read_triggers
from tests.e2e.conftest import ROOT, RunningCloud
from tests.e2e.failures.foreign_messages import define, parked_messages
from tests.e2e.patience import eventually

EXAMPLE = ROOT / "examples" / "triggers.yaml"


@contextmanager
def operating(cloud: RunningCloud) -> Iterator[TriggerOperator]:
    with stage_triggers("local", **cloud.aws) as operator:
        yield operator


@pytest.fixture(scope="module", autouse=True)
def example(cloud: RunningCloud) -> None:
    document = yaml.safe_load(EXAMPLE.read_text())
    for name, definition in document["definitions"].items():
        define(cloud, name, **definition)
    with operating(cloud) as operator:
        for declared in read_triggers(EXAMPLE).content.triggers:
            operator.apply("local", declared.trigger)


def bucket_of(cloud: RunningCloud) -> str:
    return cloud.output("infrastructure", "ArtifactsBucketName")


def jobs_named(cloud: RunningCloud, name: str) -> list[str]:
    with cloud.http as http:
        page = http.get("/jobs", params={"limit": 100}).json()
    return [job["jobId"] for job in page["jobs"] if job["name"] == name]


def last_run(cloud: RunningCloud, name: str) -> TriggerRun | None:
    with operating(cloud) as operator:
        return operator.find("local", name).last_run


@contextmanager
def told_three_times(cloud: RunningCloud, rule: str) -> Iterator[None]:
    """Two more targets, so that each event of the rule comes three times, the very same."""
    events = cloud.client("events")
    (target,) = events.list_targets_by_rule(Rule=rule)["Targets"]
    again = [target | {"Id": f"again-{n}"} for n in range(2)]
    events.put_targets(Rule=rule, Targets=again)
    try:
        yield
    finally:
        events.remove_targets(Rule=rule, Ids=[one["Id"] for one in again])


@contextmanager
def nobody_reads(cloud: RunningCloud) -> Iterator[None]:
    functions = cloud.client("lambda")
    found = functions.list_event_source_mappings(FunctionName="switchyard-local-start-triggered")
    (mapping,) = found["EventSourceMappings"]
    functions.update_event_source_mapping(UUID=mapping["UUID"], Enabled=False)
    try:
        yield
    finally:
        functions.update_event_source_mapping(UUID=mapping["UUID"], Enabled=True)


def waiting(cloud: RunningCloud) -> tuple[int, int]:
    url = cloud.client("sqs").get_queue_url(QueueName="switchyard-local-trigger-queue")["QueueUrl"]
    return cloud.messages(url)


def everything_is_handled(cloud: RunningCloud) -> None:
    eventually(lambda: waiting(cloud) == (0, 0) or None, "the trigger queue is not drained")


def test_an_upload_starts_its_job_once_though_its_event_comes_three_times(
    cloud: RunningCloud,
) -> None:
    key, bucket = "uploads/orders of monday.csv", bucket_of(cloud)
    with told_three_times(cloud, "switchyard-local-local.uploads"), nobody_reads(cloud):
        cloud.client("s3").put_object(Bucket=bucket, Key=key, Body=b"a,b,c")
        eventually(lambda: waiting(cloud) == (3, 0) or None, "it was not told three times")
    everything_is_handled(cloud)

    (job_id,) = jobs_named(cloud, f"upload to {bucket}")
    view = cloud.settled(job_id)
    assert view.status == "completed"
    assert view.tags == {"bucket": bucket, "trigger": "uploads"}
    read = cloud.task(job_id, "read")
    assert (read.input["key"], read.input["size"]) == (key, 5)
    assert cloud.task(job_id, "digest").input == {"about": "${tasks.read.output.summary}"}
    run = last_run(cloud, "uploads")
    assert run is not None
    assert (run.job_id, run.error) == (job_id, None)


def test_what_the_worker_writes_starts_nothing(cloud: RunningCloud) -> None:
    with operating(cloud) as operator:
        everything = {"bus": "default", "pattern": {"source": ["aws.s3"]}}
        operator.apply("local", a_report("greedy", on=everything))
    try:
        job_id = fired(cloud, "morning-digest", day="2026-11-16")
        assert cloud.settled(job_id).status == "completed"
        everything_is_handled(cloud)
        assert jobs_named(cloud, "greedy") == []
    finally:
        with operating(cloud) as operator:
            operator.remove("local", "greedy")


def a_report(name: str, *, on: dict[str, Any], definition: str = "write-digest") -> Trigger:
    tasks = [{"taskId": "digest", "name": definition}]
    return Trigger.model_validate({"name": name, "on": on, "job": {"name": name, "tasks": tasks}})


def fired(cloud: RunningCloud, name: str, *, day: str) -> str:
    """The job of a schedule that was due in the morning of that day."""
    event_id = f"morning-of-{day}"
    event = {"id": event_id, "time": f"{day}T07:00:00Z", "detail": {}}
    with operating(cloud) as operator:
        envelope = BusEvent.model_validate(event)
        operator.fire("local", name, event=envelope, text=json.dumps(event))

    def look() -> str | None:
        run = last_run(cloud, name)
        return run.job_id if run and run.event_id == event_id else None

    return eventually(look, f"{name} has not started a job for {event_id}")


def test_a_trigger_on_our_bus_starts_for_others_and_not_for_itself(cloud: RunningCloud) -> None:
    completed = {"eventType": ["Job Completed"]}
    on_jobs = {"bus": "switchyard", "pattern": {"detail": completed}, "chained": True}
    with operating(cloud) as operator:
        operator.apply("local", a_report("afterwards", on=on_jobs))
    try:
        first = fired(cloud, "morning-digest", day="2026-11-17")
        assert cloud.settled(first).status == "completed"
        (report,) = eventually(lambda: jobs_named(cloud, "afterwards") or None, "no job followed")
        tags = cloud.settled(report).tags
        assert tags == {"trigger": "afterwards", "trigger-path": "morning-digest"}
        eventually(lambda: told_completed(cloud, report) or None, "its end was not told")
        everything_is_handled(cloud)
        assert jobs_named(cloud, "afterwards") == [report]
    finally:
        with operating(cloud) as operator:
            operator.remove("local", "afterwards")


def told_completed(cloud: RunningCloud, job_id: str) -> bool:
    with cloud.http as http:
        asked = {"entity": job_id, "type": "job-completed"}
        return bool(http.get("/events", params=asked).json()["events"])


def test_a_refused_event_is_parked_and_starts_its_job_once_the_cause_is_fixed(
    cloud: RunningCloud,
) -> None:
    never = {"bus": "default", "pattern": {"source": ["nobody"]}}
    with operating(cloud) as operator:
        operator.apply("local", a_report("hopeful", on=never, definition="{{event.detail}}"))
        event = BusEvent(id="early", time="2026-11-16T07:00:00Z")
        text = json.dumps(event.model_dump() | {"detail": "not-yet-known"})
        operator.fire("local", "hopeful", event=event, text=text)

    def refused() -> str | None:
        run = last_run(cloud, "hopeful")
        return run.error if run else None

    reason = eventually(refused, "nothing was noted")
    assert "'not-yet-known' is not a registered task definition" in reason
    letters = parked_messages(cloud)
    (stored,) = [
        letter for letter in letters.newest(1000) if getattr(letter, "reason", "") == reason
    ]
    assert isinstance(stored, ParkedMessage)
    assert stored.send_to == "switchyard-local-trigger-queue"

    define(cloud, "not-yet-known")
    letters.redrive(stored)
    (job_id,) = eventually(lambda: jobs_named(cloud, "hopeful") or None, "it was not started")
    assert cloud.settled(job_id).status == "completed"
