"""The route for buttons in Slack: the one route that needs Slack's signature and no API key."""

from aws_cdk import aws_apigatewayv2 as apigatewayv2
from aws_cdk import aws_iam as iam
from aws_cdk.aws_apigatewayv2_integrations import HttpLambdaIntegration
from constructs import Construct

from stacks.constructs.function import HouseFunction
from stacks.constructs.layers import FunctionLayers
from stacks.constructs.notifications import alerting_settings, allow_secret, slack_secret
from stacks.constructs.permissions import acknowledge, allow
from stacks.environment import environment_for
from stacks.infrastructure import InfrastructureStack
from stacks.stage import Stage
from switchyard.contracts.tables import DEDUPLICATION_PREFIX, job_partition
from switchyard.settings import AnswerSlackSettings

PATH = "/slack/actions"


class SlackActions(Construct):
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        stage: Stage,
        shared: InfrastructureStack,
        layers: FunctionLayers,
        api: apigatewayv2.HttpApi,
    ) -> None:
        super().__init__(scope, construct_id)
        answer = HouseFunction(
            self,
            "AnswerSlack",
            stage=stage,
            folder="answer_slack",
            layers=layers,
            environment=environment_for(
                AnswerSlackSettings,
                stage=stage.name,
                eventbridge_bus_name=shared.bus.event_bus_name,
                s3_bucket=shared.artifacts.bucket.bucket_name,
                dispatch_queue_url=shared.dispatches.queue.queue_url,
                job_queue_url=shared.job_steps.queue.queue_url,
                slack_operators=",".join(stage.slack_operators),
                **alerting_settings(stage, shared),
            ),
        )
        _grant(answer.role, stage, shared)
        self._route(api, answer)

    def _route(self, api: apigatewayv2.HttpApi, answer: HouseFunction) -> None:
        routes = api.add_routes(
            path=PATH,
            methods=[apigatewayv2.HttpMethod.POST],
            integration=HttpLambdaIntegration("AnswerSlack", answer.function),
            authorizer=apigatewayv2.HttpNoneAuthorizer(),
        )
        for route in routes:
            acknowledge(
                route,
                "AwsSolutions-APIG4",
                because="Slack has no key: the function believes nothing without its signature.",
            )


def _grant(role: iam.IRole, stage: Stage, shared: InfrastructureStack) -> None:
    """Allow it to end approvals, and to begin redrives and cancellations for the dispatcher."""
    state = shared.state_table.table_arn
    allow(role, "dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:Query", on=[state])
    _allow_on_items(role, "dynamodb:UpdateItem", state, named=job_partition("*", "*"))
    _allow_on_items(role, "dynamodb:PutItem", state, named=f"{DEDUPLICATION_PREFIX}*")
    shared.artifacts.allow_task_files(role, "s3:GetObject", "s3:PutObject")
    shared.artifacts.allow_event_payloads(role)
    allow(role, "events:PutEvents", on=[shared.bus.event_bus_arn])
    queues = (shared.dispatches, shared.job_steps)
    allow(role, "sqs:SendMessage", on=[one.queue.queue_arn for one in queues])
    allow_secret(role, slack_secret(stage))


def _allow_on_items(role: iam.IRole, action: str, table: str, *, named: str) -> None:
    iam.Grant.add_to_principal(
        grantee=role,
        actions=[action],
        resource_arns=[table],
        conditions={"ForAllValues:StringLike": {"dynamodb:LeadingKeys": [named]}},
    )
