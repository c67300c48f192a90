"""`rollout`: which release each worker runs, and what a deployment waits for."""

import json

from switchyard.domain.errors import Unavailable
from switchyard.domain.health.presence import PresentWorker
from switchyard.domain.health.rollout import RolloutState
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import NOW_MS
from tests.unit.cli.fakes.examiner import FakeExaminer
from tests.unit.cli.fakes.rollout import FakeRollout

MINUTE_MS = 60_000


def a_worker(worker_id: str, **facts: object) -> PresentWorker:
    usual = {
        "started_at_ms": NOW_MS - MINUTE_MS,
        "seen_at_ms": NOW_MS,
        "slots": 3,
        "busy": 0,
        "version": "0.1.0",
        "release": "worker:8",
    }
    return PresentWorker(worker_id=worker_id, **(usual | facts))  # type: ignore[arg-type]


OLD = a_worker(
    "worker-1", release="worker:7", draining=True, busy=2, busy_until_ms=NOW_MS + 45 * MINUTE_MS
)
BLIND = a_worker("worker-2", release="worker:7", busy=1, busy_until_ms=NOW_MS + 5 * MINUTE_MS)
NEW = a_worker("worker-3", busy=3, busy_until_ms=NOW_MS + 90 * MINUTE_MS)


def test_a_rollout_says_what_it_waits_for(switchyard: Switchyard, releases: FakeRollout) -> None:
    for worker in (OLD, BLIND, NEW):
        releases.presence.seen(worker)

    result = switchyard("rollout", "--stage", "dev")

    title, header, *lines = result.stdout.splitlines()
    assert title == "dev: 2 workers of an older release finish 3 tasks, at most until 08:45 UTC"
    assert header.split() == ["worker", "state", "busy", "until", "version", "release"]
    assert [" ".join(line.split()) for line in lines] == [
        "worker-1 draining 2 of 3 08:45 0.1.0 worker:7",
        "worker-2 not yet draining 1 of 3 08:05 0.1.0 worker:7",
        "worker-3 takes tasks 3 of 3 09:30 0.1.0 worker:8",
    ]
    assert result.exit_code == 0
    assert releases.asked == [("dev", False)]


def test_json_says_the_same(switchyard: Switchyard, releases: FakeRollout) -> None:
    releases.presence.seen(OLD)
    releases.presence.seen(NEW)

    found = json.loads(switchyard("rollout", "--stage", "dev", "--json").stdout)

    first, second = found.pop("workers")
    assert found == {
        "stage": "dev",
        "currentRelease": "worker:8",
        "summary": "1 worker of an older release finishes 2 tasks, at most until 08:45 UTC",
        "replacedWorkers": 1,
        "waitsForTasks": 2,
        "until": "2027-01-15T08:45:00Z",
    }
    assert first == {
        "workerId": "worker-1",
        "release": "worker:7",
        "version": "0.1.0",
        "state": "draining",
        "slots": 3,
        "busy": 2,
        "busyUntil": "2027-01-15T08:45:00Z",
        "functions": [],
    }
    assert second["state"] == "takes tasks"


def test_idle_workers_of_an_older_release_are_waited_for_no_longer(
    switchyard: Switchyard, releases: FakeRollout
) -> None:
    releases.presence.seen(a_worker("worker-1", release="worker:7", draining=True))

    title = switchyard("rollout", "--stage", "dev").stdout.splitlines()[0]

    assert title == "dev: 1 worker of an older release is idle and will be stopped"


def test_without_a_rollout_all_workers_run_the_current_release(
    switchyard: Switchyard, releases: FakeRollout
) -> None:
    assert switchyard("rollout").stdout == "local: no worker is there\n"
    releases.presence.seen(NEW)
    releases.presence.seen(a_worker("on-a-laptop", release=None))

    title = switchyard("rollout").stdout.splitlines()[0]

    assert title == "local: all workers run the current release"
    assert releases.asked[0] == ("local", True)


def test_a_worker_that_was_silent_for_minutes_is_not_listed(
    switchyard: Switchyard, releases: FakeRollout
) -> None:
    releases.presence.seen(a_worker("gone", seen_at_ms=NOW_MS - 10 * MINUTE_MS))

    assert switchyard("rollout").stdout == "local: no worker is there\n"


def test_an_end_that_one_worker_does_not_know_is_not_promised(
    switchyard: Switchyard, releases: FakeRollout
) -> None:
    releases.presence.seen(OLD)
    releases.presence.seen(a_worker("worker-9", release="worker:6", draining=True, busy=1))

    title = switchyard("rollout", "--stage", "dev").stdout.splitlines()[0]

    assert title == "dev: 2 workers of an older release finish 3 tasks"


def test_watching_prints_a_line_of_json_for_each_look(
    switchyard: Switchyard, releases: FakeRollout
) -> None:
    releases.looks_until_interrupted = 3

    result = switchyard("rollout", "--watch", "--json")

    assert [json.loads(line)["stage"] for line in result.stdout.splitlines()] == ["local"] * 3
    assert result.exit_code == 0


def test_a_stage_that_is_out_of_reach(switchyard: Switchyard, releases: FakeRollout) -> None:
    releases.outage = Unavailable("You must specify a region.")

    result = switchyard("rollout", "--stage", "dev")

    assert result.stderr.startswith("The workers of the stage dev are out of reach: You must")
    assert result.exit_code == 3


def test_the_doctor_warns_of_a_rollout_and_says_how_to_watch_it(
    switchyard: Switchyard, examiner: FakeExaminer
) -> None:
    examiner.rollout = RolloutState(current="worker:8", workers=[OLD, NEW])

    result = switchyard("doctor", "--stage", "dev")

    said = "1 worker of an older release finishes 2 tasks, at most until 08:45 UTC"
    assert f"warn rollout       {said}" in result.stdout
    assert "→ switchyard rollout --watch --stage dev" in result.stdout
    assert result.exit_code == 0


def test_the_packages_that_workers_serve_are_counted(
    switchyard: Switchyard, releases: FakeRollout
) -> None:
    releases.presence.seen(a_worker("worker-1", functions=("shop@ab12", "mail@cd34")))
    releases.presence.seen(a_worker("worker-2", functions=("shop@ab12",)))

    shown = switchyard("rollout", "--stage", "dev").stdout.splitlines()[-2:]
    found = json.loads(switchyard("rollout", "--stage", "dev", "--json").stdout)

    assert shown == [
        "mail@cd34 is served by 1 of 2 workers",
        "shop@ab12 is served by 2 of 2 workers",
    ]
    assert found["workers"][1]["functions"] == ["shop@ab12"]
