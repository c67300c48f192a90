from tests.stacks.synthesized import SynthesizedYard

ROUTES = {
    "POST /jobs",
    "GET /jobs",
    "GET /jobs/{jobId}",
    "GET /jobs/{jobId}/tasks/{taskId}",
    "GET /jobs/{jobId}/events",
    "GET /events",
    "PUT /task-definitions/{name}",
    "GET /task-definitions",
}


def test_the_api_has_its_routes_and_no_others(yard: SynthesizedYard) -> None:
    assert {route["RouteKey"] for route in yard.all("AWS::ApiGatewayV2::Route")} == ROUTES


def test_no_route_answers_without_a_key(yard: SynthesizedYard) -> None:
    for route in yard.all("AWS::ApiGatewayV2::Route"):
        assert route["AuthorizationType"] == "CUSTOM"
        assert route["AuthorizerId"]


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
    assert published["DefaultRouteSettings"]["ThrottlingRateLimit"] == 100
    assert published["DefaultRouteSettings"]["ThrottlingBurstLimit"] == 50
    assert "$context.requestId" in published["AccessLogSettings"]["Format"]


def test_callers_can_find_the_api(yard: SynthesizedYard) -> None:
    assert {"ApiId", "ApiUrl"} <= yard.template("producer-api")["Outputs"].keys()
