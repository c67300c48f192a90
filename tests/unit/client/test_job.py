"""A job, described in Python: what is sent, and what cannot be."""

import pytest

from switchyard.client import Job, UnusableJob
from switchyard.contracts.wire import Wire
from switchyard.domain.prompts.references import references_in
from switchyard.domain.states import Rule


def sent(request: Wire) -> object:
    return request.model_dump(mode="json", by_alias=True, exclude_unset=True)


def test_handles_say_what_comes_after_what() -> None:
    job = Job("brand", tags={"team": "web"})
    store = job.task("store", name="scrape-store", input={"url": "https://shop.example"})
    colors = job.task("colors", after=[store])
    job.task("result", after=[colors, "store"], rule=Rule.ALL_SETTLED)

    assert sent(job.submission()) == {
        "name": "brand",
        "tags": {"team": "web"},
        "tasks": [
            {"taskId": "store", "name": "scrape-store", "input": {"url": "https://shop.example"}},
            {"taskId": "colors", "name": "colors", "dependsOn": ["store"]},
            {
                "taskId": "result",
                "name": "result",
                "dependsOn": ["colors", "store"],
                "rule": "all_settled",
            },
        ],
    }


def test_a_fan_out_runs_over_what_another_task_returns() -> None:
    job = Job("review")
    listed = job.task("list")
    reviews = job.fan_out(
        "review", listed.output("files"), input={"path": "${item}"}, after=[listed], tolerate="5 %"
    )
    job.task("report", input=reviews.output(), after=[reviews])
    assert sent(job.submission().tasks[1]) == {
        "taskId": "review",
        "name": "review",
        "input": {"path": "${item}"},
        "dependsOn": ["list"],
        "forEach": '${tasks.list.output["files"]}',
        "tolerate": "5 %",
    }
    with pytest.raises(UnusableJob, match="must be a number of items"):
        job.fan_out("more", listed.output(), tolerate="many")


def test_a_job_names_who_is_notified_of_its_failures() -> None:
    job = Job("brand", notify={"channel": "#brand"})
    job.task("store")
    assert job.submission().model_dump(exclude_none=True)["notify"] == {"channel": "#brand"}
    for wrong in (
        {},
        {"channel": "#a", "webhook": "https://hooks.example"},
        {"mail": "a@b.example"},
    ):
        job = Job("brand", notify=wrong)
        job.task("store")
        with pytest.raises(UnusableJob, match="notify"):
            job.submission()


def test_a_handle_of_the_job_can_be_followed_by_what_joins_it() -> None:
    report = Job().task("report")
    more = Job()
    more.task("check", after=[report])

    assert sent(more.addition()) == {
        "tasks": [{"taskId": "check", "name": "check", "dependsOn": ["report"]}]
    }


@pytest.mark.parametrize(
    "path", [(), ("products", 0, "name"), ("any name",), ('quo"te\\', 12), ("ünïcode",)]
)
def test_an_output_stands_for_what_the_task_makes(path: tuple[str | int, ...]) -> None:
    store = Job().task("scrape-store")

    (reference,) = references_in({"it": store.output(*path)})

    assert (reference.task_id, reference.steps) == ("scrape-store", path)


def test_two_tasks_cannot_have_one_id() -> None:
    job = Job()
    job.task("a")

    with pytest.raises(UnusableJob, match="has a task 'a' already"):
        job.task("a")


@pytest.mark.parametrize(("task_id", "name"), [("a b", "x"), ("", "x"), ("a", "no name")])
def test_a_name_that_cannot_be_is_refused_before_anything_is_sent(task_id: str, name: str) -> None:
    with pytest.raises(UnusableJob) as refused:
        Job().task(task_id, name=name)

    assert refused.value.problems


def test_an_input_that_json_cannot_say_is_refused() -> None:
    with pytest.raises(UnusableJob, match="input"):
        Job().task("a", input={"at": float("nan")})


def test_too_many_tags_are_refused() -> None:
    job = Job(tags={f"t{n}": "x" for n in range(21)})

    with pytest.raises(UnusableJob, match="tags"):
        job.submission()
