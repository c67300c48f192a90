"""A job that is a task makes the tasks of its template once, and ends as they do."""

from typing import Any

import pytest

from switchyard.domain.errors import InvalidDefinition, InvalidJob
from switchyard.domain.fan_out.plan import start_of
from switchyard.domain.states import JobState, TaskKind, TaskState
from tests.builders import TENANT
from tests.fakes.harnesses.job_harness import FAILED, Crash, crashing
from tests.fakes.harnesses.nested_harness import CHECK, DRAFT, NestedHarness

COMPLETED, READY, WAITING = TaskState.COMPLETED, TaskState.READY, TaskState.WAITING


@pytest.fixture
def harness() -> NestedHarness:
    return NestedHarness()


def test_the_tasks_of_the_template_run_in_their_order_and_make_the_output(
    harness: NestedHarness,
) -> None:
    harness.nest()
    assert harness.state("part") is WAITING
    assert harness.state("part[draft]") is TaskState.QUEUED
    assert harness.state("part[check]") is WAITING
    assert harness.input("part[draft]") == {"topic": "trains"}
    harness.complete("part[draft]", {"text": "of trains"})
    assert harness.state("part") is WAITING
    harness.complete("part[check]", True)
    assert harness.state("part") is COMPLETED
    assert harness.output("part") == {"text": "of trains", "ok": True}
    harness.complete("sum", None)
    assert harness.job_state() is JobState.COMPLETED
    assert harness.memory.state.jobs[harness.job].total_tasks == 5
    assert harness.emitted()["Task Expanded"] == 1


def test_its_tasks_keep_the_versions_that_the_template_was_registered_with(
    harness: NestedHarness,
) -> None:
    harness.template()
    scrape = harness.memory.definitions.latest(TENANT, ["scrape"])["scrape"].content
    newer = scrape.model_copy(update={"description": "Something else."})
    harness.memory.definitions.put(TENANT, "scrape", newer)
    harness.nest()
    assert harness.task("part[draft]").definition_version == 1
    harness.template()
    assert harness.memory.definitions.latest(TENANT, ["part"])["part"].version == 2


def test_without_an_output_it_is_what_the_last_tasks_made(harness: NestedHarness) -> None:
    other = {"taskId": "other", "name": "scrape"}
    harness.template(tasks=[DRAFT, CHECK, other], output=None)
    harness.nest()
    harness.complete("part[draft]", {"text": ""})
    harness.complete("part[check]", 1)
    harness.complete("part[other]", 2)
    assert harness.output("part") == {"check": 1, "other": 2}


def test_it_fails_if_one_of_its_tasks_does(harness: NestedHarness) -> None:
    harness.nest()
    harness.complete("part[draft]", None, FAILED)
    harness.deliver()
    assert harness.state("part[check]") is TaskState.SKIPPED
    assert harness.state("part") is TaskState.FAILED
    assert harness.error("part") == "1 of 2 tasks did not complete: part[draft]"
    assert harness.job_state() is JobState.FAILED


def test_a_skipped_task_is_no_failure(harness: NestedHarness) -> None:
    again = {**CHECK, "taskId": "again", "when": "${tasks.draft.output.bad}"}
    harness.template(tasks=[DRAFT, CHECK, again])
    harness.nest()
    harness.complete("part[draft]", {"text": "", "bad": False})
    harness.complete("part[check]", True)
    assert harness.state("part[again]") is TaskState.SKIPPED
    assert harness.state("part") is COMPLETED


def test_an_output_of_a_task_that_was_skipped_fails_it(harness: NestedHarness) -> None:
    again = {**CHECK, "taskId": "again", "when": "${tasks.draft.output.bad}"}
    harness.template(tasks=[DRAFT, again], output="${tasks.again.output}")
    harness.nest()
    harness.complete("part[draft]", {"text": "", "bad": False})
    assert harness.error("part") == (
        "output: ${tasks.again.output} has no value: 'again' did not complete"
    )


def test_what_the_input_brings_in_refers_to_nothing(harness: NestedHarness) -> None:
    harness.begin()
    harness.complete("list", {"topic": "${tasks.draft.output}"})
    assert harness.input("part[draft]") == {"topic": "$${tasks.draft.output}"}


@pytest.mark.parametrize("rule", ["any_completed", "all_settled", "none_failed", "any_failed"])
@pytest.mark.parametrize("fails", [False, True])
def test_rules_look_at_the_tasks_of_the_template_alone(
    harness: NestedHarness, rule: str, *, fails: bool
) -> None:
    harness.template(tasks=[DRAFT, {**CHECK, "rule": rule, "input": None}], output=1)
    harness.nest()
    harness.complete("part[draft]", {"text": ""}, *([FAILED] if fails else []))
    runs = rule == "all_settled" or (rule == "any_failed") == fails
    assert harness.state("part[check]") is (TaskState.QUEUED if runs else TaskState.SKIPPED)


