"""Lets a caller in whose key is known, as the tenant that the key belongs to."""

from functools import cache
from typing import Any

from aws_lambda_powertools.utilities.data_classes import event_source
from aws_lambda_powertools.utilities.data_classes.api_gateway_authorizer_event import (
    APIGatewayAuthorizerEventV2,
    APIGatewayAuthorizerResponseV2,
)
from aws_lambda_powertools.utilities.typing import LambdaContext

from switchyard.bootstrap import authorizer_keys
from switchyard.observability import Tracer, get_logger
from switchyard.ports import ApiKeys
from switchyard.settings import AuthorizerSettings
from switchyard.usecases.api_keys import tenant_of

logger = get_logger()
tracer = Tracer()


@cache
def keys() -> ApiKeys:
    return authorizer_keys(AuthorizerSettings())


@logger.inject_lambda_context(correlation_id_path="requestContext.requestId")
@tracer.capture_lambda_handler(capture_response=False)
@event_source(data_class=APIGatewayAuthorizerEventV2)
def handler(event: APIGatewayAuthorizerEventV2, _context: LambdaContext) -> dict[str, Any]:
    tenant = tenant_of(event.headers.get("x-api-key", ""), keys=keys())
    return APIGatewayAuthorizerResponseV2(
        authorize=tenant is not None, context={"tenant": tenant} if tenant else None
    ).asdict()
