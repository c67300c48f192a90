"""`approve`, `reject` and `signal`: what is shown, asked, sent and answered."""

import json
from pathlib import Path

from switchyard.contracts.changes import DecisionView, ShownParent, TaskDecided
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import CREATED, JOB_ID, FakeApi, answer, problem

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

    assert result.exit_code == 1
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