@pytest.mark.parametrize(
    ("listed", "more", "said"),
    [
        ({}, {}, "input: ${tasks.list.output.topic} has no value: output has no member 'topic'"),
        (
            {"topic": 7},
            {"inputSchema": {"type": "object", "properties": {"topic": {"type": "string"}}}},
            "input: does not match the template's inputSchema: $.topic: 7 is not of type 'string'",
        ),
        (
            {"topic": 7},
            {"tasks": [{**DRAFT, "input": "${input.other}"}], "output": None},
            "input of draft: ${input.other} has no value: input has no member 'other'",
        ),
    ],
)
def test_an_input_that_does_not_fit_makes_nothing(
    harness: NestedHarness, listed: Any, more: dict[str, Any], said: str
) -> None:
    harness.template(**more)
    harness.begin()
    harness.complete("list", listed)
    assert harness.state("part") is TaskState.FAILED
    assert harness.error("part") == said
    assert harness.items() == []


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(
    "call", ["intake.write_part", "fan_outs.note_expanded", "fan_outs.open", "fan_outs.gather"]
)
def test_a_crash_anywhere_is_made_good_once(
    harness: NestedHarness, call: str, *, after: bool
) -> None:
    harness.begin()
    place, _, name = call.partition(".")
    owner = getattr(harness.memory, place)
    original = getattr(owner, name)
    setattr(owner, name, crashing(original, after=after))
    with pytest.raises(Crash):
        harness.run_part()
    setattr(owner, name, original)
    harness.wake("part", by_event=False)
    harness.wake(start_of(harness.task("part")).task_id, by_event=False)
    harness.work_off()
    for task_id, made in (("part[draft]", {"text": "of trains"}), ("part[check]", True)):
        if not harness.state(task_id).settled:
            harness.complete(task_id, made)
    harness.wake("part", by_event=False)
    assert harness.output("part") == {"text": "of trains", "ok": True}
    assert harness.memory.state.jobs[harness.job].total_tasks == 5
    assert harness.emitted()["Task Expanded"] == 1
    assert harness.queued() >= {"sum"}


def test_a_task_of_each_item_of_a_list_may_be_a_job(harness: NestedHarness) -> None:
    harness.nest(forEach="${tasks.list.output.items}", input={"topic": "${item}"}, tolerate=1)
    assert harness.task("part[1]").kind is TaskKind.JOB
    assert harness.input("part[1][draft]") == {"topic": "b"}
    harness.complete("part[0][draft]", None, FAILED)
    harness.complete("part[1][draft]", {"text": "of b"})
    harness.complete("part[1][check]", True)
    assert harness.output("part") == [None, {"text": "of b", "ok": True}]
    assert harness.emitted()["Job Failure Detected"] == 0


def test_a_fan_out_of_a_template_takes_its_list_from_the_input(harness: NestedHarness) -> None:
    each = {"taskId": "each", "name": "scrape", "forEach": "${input.list}", "input": "${item}"}
    over = {**each, "taskId": "over", "forEach": "${tasks.each.output}", "dependsOn": ["each"]}
    harness.template(
        tasks=[{**each, "input": {"one": "${item}"}}, over], output="${tasks.over.output}"
    )
    harness.nest(input={"list": "${tasks.list.output.items}"})
    assert harness.input("part[each][1]") == {"one": "b"}
    for number in (0, 1):
        harness.complete(f"part[each][{number}]", number * 5)
    for number in (0, 1):
        assert harness.input(f"part[over][{number}]") == number * 5
        harness.complete(f"part[over][{number}]", number)
    assert harness.output("part") == [0, 1]


def test_jobs_are_three_levels_deep_at_most(harness: NestedHarness) -> None:
    harness.template("inner")
    nested = {"taskId": "in", "kind": "job", "name": "inner", "input": {"topic": "${input.topic}"}}
    harness.template(tasks=[nested], output="${tasks.in.output}")
    harness.nest()
    harness.complete("part[in][draft]", {"text": "deep"})
    harness.complete("part[in][check]", 1)
    assert harness.output("part") == {"text": "deep", "ok": 1}
    with pytest.raises(InvalidDefinition, match="outer → part → inner are 3 jobs in one another"):
        harness.template("outer", tasks=[{**nested, "name": "part"}], output=None)
    with pytest.raises(InvalidDefinition, match="'inner' cannot be a part of itself"):
        harness.template("inner", tasks=[nested], output=None)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"name": "scrape"}, "'scrape' is of kind agent; kind: job needs a definition of kind job"),
        ({"kind": None}, "'part' is the template of a job; write kind: job beside its name"),
    ],
)
def test_templates_and_what_workers_run_are_not_mixed_up(
    harness: NestedHarness, more: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidJob, match=said):
        harness.begin(**more)
