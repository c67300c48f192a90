"""The two routes that describe the others."""

import json
from functools import cache
from http import HTTPStatus
from typing import Final

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response, content_types

# The page loads nothing, runs nothing, and is shown in no frame.
_ALONE: Final = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"


def described(app: APIGatewayHttpResolver) -> Response[str]:
    return Response(HTTPStatus.OK, content_types.APPLICATION_JSON, description_of(app))


def shown(app: APIGatewayHttpResolver) -> Response[str]:
    from switchyard.web.page import page_of  # noqa: PLC0415 - only readers need it

    page = page_of(json.loads(description_of(app)))
    headers = {"Content-Security-Policy": _ALONE}
    return Response(HTTPStatus.OK, "text/html; charset=utf-8", page, headers)


@cache
def description_of(app: APIGatewayHttpResolver) -> str:
    """Return the OpenAPI document; it takes half a second, so only its readers wait for it."""
    from switchyard.web.openapi import openapi_document  # noqa: PLC0415 - only readers need it

    return json.dumps(openapi_document(app), indent=2, ensure_ascii=False)
