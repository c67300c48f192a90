"""What a button in Slack does: the same as the API, with the name of who pressed it."""

from dataclasses import dataclass

from switchyard.contracts.changes import RedriveJob
from switchyard.domain.alerts.incidents import Button
from switchyard.domain.ids import JobRef
from switchyard.usecases.jobs.cancel import CancelRequests
from switchyard.usecases.jobs.redrive import RedriveRequests


@dataclass(frozen=True, kw_only=True)
class Buttons:
    redrives: RedriveRequests
    cancels: CancelRequests

    def press(self, button: Button, *, by: str) -> str:
        """What was done, as one would go on after a name. Raise `Rejected`, `Unavailable`."""
        ref = JobRef(button.tenant, button.job_id)
        if button.action == "redrive":
            accepted = self.redrives.request_redrive(ref, RedriveJob(), run=button.run, by=by)
            return f"redrove it: run {accepted.run}"
        self.cancels.request_cancel(ref, run=button.run, by=by)
        return f"cancelled it: run {button.run}"
