"""Bodies of requests, as far as they can be read at all."""

import base64
import binascii
import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from switchyard.refusals import for_gateway, refusal

NOT_JSON: Final = "a body is JSON: send it with Content-Type: application/json"
NOT_TEXT: Final = "the body is not UTF-8"


def unreadable_body(event: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the refusal of a body that is not JSON text, which the resolver would fail on."""
    if not event.get("body"):
        return None
    if not _says_json(event.get("headers", {})):
        return for_gateway(refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, NOT_JSON))
    if event.get("isBase64Encoded") and not _is_text(event["body"]):
        return for_gateway(refusal(HTTPStatus.BAD_REQUEST, NOT_TEXT))
    return None


def json_in(text: str) -> Any:
    """Raise `json.JSONDecodeError`, also for what is JSON but nothing that Python can hold."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise
    except RecursionError as error:
        raise json.JSONDecodeError("nested too deep", text, 0) from error
    except ValueError as error:
        raise json.JSONDecodeError("a number has too many digits", text, 0) from error


def _says_json(headers: Mapping[str, str]) -> bool:
    """Return whether it is JSON, also without a type. API Gateway sends headers in lower case."""
    said = headers.get("content-type", "application/json")
    return said.partition(";")[0].strip() == "application/json"


def _is_text(encoded: str) -> bool:
    try:
        base64.b64decode(encoded, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return False
    return True
