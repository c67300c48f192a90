"""Accepts jobs: an HTTP API whose keys name the tenant."""

from aws_cdk import CfnOutput, Stack
from aws_cdk import aws_iam as iam
from aws_cdk.aws_apigatewayv2 import HttpMethod
from constructs import Construct

from stacks.constructs.authorised_api import AuthorisedApi
from stacks.constructs.function import HouseFunction
from stacks.constructs.layers import FunctionLayers
from stacks.constructs.permissions import (
    allow,
    allow_closing_jobs,
    keep_from_tenant_settings,
)
from stacks.constructs.slack_actions import SlackActions
from stacks.constructs.triggers import Triggers, allow_changing_triggers
from stacks.environment import as_json, environment_for, groups_of, pools_as_json
from stacks.infrastructure import InfrastructureStack
from stacks.stage import Stage
from switchyard.contracts.tables import DUE_INDEX, EVENT_INDEXES, JOBS_INDEX, event_index_name
from switchyard.settings import ApiSettings, AuthorizerSettings

ROUTES = (
    (HttpMethod.POST, "/jobs"),
    (HttpMethod.GET, "/jobs"),
    (HttpMethod.POST, "/files"),
    (HttpMethod.GET, "/approvals"),
    (HttpMethod.GET, "/jobs/{jobId}"),
    (HttpMethod.POST, "/jobs/{jobId}/tasks"),
    (HttpMethod.GET, "/jobs/{jobId}/tasks/{taskId}"),
    (HttpMethod.POST, "/jobs/{jobId}/cancel"),
    (HttpMethod.POST, "/jobs/{jobId}/tasks/{taskId}/cancel"),
    (HttpMethod.GET, "/jobs/{jobId}/tasks/{taskId}/decision"),
    (HttpMethod.POST, "/jobs/{jobId}/tasks/{taskId}/decision"),
    (HttpMethod.POST, "/jobs/{jobId}/tasks/{taskId}/signal"),
    (HttpMethod.POST, "/jobs/{jobId}/redrive"),
    (HttpMethod.GET, "/jobs/{jobId}/events"),
    (HttpMethod.GET, "/events"),
    (HttpMethod.PUT, "/task-definitions/{name}"),
    (HttpMethod.GET, "/task-definitions/{name}"),
    (HttpMethod.DELETE, "/task-definitions/{name}"),
    (HttpMethod.GET, "/task-definitions/{name}/versions/{version}"),
    (HttpMethod.GET, "/task-definitions"),
    (HttpMethod.GET, "/triggers"),
    (HttpMethod.PUT, "/triggers/{name}"),
    (HttpMethod.GET, "/triggers/{name}"),
    (HttpMethod.DELETE, "/triggers/{name}"),
    (HttpMethod.POST, "/triggers/{name}/enable"),
    (HttpMethod.POST, "/triggers/{name}/disable"),
    (HttpMethod.POST, "/triggers/{name}/fire"),
    (HttpMethod.GET, "/queues"),
    (HttpMethod.POST, "/queues"),
    (HttpMethod.GET, "/queues/{group}"),
    (HttpMethod.PATCH, "/queues/{group}"),
    (HttpMethod.DELETE, "/queues/{group}"),
    (HttpMethod.POST, "/queues/{group}/items"),
    (HttpMethod.GET, "/queues/{group}/dead-letters"),
    (HttpMethod.GET, "/queues/{group}/{name}"),
    (HttpMethod.PATCH, "/queues/{group}/{name}"),
    (HttpMethod.DELETE, "/queues/{group}/{name}"),
    (HttpMethod.POST, "/queues/{group}/{name}/items"),
    (HttpMethod.GET, "/queues/{group}/{name}/dead-letters"),
    (HttpMethod.GET, "/pools"),
    (HttpMethod.GET, "/health"),
    (HttpMethod.GET, "/openapi.json"),
    (HttpMethod.GET, "/docs"),
)


# GSI2 is one partition for all tenants of an app: no tenant is made to read past the others.
ASKED_BY_TENANTS = [index for index in EVENT_INDEXES if index != "GSI2"]


