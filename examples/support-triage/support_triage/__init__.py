"""The code of a support triage: tickets are read, answers sorted, and replies sent."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from switchyard.functions import WrongInput, input_file, progress, task

MAX_TICKETS: Final = 1_000
MAX_CHARACTERS: Final = 4_000
"""The most characters of a ticket that an agent reads."""
FIELDS: Final = ("id", "customer", "subject", "text")


@dataclass
class Reply:
    """The answer of an agent to one ticket."""

    ticket: str
    urgent: bool
    category: str
    reply: str


@dataclass
class SortedReplies:
    """Replies that are sent at once, and those that a person has to see first."""

    routine: list[Reply]
    urgent: list[Reply]
    urgent_count: int
    unanswered: list[str]


@task(name="read-tickets", retries=0)
def read_tickets() -> dict[str, int]:
    """Check the tickets of the job, leave out repeated ones, and shorten those that are long."""
    tickets: dict[str, dict[str, str]] = {}
    lines = _lines_of("job/tickets")
    if len(lines) > MAX_TICKETS:
        raise WrongInput(f"{len(lines)} tickets are too many for one job, which has {MAX_TICKETS}")
    for number, line in enumerate(lines, start=1):
        ticket = _ticket(line, number)
        tickets.setdefault(ticket["id"], ticket)
    progress(1, f"{len(tickets)} tickets")
    listed = "".join(f"{json.dumps(ticket)}\n" for ticket in tickets.values())
    Path("artifacts/tickets.jsonl").write_text(listed)
    return {"tickets": len(tickets), "repeated": len(lines) - len(tickets)}


@task(name="sort-answers", retries=0)
def sort_answers(answers: list[dict[str, Any] | None]) -> SortedReplies:
    """Separate the replies that a person has to see from the others, and list them to be read.

    Answers come in the order of the tickets, with `null` for each agent that failed.
    """
    tickets = [json.loads(line)["id"] for line in _lines_of("read/tickets.jsonl")]
    found = dict(zip(tickets, answers, strict=True))
    replies = [_reply(ticket, answer) for ticket, answer in found.items() if answer is not None]
    urgent = [reply for reply in replies if reply.urgent]
    routine = [reply for reply in replies if not reply.urgent]
    unanswered = [ticket for ticket, answer in found.items() if answer is None]
    pages = [_page("Urgent", urgent), _page("Routine", routine), _left_over(unanswered)]
    Path("artifacts/replies.md").write_text("\n".join(pages))
    return SortedReplies(
        routine=routine, urgent=urgent, urgent_count=len(urgent), unanswered=unanswered
    )


@task(name="send-replies", timeout="1m")
def send_replies(replies: list[Reply]) -> dict[str, int]:
    """Send replies to customers: here to a file, in your package to your help desk."""
    with Path("artifacts/outbox.jsonl").open("w") as outbox:
        for number, reply in enumerate(replies, start=1):
            outbox.write(f"{json.dumps(asdict(reply))}\n")
            progress(number / len(replies), f"reply {number} of {len(replies)}")
    return {"sent": len(replies)}


def _ticket(line: str, number: int) -> dict[str, str]:
    try:
        read = json.loads(line)
    except ValueError as problem:
        raise WrongInput(f"line {number} of the tickets is not JSON: {problem}") from problem
    missing = [name for name in FIELDS if not isinstance(read, dict) or not read.get(name)]
    if missing:
        raise WrongInput(f"line {number} of the tickets has no {', '.join(missing)}")
    return {name: str(read[name])[:MAX_CHARACTERS] for name in FIELDS}


def _lines_of(file: str) -> list[str]:
    return [line for line in input_file(file).read_text().split("\n") if line.strip()]


def _reply(ticket: str, answer: dict[str, Any]) -> Reply:
    return Reply(
        ticket=ticket, urgent=answer["urgent"], category=answer["category"], reply=answer["reply"]
    )


def _page(title: str, replies: list[Reply]) -> str:
    lines = [f"## {title} ({len(replies)})", ""]
    for reply in replies:
        lines += [f"**{reply.ticket}** ({reply.category}): {reply.reply}", ""]
    return "\n".join(lines)


def _left_over(tickets: list[str]) -> str:
    return f"## Without an answer ({len(tickets)})\n\n{', '.join(tickets)}\n"
