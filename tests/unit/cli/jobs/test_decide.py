"""`approve`, `reject` and `signal`: what is shown, asked, sent and answered."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from switchyard.contracts.changes import (
    ApprovalPage,
    DecisionView,
    HeldApproval,
    ShownParent,
    TaskDecided,
)
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import CREATED, JOB_ID, FakeApi, a_job, a_task, answer, problem

ROUTE = f"/jobs/{JOB_ID}/tasks/gate"
SHOWN = DecisionView(
    job_id=JOB_ID,
    task_id="gate",
    kind="approval",
    status="held",
    run=1,
    question="Publish it?",
    held_until=CREATED,
    on_timeout="reject",
    basis="0123456789abcdef",
    parents=(ShownParent(task_id="write", status="completed", output={"title": "Draft"}),),
)
DONE = TaskDecided(
    job_id=JOB_ID,
    task_id="gate",
    request_id=f"{JOB_ID}__gate",
    status="completed",
    output={"approved": True},
)


def sent(api: FakeApi) -> dict[str, object]:
    body: dict[str, object] = json.loads(api.requests[-1].content)
    return body


def asking(api: FakeApi) -> None:
    api.on(f"GET {ROUTE}/decision", answer(SHOWN))
    api.on(f"POST {ROUTE}/decision", answer(DONE))


def test_what_is_decided_on_is_shown_and_its_basis_is_sent(
    switchyard: Switchyard, api: FakeApi
) -> None:
    asking(api)

    result = switchyard("approve", JOB_ID, "gate", "--yes", "--comment", "fine", "--by", "ann")

    assert result.exit_code == 0, result.output
    for shown in ("Publish it?", "write (completed)", "Draft", "is approved: completed"):
        assert shown in result.stdout
    body = sent(api)
    assert body.pop("requestId")
    assert body == {
        "approved": True,
        "basis": SHOWN.basis,
        "comment": "fine",
        "decidedBy": "ann",
    }


def test_nothing_is_decided_without_a_yes(switchyard: Switchyard, api: FakeApi) -> None:
    asking(api)

    result = switchyard("reject", f"{JOB_ID}__gate")  # and nobody answers

    assert result.exit_code == 2
    assert "\nNothing was done: nobody answered. Without a terminal, add --yes." in result.stderr
    assert "Aborted" not in result.stderr
    assert [request.method for request in api.requests] == ["GET"]


def test_an_edited_value_is_read_from_a_file(
    switchyard: Switchyard, api: FakeApi, tmp_path: Path
) -> None:
    asking(api)
    (tmp_path / "value.yaml").write_text("title: Better\n")

    result = switchyard("approve", JOB_ID, "gate", "--yes", "--edit", tmp_path / "value.yaml")

    assert result.exit_code == 0, result.output
    assert sent(api)["value"] == {"title": "Better"}


def test_a_decision_that_comes_too_late_is_refused_with_the_reason(
    switchyard: Switchyard, api: FakeApi
) -> None:
    asking(api)
    refused = "gate was ended by a decision already: it is completed"
    api.on(f"POST {ROUTE}/decision", problem(409, refused))

    result = switchyard("approve", JOB_ID, "gate", "--yes")

    assert result.exit_code == 2
    assert refused in result.stderr


def test_a_signal_carries_its_value(switchyard: Switchyard, api: FakeApi, tmp_path: Path) -> None:
    api.on(f"POST {ROUTE}/signal", answer(DONE))
    (tmp_path / "value.json").write_text('{"euros": 5}')

    result = switchyard("signal", JOB_ID, "gate", "--value", tmp_path / "value.json", "--json")

    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["status"] == "completed"
    assert sent(api)["value"] == {"euros": 5}


def test_the_only_held_approval_of_a_job_need_not_be_named(
    switchyard: Switchyard, api: FakeApi
) -> None:
    asking(api)
    gate = a_task("gate", "held", kind="approval")
    paid = a_task("paid", "held", kind="signal")
    api.on(f"GET /jobs/{JOB_ID}", answer(a_job("processing", gate, paid)))

    result = switchyard("approve", JOB_ID, "--yes")

    assert result.exit_code == 0, result.output
    assert "is approved" in result.stdout


@pytest.mark.parametrize(
    ("statuses", "said"),
    [
        (("held", "held"), f"2 approvals of {JOB_ID} are held: gate-0, gate-1. Name one."),
        (("waiting",), f"No approval of {JOB_ID} is held: gate-0 is waiting."),
        ((), f"{JOB_ID} has no approval; it is processing."),
    ],
)
def test_which_approvals_a_job_has_is_said(
    statuses: tuple[str, ...], said: str, switchyard: Switchyard, api: FakeApi
) -> None:
    gates = [a_task(f"gate-{n}", status, kind="approval") for n, status in enumerate(statuses)]
    api.on(f"GET /jobs/{JOB_ID}", answer(a_job("processing", *gates)))

    result = switchyard("approve", JOB_ID, "--yes")

    assert (result.exit_code, result.stderr) == (2, f"{said}\n")


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"status": "waiting"}, "gate is waiting: it asks once the tasks that it depends on have"),
        ({"status": "completed"}, "gate is completed: nothing is left to decide. `switchyard task"),
        ({"status": "failed"}, "nothing is left to decide; a redrive of the job asks again."),
        ({"kind": "signal"}, f"no approval: `switchyard signal {JOB_ID} gate` ends it."),
        ({"kind": "wait"}, "it ends by itself, or with `switchyard cancel"),
    ],
)
def test_what_is_not_held_is_not_asked_about(
    facts: dict[str, str], said: str, switchyard: Switchyard, api: FakeApi
) -> None:
    api.on(f"GET {ROUTE}/decision", answer(SHOWN.model_copy(update=facts)))

    result = switchyard("reject", JOB_ID, "gate")

    assert said in result.stderr
    assert result.exit_code == 2
    assert [request.method for request in api.requests] == ["GET"]


HELD = HeldApproval(
    job_id=JOB_ID,
    task_id="gate",
    request_id=f"{JOB_ID}__gate",
    name="brand",
    question="Publish\x1b it?",
    held_since=CREATED - timedelta(minutes=5),
    held_until=CREATED,
)


def test_what_waits_for_a_person_is_listed(switchyard: Switchyard, api: FakeApi) -> None:
    api.on("GET /approvals", answer(ApprovalPage(approvals=(HELD,), cursor="1#2")))

    result = switchyard("approvals", "--limit", "1")

    row = result.stdout.splitlines()[1]
    assert " ".join(row.split()) == f"{JOB_ID} gate 5 min 00 s 2027-01-15 08:00 Publish it?"
    assert "More: switchyard approvals --limit 1 --cursor '1#2'\n" in result.stderr
    assert dict(api.requests[0].url.params) == {"limit": "1"}
    assert json.loads(switchyard("approvals", "--json").stdout)["approvals"][0]["taskId"] == "gate"


def test_that_nothing_waits_for_a_person_is_said(switchyard: Switchyard, api: FakeApi) -> None:
    api.on("GET /approvals", answer(ApprovalPage(approvals=())))

    assert switchyard("approvals").stdout == "Nothing waits for a person.\n"