class ProducerApiStack(Stack):
    def __init__(
        self, scope: Construct, construct_id: str, *, stage: Stage, shared: InfrastructureStack
    ) -> None:
        super().__init__(scope, construct_id)
        layers = FunctionLayers(self, "Layers", stage=stage)
        self.triggers = Triggers(self, "Triggers", stage=stage, shared=shared, layers=layers)
        published = AuthorisedApi(
            self,
            "Published",
            stage=stage,
            authorizer=self._authorizer(stage, shared, layers).function,
            handler=self._handler(stage, shared, layers).function,
            routes=ROUTES,
        )
        SlackActions(
            self, "SlackActions", stage=stage, shared=shared, layers=layers, api=published.api
        )
        CfnOutput(self, "ApiId", value=published.api.api_id)
        CfnOutput(self, "ApiUrl", value=published.url)

    def _authorizer(
        self, stage: Stage, shared: InfrastructureStack, layers: FunctionLayers
    ) -> HouseFunction:
        authorize = HouseFunction(
            self,
            "Authorize",
            stage=stage,
            folder="authorize",
            layers=layers,
            environment=environment_for(
                AuthorizerSettings,
                stage=stage.name,
                api_keys_table_name=shared.api_keys_table.table_name,
            ),
        )
        allow(
            authorize.role,
            "dynamodb:GetItem",
            "dynamodb:UpdateItem",
            on=[shared.api_keys_table.table_arn],
        )
        return authorize

    def _handler(
        self, stage: Stage, shared: InfrastructureStack, layers: FunctionLayers
    ) -> HouseFunction:
        api = HouseFunction(
            self,
            "Api",
            stage=stage,
            folder="api",
            layers=layers,
            environment=environment_for(
                ApiSettings,
                stage=stage.name,
                eventbridge_bus_name=shared.bus.event_bus_name,
                state_table_name=shared.state_table.table_name,
                task_definitions_table=shared.task_definitions_table.table_name,
                dynamodb_events_table_name=shared.events_table.table_name,
                s3_bucket=shared.artifacts.bucket.bucket_name,
                dispatch_queue_url=shared.dispatches.queue.queue_url,
                job_queue_url=shared.job_steps.queue.queue_url,
                ceilings=as_json(stage.ceilings),
                queue_groups=groups_of(stage),
                pools=pools_as_json(shared.pools),
                trigger_queue_arn=self.triggers.queue.queue_arn,
                trigger_dead_letters_arn=self.triggers.dead_letters.queue_arn,
                webhooks_may_reach_private=stage.webhooks_may_reach_private,
                requests_per_second=stage.key_limits.per_second,
                requests_at_once=stage.key_limits.burst,
                requests_per_day=stage.key_limits.per_day,
            ),
        )
        _grant(api.role, shared)
        _grant_log(api.role, shared)
        allow_changing_triggers(api.role, self.triggers, stage=stage)
        return api


def _grant(role: iam.IRole, shared: InfrastructureStack) -> None:
    state = shared.state_table.table_arn
    allow(
        role,
        "dynamodb:BatchGetItem",
        "dynamodb:ConditionCheckItem",
        "dynamodb:GetItem",
        "dynamodb:PutItem",
        "dynamodb:UpdateItem",
        on=[state],
    )
    keep_from_tenant_settings(role, state_table=state)
    allow_closing_jobs(role, state_table=state)
    indexes = [f"{state}/index/{name}" for name in (JOBS_INDEX, DUE_INDEX)]
    allow(role, "dynamodb:Query", on=[state, *indexes])
    allow(
        role,
        "dynamodb:BatchGetItem",
        "dynamodb:GetItem",
        "dynamodb:Query",
        "dynamodb:UpdateItem",
        on=[shared.task_definitions_table.table_arn],
    )
    shared.artifacts.allow_task_files(role, "s3:GetObject", "s3:PutObject")
    shared.artifacts.allow_listing_task_files(role)
    allow(role, "events:PutEvents", on=[shared.bus.event_bus_arn])
    queues = (shared.dispatches, shared.job_steps)
    allow(role, "sqs:SendMessage", on=[one.queue.queue_arn for one in queues])
    shared.artifacts.allow_event_payloads(role, "s3:GetObject")


def _grant_log(role: iam.IRole, shared: InfrastructureStack) -> None:
    events = shared.events_table.table_arn
    indexes = [f"{events}/index/{event_index_name(index)}" for index in ASKED_BY_TENANTS]
    allow(role, "dynamodb:Query", on=[events, *indexes])
    allow(role, "dynamodb:BatchGetItem", on=[events])
