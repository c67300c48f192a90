"""`queues put` and `queues dead-letters`: the items of a work queue."""

import json
from pathlib import Path

import pytest

from switchyard.contracts.jobs import KEY_HEADER
from switchyard.contracts.scheduling.work_queues import DeadLetter, DeadLetterPage, ItemAccepted
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import CREATED, JOB_ID, TRACE_ID, FakeApi, answer

ITEMS = "POST /queues/default/builds/items"
DEAD_LETTERS = "GET /queues/default/builds/dead-letters"
ACCEPTED = ItemAccepted(
    job_id=JOB_ID,
    total_tasks=1,
    root_tasks=("item",),
    created_at=CREATED,
    trace_id=TRACE_ID,
    queue="default/builds",
    task_id="item",
    request_id=f"{JOB_ID}__item",
)
FAILED = DeadLetter(
    request_id=f"{JOB_ID}__item",
    job_id=JOB_ID,
    task_id="item",
    name="build",
    run=1,
    attempts=3,
    error="the build \x1b[31mdoes not end\nin time",
    error_category="timeout",
    failed_at=CREATED,
)


def test_an_item_is_put_with_its_input_and_metadata(
    switchyard: Switchyard, api: FakeApi, tmp_path: Path
) -> None:
    api.on(ITEMS, answer(ACCEPTED, 201))
    file = tmp_path / "item.yaml"
    file.write_text("repo: shop\n")

    options = ("--metadata", "ticket=42", "-m", "note=a=b", "--priority", "low", "--key", "once")
    result = switchyard("queues", "put", "default/builds", "-d", "build", "--input", file, *options)

    assert result.stdout == f"{JOB_ID}__item is in default/builds.\n"
    (sent,) = api.sent(ITEMS)
    assert sent == {
        "definition": "build",
        "input": {"repo": "shop"},
        "priority": "low",
        "metadata": {"ticket": "42", "note": "a=b"},
    }
    assert api.requests[0].headers[KEY_HEADER] == "once"


def test_an_item_that_was_put_before_says_so(switchyard: Switchyard, api: FakeApi) -> None:
    api.on(ITEMS, answer(ACCEPTED.model_copy(update={"repeated": True})))

    result = switchyard("queues", "put", "default/builds", "-d", "build")

    assert "It was accepted before, under the same key." in result.stdout
    assert api.sent(ITEMS) == [{"definition": "build"}]
    assert api.requests[0].headers[KEY_HEADER]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("-d", "build", "-m", "ticket"), "--metadata ticket: expected name=value."),
        (("-d", "build", "-m", "=42"), "--metadata =42: expected name=value."),
        (("-d", "no name"), "definition: "),
    ],
    ids=str,
)
def test_a_mistake_is_named_before_anything_is_sent(
    switchyard: Switchyard, api: FakeApi, options: tuple[str, ...], said: str
) -> None:
    result = switchyard("queues", "put", "default/builds", *options)

    assert said in result.stderr
    assert (result.exit_code, api.requests) == (2, [])


def test_failures_are_listed_with_where_to_go_on(switchyard: Switchyard, api: FakeApi) -> None:
    api.on(DEAD_LETTERS, answer(DeadLetterPage(dead_letters=(FAILED,), cursor="older")))

    result = switchyard("queues", "dead-letters", "default/builds", "--limit", "5")

    assert api.requests[0].url.params["limit"] == "5"
    row = result.stdout.splitlines()[1]
    assert row.split()[:3] == [f"{JOB_ID}__item", "build", "3"]
    assert "\x1b" not in result.stdout
    assert result.stderr == "Older ones: --cursor older\n"


def test_the_next_page_is_asked_for_by_its_cursor(switchyard: Switchyard, api: FakeApi) -> None:
    api.on(DEAD_LETTERS, answer(DeadLetterPage(dead_letters=(FAILED,))))

    result = switchyard("queues", "dead-letters", "default/builds", "--cursor", "older", "--json")

    assert api.requests[0].url.params["cursor"] == "older"
    (letter,) = json.loads(result.stdout)["deadLetters"]
    assert (letter["attempts"], letter["errorCategory"]) == (3, "timeout")


def test_a_page_without_a_failure_of_the_queue_says_so(
    switchyard: Switchyard, api: FakeApi
) -> None:
    api.on(DEAD_LETTERS, answer(DeadLetterPage(dead_letters=())))

    result = switchyard("queues", "dead-letters", "default/builds")

    assert result.stdout == "No task of this queue among the failures looked at.\n"
