"""The alerts queue, the rules that send to it, and the function that reports incidents."""

from aws_cdk import ArnFormat, Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from stacks.constructs.alarms import looked_up, unreported, visible
from stacks.constructs.function import HouseFunction
from stacks.constructs.layers import FunctionLayers
from stacks.constructs.permissions import acknowledge_wildcard, allow, allow_on_alerts
from stacks.constructs.queue import FUNCTION_RECEIVES, HouseQueue
from stacks.environment import environment_for
from stacks.infrastructure import InfrastructureStack
from stacks.stage import Stage
from switchyard.contracts.alerting import (
    ALARM_EVENT,
    APPROVAL_EVENTS,
    JOB_EVENTS,
    OBJECT_EVENTS,
    TASK_EVENTS,
)
from switchyard.contracts.events import DETAIL_TYPE
from switchyard.contracts.events.envelope import DELIVERY_RETRIES, DELIVERY_SECONDS
from switchyard.contracts.parked_messages import PARKED_PREFIXES
from switchyard.domain.states import TaskKind
from switchyard.settings import ReportIncidentsSettings

GATHERED = Duration.seconds(5)
"""Collects the events of many dead letters into one batch, so that one update is posted."""


class Notifications(Construct):
    """Posts alerts about failed jobs, dead letters and alarms.

    An event that a rule cannot deliver goes to the dead letters of the alerts queue. Those raise an
    alarm that is not posted: a function that fails cannot report itself.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        stage: Stage,
        shared: InfrastructureStack,
        layers: FunctionLayers,
    ) -> None:
        super().__init__(scope, construct_id)
        self.alerts = HouseQueue(self, "Alerts", stage=stage, name="alerts-queue", reader="notify")
        self._rules(stage, shared)
        self._alarm(stage)
        self.report = HouseFunction(
            self,
            "Notify",
            stage=stage,
            folder="report_incidents",  # deployed as `notify`, which is older than the folder
            layers=layers,
            environment=environment_for(
                ReportIncidentsSettings,
                stage=stage.name,
                s3_bucket=shared.artifacts.bucket.bucket_name,
                webhooks_secret=webhooks_secret(stage),
                webhooks_may_reach_private=stage.webhooks_may_reach_private,
                **alerting_settings(stage, shared),
            ),
        )
        allow_secret(self.report.role, webhooks_secret(stage))
        self.report.consume(
            self.alerts.queue,
            batch_size=10,
            at_once=stage.concurrency.report_incidents,
            window=GATHERED,
        )
        allow_posting_alerts(self.report.role, stage=stage, shared=shared)
        self._grant(stage, shared)

    def _rules(self, stage: Stage, shared: InfrastructureStack) -> None:
        jobs = events.EventPattern(
            detail_type=[DETAIL_TYPE], detail={"eventType": list(JOB_EVENTS)}
        )
        dead_letters = events.EventPattern(
            source=["aws.s3"],
            detail_type=list(OBJECT_EVENTS),
            detail={
                "bucket": {"name": [shared.artifacts.bucket.bucket_name]},
                "object": {"key": [{"prefix": prefix} for prefix in PARKED_PREFIXES]},
            },
        )
        alarms = events.EventPattern(
            source=["aws.cloudwatch"],
            detail_type=[ALARM_EVENT],
            detail={"alarmName": [{"prefix": stage.prefixed("")}]},
        )
        tasks = events.EventPattern(
            detail_type=[DETAIL_TYPE],
            detail={
                "eventType": list(TASK_EVENTS),
                "properties": {"jobId": [{"exists": False}]},
            },
        )
        approvals = events.EventPattern(
            detail_type=[DETAIL_TYPE],
            detail={
                "eventType": list(APPROVAL_EVENTS),
                "properties": {"kind": [TaskKind.APPROVAL.value]},
            },
        )
        self._rule("JobsThatFail", jobs, bus=shared.bus)
        self._rule("ApprovalsThatWait", approvals, bus=shared.bus)
        self._rule("TasksWithoutAJobThatFail", tasks, bus=shared.bus)
        self._rule("LettersThatAreKept", dead_letters)
        self._rule("AlarmsThatChange", alarms)

    def _rule(
        self, name: str, pattern: events.EventPattern, *, bus: events.IEventBus | None = None
    ) -> None:
        """Add a rule; without a bus, to the account's default bus, which has AWS's own events."""
        target = targets.SqsQueue(
            self.alerts.queue,
            dead_letter_queue=self.alerts.dead_letters,
            retry_attempts=DELIVERY_RETRIES,
            max_event_age=Duration.seconds(DELIVERY_SECONDS),
        )
        events.Rule(self, name, event_bus=bus, event_pattern=pattern, targets=[target])

    def _alarm(self, stage: Stage) -> None:
        """Raise an alarm whose name does not match the rule for alarms."""
        cloudwatch.Alarm(
            self,
            "AlertsUnheard",
            alarm_name=unreported("alerts-unheard", stage),
            alarm_description="An incident could not be reported: the function notify failed "
            f"{FUNCTION_RECEIVES} times. Its log is /aws/lambda/{stage.prefixed('notify')}. "
            f"{looked_up('alerts-unheard')}",
            metric=visible(self.alerts.dead_letters),
            threshold=0,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
            evaluation_periods=1,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )

    def _grant(self, stage: Stage, shared: InfrastructureStack) -> None:
        role = self.report.role
        allow(role, "dynamodb:BatchGetItem", "dynamodb:Query", on=[shared.state_table.table_arn])
        shared.artifacts.allow_reading_parked_messages(role)
        shared.artifacts.allow_task_files(role, "s3:GetObject")
        shared.artifacts.allow_listing_task_files(role)
        named = f"{stage.prefixed('')}*"
        alarms = Stack.of(self).format_arn(
            service="cloudwatch",
            resource="alarm",
            resource_name=named,
            arn_format=ArnFormat.COLON_RESOURCE_NAME,
        )
        allow(role, "cloudwatch:DescribeAlarms", on=[alarms])
        acknowledge_wildcard(
            role,
            f"arn:<AWS::Partition>:cloudwatch:<AWS::Region>:<AWS::AccountId>:alarm:{named}",
            because="It looks at whichever alarm of this stage has changed.",
        )


def alerting_settings(stage: Stage, shared: InfrastructureStack) -> dict[str, str]:
    """The settings of a function that posts alerts."""
    return {
        "state_table_name": shared.state_table.table_name,
        "slack_secret": slack_secret(stage),
        "slack_channel": stage.slack_channel,
    }


def slack_secret(stage: Stage) -> str:
    """The name of the secret for Slack, which is optional: without it no alert is posted."""
    return f"switchyard/{stage.name}/slack"


def webhooks_secret(stage: Stage) -> str:
    """The name of the secret that webhooks are signed with; without it none is called."""
    return f"switchyard/{stage.name}/webhooks"


def allow_posting_alerts(role: iam.IRole, *, stage: Stage, shared: InfrastructureStack) -> None:
    allow(role, "dynamodb:GetItem", on=[shared.state_table.table_arn])
    allow_on_alerts(role, "dynamodb:UpdateItem", state_table=shared.state_table.table_arn)
    allow_secret(role, slack_secret(stage))


def allow_secret(role: iam.IRole, name: str) -> None:
    """Allow to read a secret, to whose name Secrets Manager adds six characters."""
    arn = Stack.of(role).format_arn(
        service="secretsmanager",
        resource="secret",
        resource_name=f"{name}-??????",
        arn_format=ArnFormat.COLON_RESOURCE_NAME,
    )
    allow(role, "secretsmanager:GetSecretValue", on=[arn])


def allow_requesting_checks(role: iam.IRole, alerts: sqs.IQueue) -> None:
    """Allow to send messages to the alerts queue."""
    allow(role, "sqs:GetQueueUrl", "sqs:SendMessage", on=[alerts.queue_arn])
