"""`queues create`, `list`, `show`, `change`, `delete`: the work queues of a tenant."""

import json
from datetime import timedelta

import pytest

from switchyard.contracts.scheduling import ConcurrencyLimit
from switchyard.contracts.scheduling.work_queues import (
    ClassCounts,
    QueueDeleted,
    QueueDetails,
    QueueList,
    QueueView,
)
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import CREATED, FakeApi, answer, problem

BUILDS = QueueView(name="default/builds", group="default", priority="high", version=1)
LIMITED = BUILDS.model_copy(
    update={
        "name": "default/deploys",
        "lease": 120_000,
        "max_attempts": 2,
        "concurrency": ConcurrencyLimit(limit=1, key="${input.repo}"),
        "starts_per_minute": 30,
    }
)


def test_a_queue_is_created_with_what_its_options_say(switchyard: Switchyard, api: FakeApi) -> None:
    api.on("POST /queues", answer(BUILDS, 201))

    options = ("--lease", "2m", "--attempts", "2", "--priority", "high", "--starts-per-minute", "9")
    result = switchyard("queues", "create", "default/builds", *options)

    assert result.stdout == "Created default/builds, version 1.\n"
    (sent,) = api.sent("POST /queues")
    said = {"priority": "high", "maxAttempts": 2, "lease": 120_000, "startsPerMinute": 9}
    assert sent == {"name": "default/builds", **said}


def test_a_limit_may_count_by_a_key(switchyard: Switchyard, api: FakeApi) -> None:
    api.on("POST /queues", answer(LIMITED, 201))

    by_repo = ("--concurrency", "1", "--key", "${input.repo}")
    result = switchyard("queues", "create", "default/deploys", *by_repo, "--json")

    assert json.loads(result.stdout)["concurrency"] == {"limit": 1, "key": "${input.repo}"}
    (sent,) = api.sent("POST /queues")
    assert sent["concurrency"] == {"limit": 1, "key": "${input.repo}"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("create", "Default"), "name: must be group or group/name"),
        (("create", "default/a", "--lease", "1s"), "lease: must be a span from 10s to 15m"),
        (("create", "default/a", "--key", "x"), "--key belongs to --concurrency"),
        (("create", "default/a", "--priority", "urgent"), "priority: "),
        (("show", "a/b/c"), "'a/b/c' cannot name a queue: it must be group or group/name"),
        (("change", "default/a"), "Say what to change, like --priority high or --unset lease."),
        (("change", "default/a", "--unset", "colour"), "--unset colour: expected one of lease, "),
    ],
    ids=str,
)
def test_a_mistake_is_named_before_anything_is_sent(
    switchyard: Switchyard, api: FakeApi, arguments: tuple[str, ...], said: str
) -> None:
    result = switchyard("queues", *arguments)

    assert said in result.stderr
    assert (result.exit_code, api.requests) == (2, [])


def test_all_pages_of_queues_are_listed_with_their_settings(
    switchyard: Switchyard, api: FakeApi
) -> None:
    first = QueueList(queues=(BUILDS,), cursor="default/builds")
    api.on("GET /queues", answer(first), answer(QueueList(queues=(LIMITED,))))

    listed = switchyard("queues", "list").stdout

    assert [request.url.params.get("cursor") for request in api.requests] == [
        None,
        "default/builds",
    ]
    assert listed.splitlines()[1].split() == ["default/builds", "high", "1"]
    settings = "lease 120 s, attempts 2, at once 1 by ${input.repo}, per minute 30"
    assert settings in " ".join(listed.split())


def test_the_list_is_also_json(switchyard: Switchyard, api: FakeApi) -> None:
    api.on("GET /queues", answer(QueueList(queues=(BUILDS, LIMITED))))

    listed = json.loads(switchyard("queues", "list", "--json").stdout)

    assert [queue["name"] for queue in listed] == ["default/builds", "default/deploys"]


def details(*, at_least: bool = False) -> QueueDetails:
    return QueueDetails(
        **LIMITED.model_dump(),
        depth=1_200,
        in_flight=3,
        consumers=2,
        oldest_item_at=CREATED - timedelta(seconds=75),
        classes={"high": ClassCounts(pending=1_200, in_flight=3)},
        at_least=at_least,
    )


def test_a_queue_is_shown_with_what_is_in_it(switchyard: Switchyard, api: FakeApi) -> None:
    api.on("GET /queues/default/deploys", answer(details()))

    lines = switchyard("queues", "show", "default/deploys").stdout.splitlines()

    assert lines[0] == "default/deploys"
    facts = {line[:12].strip(): line[12:] for line in lines[1:]}
    assert (facts["waiting"], facts["running"]) == ("1,200", "3 on 2 workers")
    assert (facts["oldest"], facts["high"]) == ("ready for 75 s", "1,200 waiting, 3 running")
    assert facts["lease"] == "120 s"


def test_numbers_that_are_the_least_say_so(switchyard: Switchyard, api: FakeApi) -> None:
    api.on("GET /queues/default/deploys", answer(details(at_least=True)))

    shown = switchyard("queues", "show", "default/deploys").stdout

    assert "at least 1,200" in shown
    assert json.loads(switchyard("queues", "show", "default/deploys", "--json").stdout)["atLeast"]


def test_a_change_says_what_is_new_and_what_is_taken_away(
    switchyard: Switchyard, api: FakeApi
) -> None:
    api.on("PATCH /queues/default/builds", answer(BUILDS.model_copy(update={"version": 2})))

    options = ("--priority", "low", "--unset", "lease", "--unset", "attempts", "--version", "1")
    result = switchyard("queues", "change", "default/builds", *options)

    assert result.stdout == "Changed default/builds, version 2.\n"
    (sent,) = api.sent("PATCH /queues/default/builds")
    assert sent == {"priority": "low", "lease": None, "maxAttempts": None, "version": 1}


def test_a_queue_is_deleted_unless_it_is_in_use(switchyard: Switchyard, api: FakeApi) -> None:
    in_use = problem(409, "the queue 'default/builds' is in use by the definition build")
    api.on("DELETE /queues/default/builds", answer(QueueDeleted(name="default/builds")), in_use)

    assert switchyard("queues", "delete", "default/builds").stdout == "Deleted default/builds.\n"
    refused = switchyard("queues", "delete", "default/builds")

    assert "is in use by the definition build" in refused.stderr
    assert refused.exit_code != 0
