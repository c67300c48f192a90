from stacks.stage import STAGES
from switchyard.domain.access.rates import Limits
from tests.stacks.synthesized import SynthesizedYard

ROUTES = {
    "POST /jobs",
    "GET /jobs",
    "GET /jobs/{jobId}",
    "POST /jobs/{jobId}/cancel",
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
    "GET /health",
    "GET /openapi.json",
    "GET /docs",
    "POST /slack/actions",
}
SIGNED_BY_SLACK = "POST /slack/actions"


def test_the_api_has_its_routes_and_no_others(yard: SynthesizedYard) -> None:
    assert {route["RouteKey"] for route in yard.all("AWS::ApiGatewayV2::Route")} == ROUTES


def test_no_route_answers_without_a_key_but_the_one_that_slack_signs(
    yard: SynthesizedYard,
) -> None:
    """That the function behind it answers nobody else is tested with the function."""
    for route in yard.all("AWS::ApiGatewayV2::Route"):
        if route["RouteKey"] == SIGNED_BY_SLACK:
            assert route["AuthorizationType"] == "NONE"
        else:
            assert route["AuthorizationType"] == "CUSTOM"
            assert route["AuthorizerId"]


def test_what_slack_signs_is_answered_by_a_function_of_its_own(yard: SynthesizedYard) -> None:
    route = yard.one("AWS::ApiGatewayV2::Route", RouteKey=SIGNED_BY_SLACK)
    resources = yard.template("producer-api")["Resources"]
    integration = resources[route["Target"]["Fn::Join"][1][1]["Ref"]]["Properties"]
    function = yard.imported(integration["IntegrationUri"])
    assert function["FunctionName"] == yard.stage.prefixed("answer-slack")


def test_the_key_travels_in_a_header_and_is_remembered_for_a_minute(
    yard: SynthesizedYard,
) -> None:
    (authorizer,) = yard.all("AWS::ApiGatewayV2::Authorizer")
    assert authorizer["AuthorizerType"] == "REQUEST"
    assert authorizer["IdentitySource"] == ["$request.header.x-api-key"]
    assert authorizer["EnableSimpleResponses"]
    assert authorizer["AuthorizerResultTtlInSeconds"] == 60


def test_requests_are_throttled_and_logged(yard: SynthesizedYard) -> None:
    (published,) = yard.all("AWS::ApiGatewayV2::Stage")
    assert published["DefaultRouteSettings"]["ThrottlingRateLimit"] == 10_000
    assert published["DefaultRouteSettings"]["ThrottlingBurstLimit"] == 5_000
    assert "$context.requestId" in published["AccessLogSettings"]["Format"]


def test_the_api_is_told_what_a_key_may_do(yard: SynthesizedYard) -> None:
    name = yard.stage.prefixed("api")
    told = yard.one("AWS::Lambda::Function", FunctionName=name)["Environment"]["Variables"]
    limits = yard.stage.key_limits
    assert int(told["REQUESTS_PER_SECOND"]) == limits.per_second
    assert int(told["REQUESTS_AT_ONCE"]) == limits.burst
    assert int(told["REQUESTS_PER_DAY"]) == limits.per_day


def test_deployed_stages_have_the_limits_that_are_specified() -> None:
    specified = Limits(per_second=100, burst=50, per_day=10_000)
    assert [name for name, s in STAGES.items() if s.key_limits == specified] == ["dev", "prod"]


def test_callers_can_find_the_api(yard: SynthesizedYard) -> None:
    assert {"ApiId", "ApiUrl"} <= yard.template("producer-api")["Outputs"].keys()
