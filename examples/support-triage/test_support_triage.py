"""The job runs in this process: agents are scripted, code and files are real."""

import json
from pathlib import Path
from typing import Any

import pytest

from switchyard.testing import JobResult, fails
from switchyard.testing.job_runs.run import RunJob

JOB = Path(__file__).parent / "job.yaml"


def answer(given: dict[str, Any]) -> dict[str, Any]:
    """Answer as an agent would: what cannot be paid or was charged wrongly is urgent."""
    urgent = "500" in given["text"] or "charged" in given["text"]
    return {"urgent": urgent, "category": "question", "reply": f"About {given['subject']}."}


def sent(result: JobResult, task_id: str) -> list[str]:
    lines = result[task_id].files["outbox.jsonl"].decode().splitlines()
    return [json.loads(line)["ticket"] for line in lines]


def test_routine_replies_are_sent_at_once_and_urgent_ones_when_approved(run_job: RunJob) -> None:
    result = run_job(JOB, agents={"answer-ticket": answer}, decisions={"gate": "approve"})

    assert result.errors == {}
    assert result.outputs["read"] == {"tickets": 8, "repeated": 1}
    assert sent(result, "send-urgent") == ["T-101", "T-105"]
    assert len(sent(result, "send-routine")) == 6
    assert b"## Urgent (2)" in result["sort"].files["replies.md"]


@pytest.mark.parametrize("decisions", [{"gate": "reject"}, {}], ids=["rejected", "nobody decides"])
def test_nothing_urgent_is_sent_without_an_approval(
    run_job: RunJob, decisions: dict[str, str]
) -> None:
    result = run_job(JOB, agents={"answer-ticket": answer}, decisions=decisions)

    assert result["send-urgent"].status == "skipped"
    assert result["send-routine"].status == "completed"


def test_nobody_is_asked_if_nothing_is_urgent(run_job: RunJob) -> None:
    calm = {"urgent": False, "category": "question", "reply": "Thank you."}
    result = run_job(JOB, agents={"answer-ticket": calm})

    assert (result["gate"].status, result["send-urgent"].status) == ("skipped", "skipped")


def test_a_ticket_whose_agent_fails_is_listed_and_the_others_are_answered(run_job: RunJob) -> None:
    def one_fails(given: dict[str, Any]) -> Any:
        return fails("refused", "validation") if given["ticket"] == "T-107" else answer(given)

    result = run_job(JOB, agents={"answer-ticket": one_fails}, decisions={"gate": "approve"})

    assert result.outputs["sort"]["unanswered"] == ["T-107"]
    assert result["send-urgent"].status == "completed"


@pytest.mark.parametrize(
    ("line", "said"),
    [(b"oops", "line 1 of the tickets is not JSON"), (b'{"id": "T-1"}', "has no customer")],
)
def test_a_wrong_ticket_ends_the_job_before_an_agent_is_paid(
    run_job: RunJob, line: bytes, said: str
) -> None:
    result = run_job(JOB, files={"tickets.jsonl": line}, agents={"answer-ticket": answer})

    assert said in result.errors["read"]
    assert result.started == ("read",)
