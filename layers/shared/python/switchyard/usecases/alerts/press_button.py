"""Does what a button of an alert asks for: the same as the API, in the name of who pressed it."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from switchyard.contracts.changes import DecideTask, RedriveJob
from switchyard.domain.access.tenants import may_press
from switchyard.domain.alerts.incidents import Button
from switchyard.domain.alerts.subjects import ApprovalSubject, JobSubject
from switchyard.domain.errors import Rejected, Unavailable
from switchyard.domain.ids import JobRef, TaskRef
from switchyard.ports import TenantStore
from switchyard.ports.alerting import MessageKey, Note, Posted
from switchyard.usecases.alerts.post_alerts import AlertPublisher
from switchyard.usecases.jobs.cancel import CancelRequests
from switchyard.usecases.jobs.decide_task import TaskDecider
from switchyard.usecases.jobs.redrive_requests import RedriveRequests

TRY_AGAIN: Final = "something that this needs does not answer; try again in a moment"
NOT_AN_OPERATOR: Final = (
    "the Slack user {} is neither among the operators of this stage nor among those of the tenant"
    " whose job it is; who runs the stage can add you (switchyard tenants set)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Press:
    """A button of an alert, and the user who pressed it."""

    button: Button
    user_id: str
    user_name: str
    message: Posted
    """The message that has the button."""

    @property
    def by(self) -> str:
        name = " ".join(self.user_name.split())
        return f"{name} (Slack {self.user_id})".strip()


@dataclass(frozen=True, slots=True)
class Pressed:
    """The result of pressing a button."""

    outcome: str
    """The text after the user's name that says what was done; or why nothing was done."""
    done: bool = False
    not_posted: str | None = None
    """The reason why the outcome could not be posted in the thread, if it could not."""


@dataclass(frozen=True, kw_only=True)
class ButtonPresses:
    redrives: RedriveRequests
    cancels: CancelRequests
    decider: TaskDecider
    operators: Collection[str]
    """The ids of the users who may press buttons on every tenant's incidents."""
    tenants: TenantStore
    alerts: AlertPublisher

    def press(self, press: Press) -> Pressed:
        try:
            if not self._is_allowed(press):
                return Pressed(NOT_AN_OPERATOR.format(press.user_id))
            done = self._act(press)
        except Rejected as error:
            return Pressed(str(error))
        except Unavailable:
            return Pressed(TRY_AGAIN)
        return Pressed(done, done=True, not_posted=self._post_note(press, done))

    def _is_allowed(self, press: Press) -> bool:
        settings = self.tenants.find(press.button.tenant)
        return may_press(press.user_id, stage_operators=self.operators, settings=settings)

    def _act(self, press: Press) -> str:
        button, by = press.button, press.by
        ref = JobRef(button.tenant, button.job_id)
        if button.task_id is not None:
            return self._decide(press, ref.task(button.task_id))
        if button.action == "redrive":
            accepted = self.redrives.request_redrive(ref, RedriveJob(), run=button.run, by=by)
            return f"redrove it: run {accepted.run}"
        self.cancels.request_cancel(ref, run=button.run, by=by)
        return f"cancelled it: run {button.run}"

    def _decide(self, press: Press, approval: TaskRef) -> str:
        """The id of the request names the message and the user: a press counts once."""
        button = press.button
        approved = button.action == "approve"
        request_id = f"slack-{press.message.ts}-{press.user_id}-{button.action}"
        request = DecideTask(approved=approved, basis=button.basis or "", request_id=request_id)
        self.decider.decide(approval, request, by=press.by)
        return f"{'approved' if approved else 'rejected'} {approval.task_id}"

    def _post_note(self, press: Press, done: str) -> str | None:
        button = press.button
        job = JobRef(button.tenant, button.job_id)
        approval = button.task_id and ApprovalSubject(job.task(button.task_id))
        subject = approval or JobSubject(job)
        key = MessageKey(subject, 0, f"{button.action}-{button.run}-{press.user_id}")
        return self.alerts.post_note(press.message, Note(done, user_id=press.user_id), key)
