"""Requests for notifications: where a producer wants the end of a job published."""

from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from switchyard.contracts.wire import Closed, described_by, unless_absent
from switchyard.domain.errors import Problem
from switchyard.domain.jobs import notify as domain
from switchyard.domain.jobs.notify import (
    DEFAULT_ENDS,
    MAX_URL,
    SLACK_CHANNEL,
    NotifiedEnd,
    hook_at,
    problem_with_channel,
    problem_with_hook,
    problem_with_url,
)


def _channel(name: str) -> str:
    problem = problem_with_channel(name)
    if problem:
        raise ValueError(problem)
    return name


def _webhook(url: str) -> str:
    problem = problem_with_url(url)
    if problem:
        raise ValueError(problem)
    return url


SlackChannel = Annotated[str, AfterValidator(_channel), described_by(SLACK_CHANNEL)]
WebhookUrl = Annotated[
    str, AfterValidator(_webhook), Field(json_schema_extra={"format": "uri", "maxLength": MAX_URL})
]


class Notify(Closed):
    """The channel or webhook to which the job's failure, recovery or completion is published."""

    channel: SlackChannel | None = unless_absent()
    """A Slack channel: its name with # in front, or its id."""
    webhook: WebhookUrl | None = unless_absent()
    """The URL for signed requests: https only, and at public addresses."""

    on: tuple[NotifiedEnd, ...] = Field(
        default=DEFAULT_ENDS, min_length=1, max_length=2, exclude_if=lambda on: on == DEFAULT_ENDS
    )
    """The ends that are published: failures, unless it says otherwise; each once for each run."""

    @model_validator(mode="after")
    def _names_one(self) -> Self:
        if (self.channel is None) == (self.webhook is None):
            raise ValueError("must name either a channel or a webhook")
        return self

    @classmethod
    def of(cls, notify: domain.NotifyTarget) -> "Notify":
        """Take the target as it was stored, without a check: it was valid when it was submitted."""
        return cls.model_construct(channel=notify.channel, webhook=notify.webhook, on=notify.on)

    def value(self) -> domain.NotifyTarget:
        return domain.NotifyTarget(
            channel=self.channel, webhook=self.webhook, on=tuple(sorted(set(self.on)))
        )


def notify_problems(notify: Notify | None, *, nearby_allowed: bool) -> list[Problem]:
    """Return the problems of the target in this stage."""
    if notify is None or notify.webhook is None:
        return []
    problem = problem_with_hook(hook_at(notify.webhook), nearby_allowed=nearby_allowed)
    return [Problem(("notify", "webhook"), problem)] if problem else []
