from stacks.stage import STAGES
from switchyard.domain.access.limits import RequestLimits
from tests.stacks.synthesized import SynthesizedStage

ROUTES = {
    "POST /jobs",
    "GET /jobs",
    "POST /files",
    "GET /approvals",
    "GET /jobs/{jobId}",
    "POST /jobs/{jobId}/cancel",
    "GET /jobs/{jobId}/tasks/{taskId}/decision",
    "POST /jobs/{jobId}/tasks/{taskId}/decision",
    "POST /jobs/{jobId}/tasks/{taskId}/signal",
    "POST /jobs/{jobId}/redrive",
    "POST /jobs/{jobId}/tasks",
    "POST /jobs/{jobId}/tasks/{taskId}/cancel",
    "GET /jobs/{jobId}/tasks/{taskId}",
    "GET /jobs/{jobId}/events",
    "GET /events",
    "PUT /task-definitions/{name}",
    "GET /task-definitions/{name}",
    "DELETE /task-definitions/{name}",
    "GET /task-definitions/{name}/versions/{version}",
    "GET /task-definitions",
    "GET /triggers",
    "GET /triggers/{name}",
    "PUT /triggers/{name}",
    "DELETE /triggers/{name}",
    "POST /triggers/{name}/enable",
    "POST /triggers/{name}/disable",
    "POST /triggers/{name}/fire",
    "GET /pools",
    "GET /queues",
    "POST /queues",
    "GET /queues/{group}",
    "PATCH /queues/{group}",
    "DELETE /queues/{group}",
    "POST /queues/{group}/items",
    "GET /queues/{group}/dead-letters",
    "GET /queues/{group}/{name}",
    "PATCH /queues/{group}/{name}",
    "DELETE /queues/{group}/{name}",
    "POST /queues/{group}/{name}/items",
    "GET /queues/{group}/{name}/dead-letters",
    "GET /health",
    "GET /openapi.json",
    "GET /docs",
    "POST /slack/actions",
}
SIGNED_BY_SLACK = "POST /slack/actions"


def test_the_api_has_its_routes_and_no_others(synthesized: SynthesizedStage) -> None:
    assert {route["RouteKey"] for route in synthesized.all("AWS::ApiGatewayV2::Route")} == ROUTES


def test_no_route_answers_without_a_key_but_the_one_that_slack_signs(
    synthesized: SynthesizedStage,
) -> None:
    """The function's own test shows that it answers Slack alone."""
    for route in synthesized.all("AWS::ApiGatewayV2::Route"):
        if route["RouteKey"] == SIGNED_BY_SLACK:
            assert route["AuthorizationType"] == "NONE"
        else:
            assert route["AuthorizationType"] == "CUSTOM"
            assert route["AuthorizerId"]


def test_what_slack_signs_is_answered_by_a_function_of_its_own(
    synthesized: SynthesizedStage,
) -> None:
    route = synthesized.one("AWS::ApiGatewayV2::Route", RouteKey=SIGNED_BY_SLACK)
    resources = synthesized.template("producer-api")["Resources"]
    integration = resources[route["Target"]["Fn::Join"][1][1]["Ref"]]["Properties"]
    function = synthesized.imported(integration["IntegrationUri"])
    assert function["FunctionName"] == synthesized.stage.prefixed("answer-slack")


def test_the_key_travels_in_a_header_and_is_remembered_for_a_minute(
    synthesized: SynthesizedStage,
) -> None:
    (authorizer,) = synthesized.all("AWS::ApiGatewayV2::Authorizer")
    assert authorizer["AuthorizerType"] == "REQUEST"
    assert authorizer["IdentitySource"] == ["$request.header.x-api-key"]
    assert authorizer["EnableSimpleResponses"]
    assert authorizer["AuthorizerResultTtlInSeconds"] == 60


def test_requests_are_throttled_and_logged(synthesized: SynthesizedStage) -> None:
    (published,) = synthesized.all("AWS::ApiGatewayV2::Stage")
    assert published["DefaultRouteSettings"]["ThrottlingRateLimit"] == 10_000
    assert published["DefaultRouteSettings"]["ThrottlingBurstLimit"] == 5_000
    assert "$context.requestId" in published["AccessLogSettings"]["Format"]


def test_the_api_gets_the_limits_of_keys_by_its_environment(
    synthesized: SynthesizedStage,
) -> None:
    name = synthesized.stage.prefixed("api")
    function = synthesized.one("AWS::Lambda::Function", FunctionName=name)
    variables = function["Environment"]["Variables"]
    limits = synthesized.stage.key_limits
    assert int(variables["REQUESTS_PER_SECOND"]) == limits.per_second
    assert int(variables["REQUESTS_AT_ONCE"]) == limits.burst
    assert int(variables["REQUESTS_PER_DAY"]) == limits.per_day


def test_deployed_stages_have_the_limits_that_are_specified() -> None:
    specified = RequestLimits(per_second=100, burst=50, per_day=10_000)
    assert [name for name, s in STAGES.items() if s.key_limits == specified] == ["dev", "prod"]


def test_callers_can_find_the_api(synthesized: SynthesizedStage) -> None:
    assert {"ApiId", "ApiUrl"} <= synthesized.template("producer-api")["Outputs"].keys()
