"""Talks to AWS: one way to make a client, one way to call it, one translation of failure."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, ParamSpec, TypeVar

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError, SSLError

from switchyard.adapters.aws_services import Service
from switchyard.adapters.aws_time import observe_answers
from switchyard.domain.backoff import Backoff
from switchyard.domain.errors import AnswerLost, Throttled, Unavailable

P = ParamSpec("P")
R = TypeVar("R")


_BOTOCORE_BACKOFF: Final = Backoff(first=1, longest=20)  # seconds, in the mode "standard"


@dataclass(frozen=True, kw_only=True)
class TimeLimits:
    """The time that a client waits for AWS, and how often it tries."""

    connect_seconds: int = 2  # one lost packet is sent again after a second
    read_seconds: int = 5  # between two packets, not for a whole object
    tries: int = 3

    @property
    def worst_case_seconds(self) -> float:
        """Return the time until a call fails whose every try is accepted and never answered.

        A pause between two tries is at most 1 s, then 2 s, and so on. A host name with several
        addresses none of which accepts connections takes `connect_seconds` for each of them.
        """
        pauses = sum(_BOTOCORE_BACKOFF.pauses(self.tries - 1))
        return float(self.tries * (self.connect_seconds + self.read_seconds) + pauses)


# All tries together end well before a function (30 s) or a lease (45 s) does, so that there is
# time to react.
USUAL_LIMITS: Final = TimeLimits()
# SQS answers a long poll within 20 s. The worker polls again by itself.
POLLING_LIMITS: Final = TimeLimits(read_seconds=25, tries=1)
_OF_ITS_OWN: Final = {
    # A link is signed for one host: that of the bucket's region.
    "s3": Config(signature_version="s3v4", s3={"addressing_style": "virtual"}),
}

CONDITION_FAILED: Final = "ConditionalCheckFailedException"
TRANSACTION_CANCELLED: Final = "TransactionCanceledException"
_OURS_TO_DECIDE: Final = frozenset({CONDITION_FAILED, TRANSACTION_CANCELLED})
_CALLERS_FAULT: Final = frozenset({"ValidationException", "AccessDeniedException", "AccessDenied"})
_THROTTLED: Final = frozenset({"ProvisionedThroughputExceededException", "ThrottlingException"})
_DONE_OR_NOT: Final = frozenset({"InternalServerError", "TransactionInProgressException"})


def client(service: Service, limits: TimeLimits = USUAL_LIMITS, /, **where: str) -> Any:
    """Create a client; `where` overrides the environment's region, endpoint and credentials.

    AWS_REGION counts as it does for the CDK and the AWS command line: boto3 alone ignores it.
    """
    if region := os.environ.get("AWS_REGION"):
        where = {"region_name": region} | where
    config = _config(limits).merge(_OF_ITS_OWN.get(service, Config()))
    made = boto3.client(service, config=config, **where)  # type: ignore[call-overload]
    observe_answers(made)
    return made


def _config(limits: TimeLimits) -> Config:
    """Make the configuration: `total_max_attempts` counts tries, unlike `max_attempts`.

    https://docs.aws.amazon.com/botocore/latest/reference/config.html
    """
    return Config(
        connect_timeout=limits.connect_seconds,
        read_timeout=limits.read_seconds,
        max_pool_connections=32,
        retries={"mode": "standard", "total_max_attempts": limits.tries},
        user_agent_extra="switchyard",
        parameter_validation=False,  # AWS validates as well; of many writes it is a seventh
    )


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
