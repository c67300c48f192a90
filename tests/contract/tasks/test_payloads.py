"""The contract of `Payloads`: inputs and outputs of tasks."""

import json
from dataclasses import replace
from typing import Any

import pytest

from switchyard.adapters.dynamodb.payloads import MAX_INLINE
from switchyard.domain.errors import TooMuch
from switchyard.domain.jobs.plan import Pinned, plan_job
from switchyard.domain.prompts.artifacts import RESULT_FILE
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Outcome, Payload
from switchyard.ports import Claimed
from tests.builders import JOB, NOW_MS, a_plan, specs
from tests.contract.conftest import Backend

PREFIX = "task/logs/x/1/"


@pytest.mark.parametrize(
    "value",
    [
        None,
        0,
        1.0,
        "",
        "ü",
        [],
        {"a": {"b": [1, 2.5, None]}},
        {"n": 1e300},
        {"text": "x" * 50_000},
        {"text": "é\u2028" * 900_000},
    ],
    ids=lambda value: json.dumps(value)[:20],
)
def test_an_input_comes_back_as_it_was(backend: Backend, value: Any) -> None:
    backend.intake.write(
        plan_job(
            JOB,
            name="n",
            tags={},
            specs=specs({"a": [], "b": ["a"]}, b=value),
            pinned={"scrape": Pinned(1)},
            now_ms=NOW_MS,
        )
    )
    stored = backend.payloads.read(JOB.task("b"))
    assert (stored.depends_on, json.dumps(stored.input)) == (("a",), json.dumps(value))


def test_a_task_without_data_has_an_empty_payload(backend: Backend) -> None:
    assert backend.payloads.read(JOB.task("nobody")) == Payload()
    assert backend.payloads.outputs(JOB, ["nobody"]) == {}


def test_ten_thousand_parents_come_back_as_they_were(backend: Backend) -> None:
    """The names of the parents are more than an item takes."""
    names = tuple(f"a-parent-with-a-rather-long-name-{n:04d}" for n in range(10_000))
    task, payload = JOB.task("b"), Payload(input={"n": 1}, depends_on=names)
    backend.intake.write(replace(a_plan(), payloads={"b": payload}))
    assert backend.payloads.read(task) == payload
    assert backend.payloads.read_many([task]) == {"b": payload}


def test_what_has_expired_in_the_bucket_is_missed_by_nobody_who_asks_for_the_rest(
    backend: Backend,
) -> None:
    large = Payload(input={"text": "x" * 9_000}, depends_on=("a",))
    backend.intake.write(replace(a_plan(), payloads={"b": large}))
    for key in [*backend.blobs.keys("task/")]:
        backend.blobs.delete(key)
    left = backend.payloads.read_what_is_left(JOB.task("b"))
    assert (left.depends_on, left.input in (None, large.input)) == (("a",), True)
    assert backend.payloads.read_what_is_left(JOB.task("nobody")) == Payload()


def test_many_payloads_are_read_together(backend: Backend) -> None:
    """More than one request may ask for, some in the bucket, some that nobody wrote."""
    inputs = {f"t{n}": {"n": n, "text": "x" * (9_000 if n % 20 == 0 else 9)} for n in range(101)}
    given = {name: Payload(input=value) for name, value in inputs.items()}
    backend.intake.write(replace(a_plan(), payloads=given))
    refs = [JOB.task(name) for name in [*inputs, "nobody"]]
    assert backend.payloads.read_many(refs) == {**given, "nobody": Payload()}
    assert backend.payloads.read_many([]) == {}


@pytest.mark.parametrize("size", [MAX_INLINE - 2, MAX_INLINE - 1, 3_000_000])
def test_an_output_of_any_size_comes_back_as_it_was(backend: Backend, size: int) -> None:
    """Up to `MAX_INLINE` in the item, above it from the file that the worker uploaded."""
    plan = plan_job(
        JOB,
        name="n",
        tags={},
        specs=specs({"a": []}),
        pinned={"scrape": Pinned(1)},
        now_ms=NOW_MS,
    )
    queued = [replace(task, state=TaskState.QUEUED) for task in plan.tasks]
    backend.intake.write(replace(plan, tasks=tuple(queued)))
    output = "x" * size  # and two quotes
    result = f"{PREFIX}{RESULT_FILE}"
    backend.blobs.put(result, json.dumps(output).encode(), content_type="application/json")
    claimed = backend.leases.claim(JOB.task("a"), owner="w", now_ms=NOW_MS, lease_ms=1000)
    assert isinstance(claimed, Claimed)
    completed = Outcome(state=TaskState.COMPLETED, artifacts=PREFIX)
    backend.leases.settle(claimed.lease, completed, output=output, now_ms=NOW_MS)
    assert backend.payloads.read(JOB.task("a")).output == output
    assert backend.payloads.outputs(JOB, ["a"]) == {"a": output}
    with pytest.raises(TooMuch, match="more than 10 bytes together"):
        backend.payloads.outputs(JOB, ["a"], max_bytes=10)
    assert backend.payloads.outputs(JOB, ["a"], max_bytes=size + 2) == {"a": output}


@pytest.mark.parametrize("count", [1, 50])
def test_the_files_of_a_task_come_back_as_they_were(backend: Backend, count: int) -> None:
    """Fifty patterns of two hundred characters are more than an item takes."""
    files = tuple(f"draft/{number:02}-{'ü' * 190}" for number in range(count))
    payload = Payload(input={"n": 1}, files=files, artifacts=files[:1])
    backend.intake.write(replace(a_plan(), payloads={"b": payload}))
    assert backend.payloads.read(JOB.task("b")) == payload


def test_the_number_of_a_jobs_files_comes_back_and_is_absent_where_there_are_none(
    backend: Backend,
) -> None:
    plan = a_plan()
    with_files = replace(plan.job, file_count=3)
    backend.intake.write(replace(plan, job=with_files))
    found = backend.jobs.find(JOB)
    assert found is not None
    assert found.file_count == 3
    assert plan.job.file_count is None
