"""Something that happens in the middle: to whom, and between which two requests."""

from collections.abc import Callable
from typing import Any


class Death(BaseException):
    """The process is gone: nobody catches it, nobody cleans up."""


class Interruption:
    """At the n-th request of all that go through it, once: before it takes effect, or after."""

    def __init__(self, number: int, happens: Callable[[], object], *, after: bool) -> None:
        self._left = number
        self._happens = happens
        self._after = after

    @property
    def happened(self) -> bool:
        return self._left < 0

    def of(self, service: Any) -> Any:
        return _Interrupted(service, self._request)

    def _request(self, perform: Callable[[], Any]) -> Any:
        now, self._left = self._left == 0, self._left - 1
        if now and not self._after:
            self._happens()
        answer = perform()
        if now and self._after:
            self._happens()
        return answer


class _Interrupted:
    def __init__(self, service: Any, request: Callable[[Callable[[], Any]], Any]) -> None:
        self._service = service
        self._request = request

    def __getattr__(self, name: str) -> Any:
        operation = getattr(self._service, name)
        return lambda *given, **named: self._request(lambda: operation(*given, **named))


def death(*_: object) -> None:
    raise Death
