"""The API describes itself: as OpenAPI, and as a page for people."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from switchyard.contracts.wire import Wire
from switchyard.web.examples import EXAMPLES
from switchyard.web.openapi import _all_below
from switchyard.web.operations import OPERATIONS
from switchyard.web.page import page_of
from tests.lambdas.api.described import description
from tests.lambdas.api.test_api import Api

pytestmark = pytest.mark.usefixtures("cloud")

COMMITTED = Path(__file__).parents[3] / "docs" / "openapi.json"
VOID = {"meta"}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(COMMITTED.read_text(encoding="utf-8"))
    return found


def operations(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        operation["operationId"]: operation
        for methods in document["paths"].values()
        for operation in methods.values()
    }


def test_the_committed_description_is_that_of_the_code() -> None:
    assert COMMITTED.read_text(encoding="utf-8") == description(), "run `make openapi`"


def test_every_operation_is_described_and_none_that_is_not_there(document: dict[str, Any]) -> None:
    assert set(operations(document)) == set(OPERATIONS)


def test_every_route_says_how_it_refuses(document: dict[str, Any]) -> None:
    for name, operation in operations(document).items():
        statuses = set(operation["responses"])
        assert statuses >= {"401", "403", "429", "503"}, name
        assert not statuses & {"500", "502"}, name
        if "requestBody" in operation:
            assert statuses >= {"400", "413", "415"}, name
        places = {parameter["in"] for parameter in operation.get("parameters", ())}
        assert "path" not in places or "404" in statuses, name
        assert "query" not in places or "400" in statuses, name


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    named = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(document)))
    assert named <= set(document["components"]["schemas"])


def test_examples_are_what_they_are_examples_of(document: dict[str, Any]) -> None:
    models = {model.__name__: model for model in _all_below(Wire)}
    for name, examples in EXAMPLES.items():
        reference = {"$ref": f"#/components/schemas/{name}", "components": document["components"]}
        for example in examples:
            models[name].model_validate(example)
            Draft202012Validator(reference).validate(example)


def test_the_description_is_served(document: dict[str, Any]) -> None:
    assert Api()("GET", "/openapi.json") == (200, document)


class Page(HTMLParser):
    """Notes what is open, and what points where."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            assert name in {"id", "href", "class", "lang", "charset", "name", "content", "colspan"}
            if name == "id":
                self.ids.add(value or "")
            if name == "href":
                self.links.add(value or "")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_the_page_is_whole_and_asks_nobody_for_anything(document: dict[str, Any]) -> None:
    api = Api()
    status, text = api.text("GET", "/docs")
    page = Page(text)
    assert (status, page.open) == (200, [])
    assert api.headers["Content-Type"] == "text/html; charset=utf-8"
    assert api.headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert {link.removeprefix("#") for link in page.links} <= page.ids
    assert page.ids >= set(OPERATIONS) | set(document["components"]["schemas"])
    assert "url(" not in text
    assert "@import" not in text


def test_what_the_description_says_cannot_become_markup(document: dict[str, Any]) -> None:
    hostile = "<script>alert(1)</script>"
    page = page_of(document | {"info": document["info"] | {"description": hostile}})
    assert hostile not in page
    assert hostile in "".join(Page(page).words)
