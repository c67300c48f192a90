"""How we talk to AWS: one way to make a client, one way to call it, one translation of failure."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final, ParamSpec, TypeVar

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError, SSLError

from switchyard.domain.errors import AnswerLost, Throttled, Unavailable

P = ParamSpec("P")
R = TypeVar("R")

_CONFIG: Final = Config(
    connect_timeout=3,
    max_pool_connections=32,
    retries={"mode": "standard", "max_attempts": 3},
    user_agent_extra="switchyard",
)
# All tries together end well before a lease or a function does, so that somebody can still react.
_READ_TIMEOUT: Final = Config(read_timeout=5)
_OF_ITS_OWN: Final = {
    "sqs": Config(read_timeout=25),  # a long poll takes 20 s
    # A large object takes its time. A link is signed for one host: that of the bucket's region.
    "s3": Config(read_timeout=15, signature_version="s3v4", s3={"addressing_style": "virtual"}),
}

CONDITION_FAILED: Final = "ConditionalCheckFailedException"
TRANSACTION_CANCELLED: Final = "TransactionCanceledException"
_OURS_TO_DECIDE: Final = frozenset({CONDITION_FAILED, TRANSACTION_CANCELLED})
_CALLERS_FAULT: Final = frozenset({"ValidationException", "AccessDeniedException", "AccessDenied"})
_THROTTLED: Final = frozenset({"ProvisionedThroughputExceededException", "ThrottlingException"})
_DONE_OR_NOT: Final = frozenset({"InternalServerError", "TransactionInProgressException"})


def client(service: str, **where: str) -> Any:
    """`where` says what the environment else would: region, endpoint, credentials."""
    config = _CONFIG.merge(_OF_ITS_OWN.get(service, _READ_TIMEOUT))
    return boto3.client(service, config=config, **where)  # type: ignore[call-overload]


def call(operation: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Translate what may pass into `Unavailable`; conditions and our own mistakes stay.

    `AnswerLost` once the request may have arrived; a throttle or a refused connection is neither
    done nor half done.
    """
    try:
        return operation(*args, **kwargs)
    except ClientError as error:
        if code_of(error) in _OURS_TO_DECIDE | _CALLERS_FAULT:
            raise
        raise _kind_of(error)(str(error)) from error
    except (HTTPClientError, SSLError) as error:  # TLS may break after the request as well
        raise AnswerLost(str(error)) from error
    except BotoCoreError as error:
        raise Unavailable(str(error)) from error


def code_of(error: ClientError) -> str:
    return error.response["Error"]["Code"]


def _kind_of(error: ClientError) -> type[Unavailable]:
    if code_of(error) in _THROTTLED:
        return Throttled
    return AnswerLost if _may_be_done(error) else Unavailable


def _may_be_done(error: ClientError) -> bool:
    status: int = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return status >= HTTPStatus.INTERNAL_SERVER_ERROR or code_of(error) in _DONE_OR_NOT
