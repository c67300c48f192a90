"""The function that checks running tasks, every five minutes where the stage enables it."""

import json
from dataclasses import asdict

from aws_cdk import CfnOutput, Duration, Stack
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from constructs import Construct

from stacks.constructs.alarms import raise_alarm, raise_if_not_invoked
from stacks.constructs.function import HouseFunction
from stacks.constructs.layers import FunctionLayers
from stacks.constructs.notifications import alerting_settings, allow_posting_alerts
from stacks.constructs.permissions import allow, allow_on_partitions
from stacks.environment import environment_for, pools_as_json
from stacks.infrastructure import InfrastructureStack
from stacks.stage import Stage
from switchyard.contracts.tables import DUE_INDEX, POOLS_PARTITION, WORKERS_PARTITION
from switchyard.domain.health.diagnosis import OFF_ON_PURPOSE
from switchyard.settings import CheckSettings

CHECK_EVERY = Duration.minutes(5)


class TaskChecks(Construct):
    """Checks running tasks. A disabled schedule can be enabled by hand, and operators can check."""

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
        self.check = HouseFunction(
            self,
            "CheckHealth",
            stage=stage,
            folder="check_health",
            layers=layers,
            environment=_environment(stage, shared),
        )
        _grant(self.check.role, shared)
        allow_posting_alerts(self.check.role, stage=stage, shared=shared)
        self._schedule(stage)
        raise_alarm(
            self,
            "HealthNotChecked",
            self.check.function.metric_errors(period=CHECK_EVERY),
            stage=stage,
            meaning="Running tasks are not checked: the function check-health fails. Its log "
            f"is /aws/lambda/{stage.prefixed('check-health')}.",
        )
        limits = json.dumps(asdict(stage.health_limits))
        CfnOutput(Stack.of(self), "HealthLimits", value=limits)

    def _schedule(self, stage: Stage) -> None:
        rule = events.Rule(
            self,
            "EveryFiveMinutes",
            enabled=stage.checks_health,
            description=None if stage.checks_health else f"{OFF_ON_PURPOSE} Finds stuck tasks.",
            schedule=events.Schedule.rate(CHECK_EVERY),
            targets=[targets.LambdaFunction(self.check.function)],
        )
        if stage.checks_health:
            raise_if_not_invoked(
                self,
                "CheckHealthNotInvoked",
                self.check.function,
                stage=stage,
                every=CHECK_EVERY,
                schedule=rule,
                meaning="The function check-health has not been invoked for 25 minutes: tasks that "
                "are stuck are not found.",
            )


def _environment(stage: Stage, shared: InfrastructureStack) -> dict[str, str]:
    limits = stage.health_limits
    return environment_for(
        CheckSettings,
        stage=stage.name,
        eventbridge_bus_name=shared.bus.event_bus_name,
        s3_bucket=shared.artifacts.bucket.bucket_name,
        task_definitions_table=shared.task_definitions_table.table_name,
        tenant_id=stage.adopting_tenant,
        silent_warning_ms=limits.silent_warning_ms,
        silent_critical_ms=limits.silent_critical_ms,
        overtime_ms=limits.overtime_ms,
        progress_ms=limits.progress_ms,
        same_call_repeats=limits.repeats,
        pools=pools_as_json(shared.pools),
        **alerting_settings(stage, shared),
    )


def _grant(role: iam.IRole, shared: InfrastructureStack) -> None:
    state = shared.state_table.table_arn
    allow(role, "dynamodb:BatchGetItem", on=[state])
    allow(role, "dynamodb:Query", on=[f"{state}/index/{DUE_INDEX}"])
    read = [WORKERS_PARTITION, POOLS_PARTITION]
    allow_on_partitions(role, "dynamodb:Query", state_table=state, partitions=read)
    allow(role, "dynamodb:GetItem", on=[shared.task_definitions_table.table_arn])
    shared.artifacts.allow_event_payloads(role)
    allow(role, "events:PutEvents", on=[shared.bus.event_bus_arn])
