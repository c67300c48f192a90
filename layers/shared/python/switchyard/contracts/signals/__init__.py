"""Events of other programs on the bus, and the patterns with which signals wait for them."""

from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from switchyard.contracts.events.envelope import DETAIL_TYPE
from switchyard.contracts.wire import Closed, JsonValue, unless_absent
from switchyard.domain.ids import TENANT_ID
from switchyard.domain.signals.patterns import detail_problem
from switchyard.domain.signals.subscriptions import MAX_NAME, MAX_NAMES, pattern_problem

SIGNALLED: Final = "SignalsByEvents"
"""The metric of tasks that an event has ended."""
MAX_CURSOR: Final = 300
_AWS: Final = "aws."


def _plain(name: str) -> str:
    if "${" in name:
        raise ValueError("must be a plain text: only values in detail may be references")
    return name


def _source(name: str) -> str:
    if name.startswith(_AWS):
        raise ValueError(
            f"{name[:80]!r}: AWS sends its events to the account's default bus, never here"
        )
    return name


def _detail_type(name: str) -> str:
    if name == DETAIL_TYPE:
        raise ValueError(
            f"{DETAIL_TYPE} are Switchyard's own events; a trigger starts a job for them"
        )
    return name


def _detail(pattern: Any) -> Any:
    problem = detail_problem(pattern)
    if problem:
        raise ValueError(problem.removeprefix("detail: "))
    return pattern


Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME), AfterValidator(_plain)]
Sources = Annotated[
    tuple[Annotated[Name, AfterValidator(_source)], ...],
    Field(min_length=1, max_length=MAX_NAMES),
]
DetailTypes = Annotated[
    tuple[Annotated[Name, AfterValidator(_detail_type)], ...],
    Field(min_length=1, max_length=MAX_NAMES),
]


class EventPattern(Closed):
    """The pattern of the event that ends a signal: a part of EventBridge's pattern language."""

    source: Sources
    detail_type: DetailTypes = Field(alias="detail-type")
    detail: Annotated[JsonValue, AfterValidator(_detail)] | None = unless_absent()
    """The fields that the event's detail has; values may be references like `${input.orderId}`."""

    @model_validator(mode="after")
    def _is_small(self) -> "EventPattern":
        problem = pattern_problem(self.stored())
        if problem:
            raise ValueError(problem)
        return self

    def stored(self) -> dict[str, Any]:
        return self.model_dump(by_alias=True, mode="json")


class UnreadableEvent(ValueError):
    """A message that the rule of the bus would not send."""


class SignalEvent(BaseModel):
    """An event of another program as EventBridge delivers it, or what is left to do about it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str = Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_.:-]+$")
    source: str
    detail_type: str = Field(alias="detail-type")
    detail: dict[str, JsonValue]
    after: str | None = Field(default=None, max_length=MAX_CURSOR)
    """The subscription behind which to go on; EventBridge sends none."""
    came_at_ms: int | None = None
    """The time at which the event came first, if it is sent again to go on."""

    @property
    def tenant(self) -> str | None:
        """Return whom the event is for, as the program that put it says."""
        named = self.detail.get("tenantId")
        return named if isinstance(named, str) and TENANT_ID.fullmatch(named) else None


def parse_signal_event(body: str) -> SignalEvent:
    """Raise `UnreadableEvent`."""
    try:
        return SignalEvent.model_validate_json(body)
    except ValidationError as error:
        first: Any = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "body"
        raise UnreadableEvent(f"{place}: {first['msg']}") from error
