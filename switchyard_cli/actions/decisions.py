"""Decides approvals as the command that runs a job says, when the job comes to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from switchyard.client.errors import Refused
from switchyard.domain.states import TaskKind
from switchyard.domain.text import did_you_mean
from switchyard_cli.actions.retry import until_accepted
from switchyard_cli.errors import BadInput
from switchyard_cli.terminal import clean, notices

if TYPE_CHECKING:
    from switchyard.contracts.changes import DecideTask
    from switchyard.contracts.jobs import JobView
    from switchyard_cli.connections.api import Api
    from switchyard_cli.files.job_file import JobFile
    from switchyard_cli.services import Services

ANSWERS: Final = {"approve": True, "reject": False}
MAX_PERSON: Final = 200


def given_decisions(given: Sequence[str], job: JobFile) -> dict[str, bool]:
    """Return what `--decide TASK=approve` says of each approval. Raise `BadInput`."""
    approvals = [task.task_id for task in job.tasks if task.kind is TaskKind.APPROVAL]
    decisions: dict[str, bool] = {}
    for text in given:
        name, _, answer = text.partition("=")
        if answer not in ANSWERS:
            raise BadInput(f"--decide {text}: write TASK=approve or TASK=reject.")
        if name not in approvals:
            there = f"its approvals are {', '.join(approvals)}" if approvals else "it has none"
            hint = did_you_mean(name, approvals)
            raise BadInput(f"--decide {text}: the job has no approval {name!r}{hint}; {there}.")
        if name in decisions:
            raise BadInput(f"--decide {name} is there twice.")
        decisions[name] = ANSWERS[answer]
    return decisions


class GivenDecisions:
    """Decides each approval of a job once, as soon as the job waits for it."""

    def __init__(self, decisions: Mapping[str, bool], api: Api, services: Services) -> None:
        self._left = dict(decisions)
        self._api = api
        self._services = services

    def decide(self, job: JobView) -> bool:
        """Decide what the job waits for now; return whether anything was decided."""
        held = [task.task_id for task in job.tasks if task.status == "held"]
        now = [name for name in held if name in self._left]
        for name in now:
            self._decide(job.job_id, name, approved=self._left.pop(name))
        return bool(now)

    def _decide(self, job_id: str, task_id: str, *, approved: bool) -> None:
        from switchyard.contracts.changes import DecideTask  # noqa: PLC0415 - only if used

        clock = self._services.clock
        shown = until_accepted(lambda: self._api.decision(job_id, task_id), clock)
        request: DecideTask = DecideTask(
            approved=approved,
            basis=shown.basis,
            comment="decided by the command that ran the job",
            decided_by=self._services.environment.get("USER", "")[:MAX_PERSON] or None,
            request_id=self._services.new_key(),
        )
        try:
            until_accepted(lambda: self._api.decide(job_id, task_id, request), clock)
            said = f"{task_id} is {'approved' if approved else 'rejected'}, as --decide says."
        except Refused as refused:
            said = f"{task_id} is not decided by --decide: {refused}"
        notices().print(clean(said), style="dim", soft_wrap=True)
