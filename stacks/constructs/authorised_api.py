"""An HTTP API that refuses every request without a key."""

import json
from collections.abc import Sequence

import jsii
from aws_cdk import Duration
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_apigatewayv2 as apigatewayv2
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk.aws_apigatewayv2_authorizers import HttpLambdaAuthorizer, HttpLambdaResponseType
from aws_cdk.aws_apigatewayv2_integrations import HttpLambdaIntegration
from constructs import Construct

from stacks.constructs.alarms import raise_alarm
from stacks.stage import Stage

Route = tuple[apigatewayv2.HttpMethod, str]

# Of all keys together, and what is refused counts as well: were it no more than one key can send,
# a flood of that key would keep out all others. So it is what an account has. The function behind
# limits each key (`switchyard/domain/access/limits.py`), and to refuse costs it next to nothing.
REQUESTS_PER_SECOND = 10_000
BURST = 5_000
FAILURES_WITHIN = Duration.minutes(5)
FAILURES = 5  # a single failure may pass, and callers try again
LOGGED_FIELDS = {
    "requestId": "$context.requestId",
    "time": "$context.requestTime",
    "route": "$context.routeKey",
    "status": "$context.status",
    "latencyMs": "$context.responseLatency",
    "sourceIp": "$context.identity.sourceIp",
    "authorizerError": "$context.authorizer.error",
    "integrationError": "$context.integrationErrorMessage",
}


class AuthorisedApi(Construct):
    """An API with an authorizer, which every route has unless it says otherwise."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        stage: Stage,
        authorizer: lambda_.IFunction,
        handler: lambda_.IFunction,
        routes: Sequence[Route],
    ) -> None:
        super().__init__(scope, construct_id)
        self.api = apigatewayv2.HttpApi(
            self,
            "Api",
            api_name=stage.prefixed("api"),
            create_default_stage=False,
            default_authorizer=HttpLambdaAuthorizer(
                "ApiKey",
                authorizer,
                identity_source=["$request.header.x-api-key"],
                response_types=[HttpLambdaResponseType.SIMPLE],
                results_cache_ttl=Duration.seconds(60),
            ),
        )
        integration = HttpLambdaIntegration("Handler", handler, scope_permission_to_route=False)
        for method, path in routes:
            self.api.add_routes(path=path, methods=[method], integration=integration)
        published = self._published(stage)
        self.url = published.url
        raise_alarm(
            self,
            "ApiFails",
            published.metric_server_error(period=FAILURES_WITHIN, statistic="Sum"),
            stage=stage,
            meaning="The API answered more than five requests within five minutes with a server "
            f"error. Look at the log /aws/lambda/{stage.prefixed('api')}.",
            above=FAILURES,
        )

    def _published(self, stage: Stage) -> apigatewayv2.HttpStage:
        access_log = logs.LogGroup(
            self,
            "AccessLog",
            log_group_name=f"/aws/vendedlogs/{stage.prefixed('api')}",
            retention=stage.log_retention,
            removal_policy=stage.removal_policy,
        )
        return apigatewayv2.HttpStage(
            self,
            "Stage",
            http_api=self.api,
            stage_name="$default",
            auto_deploy=True,
            throttle=apigatewayv2.ThrottleSettings(
                rate_limit=REQUESTS_PER_SECOND, burst_limit=BURST
            ),
            access_log_settings=JsonAccessLog(access_log),
        )


@jsii.implements(apigatewayv2.IAccessLogSettings)
class JsonAccessLog:
    """Writes one JSON line per request to an HTTP API."""

    def __init__(self, log_group: logs.ILogGroup) -> None:
        self._destination = apigatewayv2.LogGroupLogDestination(log_group)

    @property
    def destination(self) -> apigatewayv2.IAccessLogDestination:
        return self._destination

    @property
    def format(self) -> apigateway.AccessLogFormat:
        return apigateway.AccessLogFormat.custom(json.dumps(LOGGED_FIELDS))
