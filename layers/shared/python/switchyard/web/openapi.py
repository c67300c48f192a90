"""Describes the API as OpenAPI: shapes come from the routes, words from `operations.py`."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from pydantic.alias_generators import to_camel

from switchyard import VERSION
from switchyard.contracts.events.views import EventsAsked
from switchyard.contracts.problems import PROBLEM_TYPE, ProblemDetails
from switchyard.contracts.wire import Wire
from switchyard.web.examples import EXAMPLES
from switchyard.web.operations import API_VERSION, OPERATIONS, PARAMETERS, Operation
from switchyard.web.wording import field_descriptions

Document = dict[str, Any]

ABOUT: Final = (
    "Jobs are graphs of tasks; each task is a run of a Claude agent by a task definition. "
    "Every route needs a key, which names its tenant; no tenant sees another's data. "
    "Refusals are problem details, with every problem and its place."
)
_SCHEME: Final = "ApiKey"
_ALWAYS: Final = frozenset({401, 403, 429, 503})
_BY_THE_GATEWAY: Final = frozenset({401, 403, 413})
_BY_BOTH: Final = frozenset({404, 429, 503})
_REASONS: Final[Mapping[int, str]] = {
    400: "Something in the request is wrong: each problem with its place",
    401: "No key was sent",
    403: "The key is not known, or revoked",
    404: "There is no such thing, or it is another tenant's",
    409: "It cannot be done in the state that the thing is in",
    413: "The body is larger than the gateway takes",
    415: "The body is not JSON",
    422: "The idempotency key stands for another job",
    429: "The key has made too many requests: `Retry-After` says when the next is welcome",
    503: "Something that the API needs does not answer; try again",
}
_SCHEMAS: Final = "#/components/schemas/"
_REF: Final = f"{_SCHEMAS}{{model}}"
_POWERTOOLS: Final = {"HTTPValidationError", "ValidationError", "ResponseValidationError"}
_GATEWAY_REFUSAL: Final = {
    "type": "object",
    "description": "What API Gateway says where the API is not asked.",
    "properties": {"message": {"type": "string"}},
    "required": ["message"],
}


def openapi_document(app: APIGatewayHttpResolver) -> Document:
    made = app.get_openapi_schema(title="Switchyard", version=VERSION, description=ABOUT)
    found: Document = made.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {
        "openapi": found["openapi"],
        "info": found["info"] | {"x-api-version": API_VERSION},
        "servers": found["servers"],
        "security": [{_SCHEME: []}],
        "tags": [{"name": group} for group in _groups()],
        "paths": {
            _camel_path(path): {method: _completed(route) for method, route in routes.items()}
            for path, routes in sorted(found["paths"].items())
        },
        "components": {
            "schemas": _schemas(found["components"]["schemas"]),
            "securitySchemes": {_SCHEME: {"type": "apiKey", "in": "header", "name": "x-api-key"}},
        },
    }


def _camel_path(path: str) -> str:
    return re.sub(r"{(\w+)}", lambda found: f"{{{to_camel(found[1])}}}", path)


def _groups() -> list[str]:
    return list(dict.fromkeys(operation.group for operation in OPERATIONS.values()))


def _completed(found: Document) -> Document:
    """Complete the description of a route that Powertools made; its id has the function's name."""
    name = next(name for name in sorted(OPERATIONS, key=len, reverse=True) if _is(found, name))
    known = OPERATIONS[name]
    success = {status: answer for status, answer in found["responses"].items() if status < "300"}
    parameters = [*map(_parameter, found.get("parameters", [])), *_more_parameters(known)]
    return {
        "operationId": name,
        "summary": known.summary,
        "tags": [known.group],
        **({"parameters": parameters} if parameters else {}),
        **({"requestBody": found["requestBody"]} if "requestBody" in found else {}),
        "responses": {
            **{status: _success(answer, known) for status, answer in success.items()},
            **{str(status): _refusal(status) for status in sorted(known.refusals | _ALWAYS)},
        },
    }


def _is(found: Document, name: str) -> bool:
    return bool(found["operationId"].startswith(f"{name}_"))


def _success(answer: Document, known: Operation) -> Document:
    content = _untitled(answer["content"])
    if known.answer is not None:
        content = {said: {"schema": schema} for said, schema in known.answer.items()}
    return {"description": "Done", "content": content}


def _refusal(status: int) -> Document:
    """Describe a refusal; the content type shows whether the function or the gateway gave it."""
    content: Document = {}
    if status not in _BY_THE_GATEWAY:
        content[PROBLEM_TYPE] = {"schema": {"$ref": f"{_SCHEMAS}ProblemDetails"}}
    if status in _BY_THE_GATEWAY | _BY_BOTH:
        content["application/json"] = {"schema": {"$ref": f"{_SCHEMAS}GatewayRefusal"}}
    return {"description": _REASONS[status], "content": content}


def _parameter(found: Document) -> Document:
    name = to_camel(found["name"])
    words = {"description": PARAMETERS[name]} if name in PARAMETERS else {}
    return {
        "name": name,
        "in": found["in"],
        "required": found["required"],
        **words,
        "schema": _given(found["schema"]),
    }


def _more_parameters(known: Operation) -> Iterator[Document]:
    asked = known.query.model_json_schema(ref_template=_REF)["properties"] if known.query else {}
    for name, schema in asked.items():
        yield _parameter({"name": name, "in": "query", "required": False, "schema": schema})
    for name, words in (known.headers or {}).items():
        schema = {"type": "string", "minLength": 1, "maxLength": 255}
        header = {"name": name, "in": "header", "required": False, "schema": schema}
        yield header | {"description": words}


def _given(schema: Document) -> Document:
    """Describe a parameter that may be left out: it cannot be sent as null."""
    given: Document = _untitled(schema)
    match given.pop("anyOf", None):
        case [only, {"type": "null"}]:
            given |= only
    return {key: part for key, part in given.items() if part is not None}


def _schemas(found: dict[str, Document]) -> dict[str, Document]:
    """Return the schemas of our own models; Powertools adds some of refusals we do not give."""
    models = {model.__name__: model for model in _all_below(Wire)}
    ours = {name: schema for name, schema in found.items() if name not in _POWERTOOLS}
    problem = ProblemDetails.model_json_schema(ref_template=_REF)
    asked = EventsAsked.model_json_schema(ref_template=_REF)
    ours |= {**problem.pop("$defs"), **asked.pop("$defs"), "ProblemDetails": problem}
    described = {name: _described(schema, models.get(name)) for name, schema in ours.items()}
    return dict(sorted({**described, "GatewayRefusal": _GATEWAY_REFUSAL}.items()))


def _described(schema: Document, model: type[Wire] | None) -> Document:
    described: Document = _untitled(schema)
    for field, words in (field_descriptions(model) if model else {}).items():
        described["properties"][field]["description"] = words
    examples = EXAMPLES.get(model.__name__) if model else None
    return described | ({"examples": examples} if examples else {})


def _untitled(schema: Any) -> Any:
    """Return the schema without the titles that pydantic makes of names."""
    match schema:
        case dict():
            return {key: _untitled(part) for key, part in schema.items() if not _titles(key, part)}
        case list():
            return list(map(_untitled, schema))
    return schema


def _titles(key: str, part: Any) -> bool:
    return key == "title" and isinstance(part, str)


def _all_below(model: type[Wire]) -> Iterator[type[Wire]]:
    for derived in model.__subclasses__():
        yield derived
        yield from _all_below(derived)
