"""`doctor`: a line for each finding, the fix below it, and an exit code."""

import json

import pytest

from switchyard.domain.errors import Unavailable
from switchyard.domain.health.diagnosis import Switch, SwitchKind, Workers
from switchyard.domain.health.presence import Pause, PresentWorker
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import NOW_MS, FakeCloud
from tests.unit.cli.fakes.examiner import FakeExaminer
from tests.unit.cli.fakes.rollout import FakeRollout


def findings(switchyard: Switchyard, *options: str) -> dict[str, tuple[str, str, str | None]]:
    reported = json.loads(switchyard("doctor", *options, "--json").stdout)
    return {f["subject"]: (f["level"], f["said"], f["fix"]) for f in reported}


def test_a_stage_that_is_well(switchyard: Switchyard, examiner: FakeExaminer) -> None:
    result = switchyard("doctor", "--stage", "dev")

    assert result.stdout.splitlines() == [
        "ok   credentials   arn:aws:iam::123456789012:user/ada",
        "ok   Claude        the secret switchyard/dev/claude is there",
        "ok   Slack         the secret switchyard/dev/slack is there",
        "ok   image         worker:1",
        "ok   workers       1 of 1 run",
        "ok   stacks        6 deployed",
        "ok   API keys      of 1 tenant",
        "ok   webhooks      the secret switchyard/dev/webhooks is there",
        "ok   subscriptions 1 on",
        "ok   schedules     1 on",
        "ok   dead letters  all queues are empty",
        "ok   consumption   workers take tasks",
        "ok   rollout       no worker is there",
    ]
    assert result.exit_code == 0
    assert examiner.asked == [("dev", False)]


def test_whoever_is_not_let_in_is_told_that_alone(
    switchyard: Switchyard, examiner: FakeExaminer
) -> None:
    examiner.inspection.nobody = Unavailable("Unable to locate credentials")

    result = switchyard("doctor", "--stage", "dev")

    first, fix = result.stdout.splitlines()
    assert first == "fail credentials   Unable to locate credentials"
    assert fix.strip().startswith("→ aws sso login")
    assert result.exit_code == 1


def test_what_may_not_be_seen_is_a_finding_and_no_end(
    switchyard: Switchyard, examiner: FakeExaminer
) -> None:
    examiner.inspection.blind = Unavailable("AccessDenied")

    found = findings(switchyard, "--stage", "dev")

    assert found.pop("credentials")[0] == "ok"
    assert found.pop("consumption")[0] == "ok"
    assert found.pop("rollout")[0] == "ok"
    assert found.pop("API keys")[0] == "ok"
    assert {level for level, _, _ in found.values()} == {"fail"}
    assert len(found) == 7


def test_a_stage_without_keys_may_have_them_where_older_releases_looked(
    switchyard: Switchyard, examiner: FakeExaminer
) -> None:
    examiner.tenants_with_keys = {"switchyard-smoke"}

    level, said, fix = findings(switchyard, "--stage", "dev")["API keys"]

    assert (level, said) == ("warn", "no tenant has a key")
    assert fix is not None
    assert fix.startswith("switchyard keys move --stage dev if")


def test_of_a_stage_that_is_not_deployed_nothing_else_is_asked_of_its_stacks(
    switchyard: Switchyard, examiner: FakeExaminer
) -> None:
    examiner.inspection.statuses.clear()
    examiner.inspection.service = None

    found = findings(switchyard, "--stage", "dev")

    assert list(found) == ["credentials", "Claude", "Slack", "workers", "stacks"]
    assert found["workers"] == ("fail", "there is no service", "make deploy STAGE=dev")
    assert found["stacks"][0] == "fail"


def test_a_stage_without_dead_letter_queues_is_not_well(
    switchyard: Switchyard, examiner: FakeExaminer
) -> None:
    examiner.inspection.letters.clear()

    level, said, _ = findings(switchyard, "--stage", "dev")["dead letters"]

    assert (level, said) == ("fail", "there are no queues")


def test_every_failure_comes_with_its_fix(switchyard: Switchyard, examiner: FakeExaminer) -> None:
    sick = examiner.inspection
    del sick.statuses["event"]
    sick.secrets.clear()
    sick.service = Workers(wanted=2, running=0, image="worker:2", image_exists=False)
    sick.rules = [Switch("every-event", SwitchKind.SUBSCRIPTION, on=False)]
    sick.letters["switchyard-dev-task-queue-dlq"] = 3
    examiner.pause = Pause(since_ms=NOW_MS, reason="costs")

    found = findings(switchyard, "--stage", "dev")

    assert {subject: level for subject, (level, _, _) in found.items()} == {
        "credentials": "ok",
        "Claude": "fail",
        "Slack": "warn",
        "image": "fail",
        "workers": "fail",
        "stacks": "fail",
        "API keys": "ok",
        "webhooks": "warn",
        "subscriptions": "fail",
        "schedules": "fail",
        "dead letters": "warn",
        "consumption": "warn",
        "rollout": "ok",
    }
    assert all(fix for level, _, fix in found.values() if level != "ok")
    assert found["stacks"][1:] == ("not deployed: event", "make deploy STAGE=dev")
    assert found["consumption"][1:] == (
        "paused since 2027-01-15 08:00 UTC: costs",
        "switchyard resume --stage dev",
    )
    assert switchyard("doctor", "--stage", "dev").exit_code == 1


