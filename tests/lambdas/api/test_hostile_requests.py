"""What is no request at all is refused in words, and never breaks the function."""

import base64
import json
from typing import Any

import pytest

from switchyard.web.bodies import NOT_JSON, NOT_TEXT
from tests.lambdas.api.test_api import Api, api

__all__ = ["api"]

pytestmark = pytest.mark.usefixtures("cloud")


def a_body(given: str) -> str:
    return f'{{"tasks": [{{"taskId": "a", "name": "scrape", "input": {given}}}]}}'


@pytest.mark.parametrize(
    ("body", "emitted"),
    [
        ("{not json", "the body is not JSON: expecting property name"),
        (a_body("[" * 100_000 + "]" * 100_000), "the body is not JSON: nested too deep"),
        (a_body("9" * 5_000), "the body is not JSON: a number has too many digits"),
        (a_body("[" * 70 + "]" * 70), "tasks.0.input: is nested more than 64 levels deep"),
        (a_body(r'"\ud800"'), "tasks.0.input: contains half of a character"),
        (a_body("NaN"), "tasks.0.input: contains nan"),
        ("[]", "should be"),
        ("null", "is required"),
        ('"tasks"', "should be"),
    ],
)
def test_a_body_that_says_nothing_is_refused_with_the_reason(
    api: Api, body: str, emitted: str
) -> None:
    status, problem = api("POST", "/jobs", body)
    assert (status, api.headers["Content-Type"]) == (400, "application/problem+json")
    assert emitted in problem["detail"]


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "multipart/form-data; boundary=x",
        "image/png",
        "application/jsonp",
    ],
)
def test_a_body_of_another_kind_is_refused(api: Api, content_type: str) -> None:
    status, problem = api("POST", "/jobs", a_body("1"), content_type=content_type)
    assert (status, problem["title"]) == (415, "Unsupported Media Type")
    assert problem["detail"] == NOT_JSON
    assert api.headers["Content-Type"] == "application/problem+json"


def test_json_may_be_sent_with_its_charset(api: Api) -> None:
    body = a_body("1")
    assert api("POST", "/jobs", body, content_type="application/json; charset=utf-8")[0] == 201


@pytest.mark.parametrize(
    "body",
    [
        {"tasks": [], **{f"{n}" * 50_000: 1 for n in range(100)}},
        {"tasks": [], "\U0001f600" * 100_000: 1},
        {
            "tasks": [
                {"taskId": "a", "name": "scrape", "input": {"k" * 900_000: "${tasks.x.output}"}}
            ]
        },
    ],
    ids=["many long names", "a long name", "a long place"],
)
def test_a_refusal_is_short_however_long_the_names_are(api: Api, body: Any) -> None:
    status, answer = api.text("POST", "/jobs", body)
    assert (status, len(json.dumps(answer)) < 1_000_000) == (400, True)
    assert json.loads(answer)["problems"][0]["path"].endswith("…")


def test_a_body_may_come_encoded(api: Api) -> None:
    text = base64.b64encode(a_body('"ü"').encode()).decode()
    assert api("POST", "/jobs", text, encoded=True)[0] == 201


@pytest.mark.parametrize("encoded", ["//4=", "not base64!"])
def test_bytes_that_are_no_text_are_refused(api: Api, encoded: str) -> None:
    status, problem = api("POST", "/jobs", encoded, encoded=True)
    assert (status, problem["detail"]) == (400, NOT_TEXT)


def test_a_tools_name_is_cleaned_and_bounded(api: Api) -> None:
    definition: dict[str, Any] = {"description": "d", "tag": "t"}
    half = json.dumps(definition | {"tools": ["Read\ud800"]})
    assert api("PUT", "/task-definitions/x", half)[1]["tools"] == ["Read"]
    for tools in ([""], ["\ud800"], ["x" * 201]):
        body = json.dumps(definition | {"tools": tools})
        assert api("PUT", "/task-definitions/x", body)[0] == 400
