"""`triggers`: what starts jobs by itself, applied from a file and looked at."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from switchyard.contracts.triggers import TriggerRun
from switchyard.domain.errors import Unavailable
from switchyard.domain.triggers.triggers import RuleRefused
from switchyard.ports import TriggerRule
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import CREATED, JOB_ID, FakeCloud
from tests.unit.cli.fakes.triggers import FakeTriggers

EXAMPLE = Path(__file__).parents[4] / "examples" / "triggers.yaml"


@pytest.fixture
def applied(triggers: FakeTriggers, switchyard: Switchyard) -> FakeTriggers:
    assert switchyard("triggers", "apply", EXAMPLE).exit_code == 0
    return triggers


def listed(switchyard: Switchyard, *options: str) -> dict[str, Any]:
    found = json.loads(switchyard("triggers", "list", "--json", *options).stdout)
    return {view["trigger"]["name"]: view for view in found}


def test_the_example_is_applied_with_its_rules(
    triggers: FakeTriggers, switchyard: Switchyard
) -> None:
    result = switchyard("triggers", "apply", EXAMPLE)

    _, uploads, digest = result.stdout.splitlines()
    assert uploads.split() == ["uploads", "enabled"]
    assert digest.split() == ["morning-digest", "enabled", "2027-01-18", "07:00", "UTC"]
    assert result.stderr.splitlines() == [
        "read-upload is registered for local as version 1.",
        "write-digest is registered for local as version 1.",
    ]
    assert sorted(triggers.definitions.latest("local", ["read-upload", "write-digest"])) == [
        "read-upload",
        "write-digest",
    ]
    assert triggers.asked == [("local", "http://127.0.0.1:4580")]
    assert sorted(name for name, _ in triggers.rules.rules) == [
        "switchyard-local-local.morning-digest",
        "switchyard-local-local.uploads",
    ]


def test_a_dry_run_says_what_is_in_the_file_and_changes_nothing(
    triggers: FakeTriggers, switchyard: Switchyard, cloud: FakeCloud
) -> None:
    cloud.running = False
    result = switchyard("triggers", "apply", EXAMPLE, "--dry-run", "--stage", "prod")

    assert result.stdout.splitlines() == [
        "uploads: events of the default bus",
        "morning-digest: cron(0 7 ? * MON-FRI *)",
    ]
    assert "nothing was changed" in result.stderr
    assert triggers.asked == []


def test_on_other_stages_it_must_be_said_whose_they_are(
    triggers: FakeTriggers, switchyard: Switchyard
) -> None:
    refused = switchyard("triggers", "apply", EXAMPLE, "--stage", "dev")
    assert "Name the tenant with --tenant" in refused.stderr
    assert refused.exit_code == 2

    said = switchyard("triggers", "apply", EXAMPLE, "--stage", "dev", "--tenant", "acme")
    assert said.exit_code == 0
    assert triggers.asked == [("dev", None)]
    assert len(triggers.store.all("acme")) == 2

    odd = switchyard("triggers", "list", "--tenant", "Acme")
    assert "cannot name a tenant" in odd.stderr


def test_a_tenant_that_contradicts_the_file_is_refused(
    triggers: FakeTriggers, switchyard: Switchyard, tmp_path: Path
) -> None:
    file = tmp_path / "triggers.yaml"
    text = EXAMPLE.read_text()
    file.write_text(text.replace("  - name: uploads", "  - name: uploads\n    tenant: acme"))
    refused = switchyard("triggers", "apply", file, "--tenant", "other")
    assert "triggers[0].tenant: is acme, but --tenant says other" in refused.stderr
    assert refused.exit_code == 2
    assert switchyard("triggers", "apply", file, "--tenant", "acme").exit_code == 0
    assert len(triggers.store.all("acme")) == 2


def test_the_list_tells_the_last_and_the_next_run(
    applied: FakeTriggers, switchyard: Switchyard
) -> None:
    ago = CREATED - timedelta(minutes=5)
    run = TriggerRun(at=ago, event_id="e-1", job_id=JOB_ID)
    applied.store.note_run("local", "uploads", run)
    failed = TriggerRun(at=ago, event_id="e-2", error="{{event.x}} has no \x1b[31mvalue")
    applied.store.note_run("local", "morning-digest", failed)

    result = switchyard("triggers", "list")

    _, digest, uploads = result.stdout.splitlines()
    assert "5 min 00 s ago" in digest
    assert "{{event.x}} has no [31mvalue" in digest
    assert uploads.split() == ["uploads", "enabled", "5", "min", "00", "s", "ago", JOB_ID]
    views = listed(switchyard)
    assert views["uploads"]["lastRun"]["jobId"] == JOB_ID
    assert views["uploads"]["nextRun"] is None
    assert views["morning-digest"]["nextRun"] == "2027-01-18T07:00:00Z"


def test_the_list_tells_of_a_missing_rule(applied: FakeTriggers, switchyard: Switchyard) -> None:
    del applied.rules.rules["switchyard-local-local.uploads", "default"]
    _, digest, uploads = switchyard("triggers", "list").stdout.splitlines()
    assert "rule missing" not in digest
    assert "enabled, rule missing" in uploads
    views = listed(switchyard)
    assert views["uploads"]["rule"] is None
    assert views["morning-digest"]["rule"] == "switchyard-local-local.morning-digest"


def test_there_may_be_none(triggers: FakeTriggers, switchyard: Switchyard) -> None:
    assert switchyard("triggers", "list").stdout == "No triggers.\n"
    assert json.loads(switchyard("triggers", "list", "--json").stdout) == []


def test_one_is_shown_whole(applied: FakeTriggers, switchyard: Switchyard) -> None:
    result = switchyard("triggers", "show", "uploads")

    for words in ("switchyard-local-local.uploads", "Object Created", "${tasks.read.output"):
        assert words in result.stdout
    applied.rules.rules.clear()
    assert "is missing" in switchyard("triggers", "show", "uploads").stdout
    shown = json.loads(switchyard("triggers", "show", "uploads", "--json").stdout)
    assert shown["trigger"]["on"]["bus"] == "default"


def test_a_disabled_one_has_no_next_run(applied: FakeTriggers, switchyard: Switchyard) -> None:
    switchyard("triggers", "disable", "morning-digest")
    view = listed(switchyard)["morning-digest"]
    assert (view["enabled"], view["nextRun"]) == (False, None)
    assert not applied.rules.rules["switchyard-local-local.morning-digest", "default"].enabled
    switchyard("triggers", "enable", "morning-digest")
    assert listed(switchyard)["morning-digest"]["enabled"]


def test_one_is_deleted_after_asking(applied: FakeTriggers, switchyard: Switchyard) -> None:
    stored = switchyard("triggers", "delete", "uploads")
    assert stored.exit_code != 0
    assert "uploads" in listed(switchyard)

    assert switchyard("triggers", "delete", "uploads", "--yes").stdout == "uploads is removed.\n"
    assert list(listed(switchyard)) == ["morning-digest"]


@pytest.mark.parametrize("command", ["show", "enable", "disable", "delete", "fire"])
def test_one_that_is_not_there_is_named(
    command: str, triggers: FakeTriggers, switchyard: Switchyard
) -> None:
    result = switchyard("triggers", command, "nobodys")

    assert result.stderr == "The tenant local has no trigger 'nobodys'.\n"
    assert result.exit_code == 2


def test_a_schedule_is_fired_without_an_event(
    applied: FakeTriggers, switchyard: Switchyard
) -> None:
    fired = json.loads(switchyard("triggers", "fire", "morning-digest", "--json").stdout)

    assert fired == {"tenant": "local", "trigger": "morning-digest", "eventId": "a-new-key"}
    (sent,) = applied.sent()
    assert sent.event["detail-type"] == "Scheduled Event"
    assert sent.event["time"] == "2027-01-15T08:00:00Z"


def test_an_event_is_sent_as_it_is_and_completed_where_it_says_nothing(
    applied: FakeTriggers, switchyard: Switchyard, tmp_path: Path
) -> None:
    file = tmp_path / "event.json"
    file.write_text(json.dumps({"id": "e-7", "detail": {"object": {"key": "uploads/ü"}}}))

    result = switchyard("triggers", "fire", "uploads", "--event", file)

    assert result.stdout == "Sent to uploads: the event e-7.\n"
    (sent,) = applied.sent()
    assert sent.event["detail"] == {"object": {"key": "uploads/ü"}}
    assert (sent.event["id"], sent.event["source"]) == ("e-7", "switchyard.cli")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "uploads waits for events"),
        ("[1]", "is no event"),
        ('{"id": "a b"}', "id is nothing"),
    ],
)
def test_what_cannot_be_an_event_is_not_sent(
    content: str | None, words: str, applied: FakeTriggers, switchyard: Switchyard, tmp_path: Path
) -> None:
    file = tmp_path / "event.json"
    file.write_text(content or "")
    options = ["--event", str(file)] if content else []

    result = switchyard("triggers", "fire", "uploads", *options)

    assert words in result.stderr
    assert result.exit_code == 2
    assert applied.sent() == []


def test_what_eventbridge_refuses_is_told_with_its_line(
    triggers: FakeTriggers, switchyard: Switchyard, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(rule: TriggerRule) -> None:
        raise RuleRefused("Event pattern is not valid.")

    monkeypatch.setattr(triggers.rules, "put", refuse)

    result = switchyard("triggers", "apply", EXAMPLE)

    line = EXAMPLE.read_text().splitlines().index("  - name: uploads") + 1
    refusal = f"{EXAMPLE}:{line}: triggers[0]: Event pattern is not valid.\n"
    assert result.stderr.endswith(refusal)
    assert result.exit_code == 2


def test_a_stage_that_is_out_of_reach(triggers: FakeTriggers, switchyard: Switchyard) -> None:
    triggers.outage = Unavailable("You must specify a region.")

    result = switchyard("triggers", "list", "--stage", "dev", "--tenant", "acme")

    assert result.stderr.startswith(
        "The triggers of the stage dev are out of reach: You must specify a region. Is the stage"
    )
    assert result.exit_code == 3