@pytest.mark.parametrize(
    ("status", "level"),
    [
        ("UPDATE_COMPLETE", "ok"),
        ("UPDATE_IN_PROGRESS", "warn"),
        ("UPDATE_ROLLBACK_COMPLETE", "warn"),
        ("ROLLBACK_COMPLETE", "fail"),
        ("UPDATE_ROLLBACK_FAILED", "fail"),
    ],
)
def test_a_stack_is_as_well_as_its_status(
    status: str, level: str, switchyard: Switchyard, examiner: FakeExaminer
) -> None:
    examiner.inspection.statuses["consumer"] = status

    assert findings(switchyard, "--stage", "dev")["stacks"][0] == level


@pytest.mark.parametrize(
    ("wanted", "running", "level"), [(2, 2, "ok"), (2, 1, "warn"), (2, 0, "fail"), (0, 0, "ok")]
)
def test_workers_that_are_missing(
    wanted: int, running: int, level: str, switchyard: Switchyard, examiner: FakeExaminer
) -> None:
    examiner.inspection.service = Workers(
        wanted=wanted, running=running, image="worker:1", image_exists=True
    )

    assert findings(switchyard, "--stage", "dev")["workers"][0] == level


@pytest.mark.parametrize(
    ("stage", "fix"),
    [
        ("local", "switchyard up"),
        ("dev", "aws secretsmanager create-secret --name switchyard/dev/webhooks --secret-string"),
    ],
)
def test_a_stage_that_calls_no_webhooks_is_told_how_to(
    stage: str, fix: str, switchyard: Switchyard, examiner: FakeExaminer
) -> None:
    examiner.inspection.secrets.remove(f"switchyard/{stage}/webhooks")

    level, said, suggested = findings(switchyard, "--stage", stage)["webhooks"]

    assert level == "warn"
    assert said == f"no secret switchyard/{stage}/webhooks: no job's webhook is called"
    assert suggested is not None
    assert suggested.startswith(fix)


def test_a_warning_alone_is_no_failure(switchyard: Switchyard, examiner: FakeExaminer) -> None:
    examiner.pause = Pause(since_ms=NOW_MS)

    assert switchyard("doctor", "--stage", "dev").exit_code == 0


@pytest.mark.parametrize(
    ("backend", "said"),
    [
        ("offline", "tasks are done by the offline agent, which makes up plausible answers"),
        ("claude-agent-sdk", "tasks are done by Claude (claude-agent-sdk), and cost money"),
        (None, "a worker of version 1.2.3 does not report its agent"),
    ],
)
def test_the_agent_is_the_one_that_the_worker_reports(
    switchyard: Switchyard,
    releases: FakeRollout,
    environment: dict[str, str],
    backend: str | None,
    said: str,
) -> None:
    environment["ANTHROPIC_API_KEY"] = "of this shell, which is not the worker's"
    releases.presence.seen(a_worker(backend))

    assert findings(switchyard)["agent"] == ("ok", said, None)


def test_a_local_cloud_whose_worker_has_not_reported(switchyard: Switchyard) -> None:
    assert findings(switchyard)["agent"][0] == "warn"


def a_worker(backend: str | None) -> PresentWorker:
    return PresentWorker(
        worker_id="w1",
        started_at_ms=NOW_MS,
        seen_at_ms=NOW_MS,
        slots=2,
        busy=0,
        version="1.2.3",
        backend=backend,
    )


def test_the_local_cloud_is_examined_without_an_account(
    switchyard: Switchyard, examiner: FakeExaminer, releases: FakeRollout
) -> None:
    releases.presence.seen(a_worker("offline"))

    found = findings(switchyard)

    assert {subject: level for subject, (level, _, _) in found.items()} == dict.fromkeys(
        (
            "cloud", "worker", "agent", "stacks", "API keys", "webhooks", "subscriptions",
            "schedules", "dead letters", "consumption", "rollout",
        ),
        "ok",
    )  # fmt: skip
    assert examiner.asked == [("local", True)]


def test_a_local_cloud_without_a_worker_is_well_itself(
    switchyard: Switchyard, cloud: FakeCloud, releases: FakeRollout
) -> None:
    releases.presence.seen(a_worker("offline"))  # it has reported, and ended
    cloud.worker_lives = False

    found = findings(switchyard)

    assert found["cloud"][0] == "ok"
    assert found["worker"] == ("fail", "there is none", "switchyard up")
    assert "agent" not in found


def test_a_local_cloud_that_is_down_or_ill(switchyard: Switchyard, cloud: FakeCloud) -> None:
    cloud.healthy = False
    assert findings(switchyard)["cloud"][0] == "fail"
    cloud.running = False
    assert findings(switchyard) == {
        "cloud": ("fail", "the local cloud is not running", "switchyard up")
    }
    assert switchyard("doctor").exit_code == 1
