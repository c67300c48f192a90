"""Lets a caller in whose key is known, as the tenant that the key belongs to."""

from functools import cache
from typing import Any

from aws_lambda_powertools.utilities.data_classes import event_source
from aws_lambda_powertools.utilities.data_classes.api_gateway_authorizer_event import (
    APIGatewayAuthorizerEventV2,
    APIGatewayAuthorizerResponseV2,
)
from aws_lambda_powertools.utilities.typing import LambdaContext

from switchyard.bootstrap import AuthorizerPorts, authorizer_ports
from switchyard.observability import get_logger, get_tracer
from switchyard.settings import AuthorizerSettings
from switchyard.usecases.access.api_keys import caller_with, id_of_key

logger = get_logger()
tracer = get_tracer()


@cache
def ports() -> AuthorizerPorts:
    return authorizer_ports(AuthorizerSettings())


@logger.inject_lambda_context(correlation_id_path="requestContext.requestId")
@tracer.capture_lambda_handler(capture_response=False)
@event_source(data_class=APIGatewayAuthorizerEventV2)
def handler(event: APIGatewayAuthorizerEventV2, _context: LambdaContext) -> dict[str, Any]:
    key = event.headers.get("x-api-key", "")
    caller = caller_with(key, keys=ports().keys, clock=ports().clock)
    if caller is None:  # its id says which key it may have been, and nothing of the key itself
        logger.warning("key is refused", key_id=id_of_key(key), characters=len(key))
    return APIGatewayAuthorizerResponseV2(
        authorize=caller is not None,
        context={"tenant": caller.tenant, "keyId": caller.key_id} if caller else None,
    ).asdict()
