"""Webhooks over HTTP: a host is looked up once, and only the addresses looked at are called."""

import http.client
import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Final

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError, NewConnectionError

from switchyard.domain.errors import Unavailable
from switchyard.domain.jobs.addresses import problem_with_address
from switchyard.domain.jobs.notify import Hook, hook_at, problem_with_hook

SECONDS: Final = 10.0  # for everything: looking up, connecting, sending, waiting

Resolve = Callable[[str, int], Sequence[str]]


def look_up(host: str, port: int) -> Sequence[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class HttpWebhooks:
    """Speaks to a connection itself: no pool, so no redirects, no retries and no proxies."""

    def __init__(
        self,
        *,
        nearby_allowed: bool,
        resolve: Resolve = look_up,
        trusted: ssl.SSLContext | None = None,
        seconds: float = SECONDS,
    ) -> None:
        """Without `trusted`, the machine's certificates are."""
        self._nearby_allowed = nearby_allowed
        self._resolve = resolve
        self._trusted = trusted
        self._seconds = seconds

    def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> None:
        hook = hook_at(url)
        problem = problem_with_hook(hook, nearby_allowed=self._nearby_allowed)
        if problem:
            raise Unavailable(f"nothing was sent: its URL {problem}")
        status = self._in_time(_Exchange(self, hook, body, headers))
        if not http.client.OK <= status < http.client.MULTIPLE_CHOICES:
            raise Unavailable(f"it answered {status}")

    def addresses(self, hook: Hook) -> Sequence[str]:
        """All of them are looked at: whoever chose them may have mixed in one of ours."""
        try:
            found = self._resolve(hook.host, hook.port)
        except (OSError, UnicodeError) as error:
            raise Unavailable("its host has no address") from error
        for address in found:
            problem = problem_with_address(address, nearby_allowed=self._nearby_allowed)
            if problem:
                raise Unavailable(f"nothing was sent: {problem}")
        return found

    def connection(self, hook: Hook, address: str) -> HTTPConnection:
        if not hook.secure:
            return HTTPConnection(address, hook.port, timeout=self._seconds)
        return HTTPSConnection(
            address,
            hook.port,
            timeout=self._seconds,
            server_hostname=hook.host,
            ssl_context=self._trusted,
        )

    def _in_time(self, exchange: "_Exchange") -> int:
        """A limit for each read alone would let an answer drip for ever."""
        pool = ThreadPoolExecutor(1, thread_name_prefix="webhook")
        try:
            return pool.submit(exchange.status).result(self._seconds)
        except TimeoutError as error:
            exchange.break_off()
            raise Unavailable(f"no answer within {self._seconds:g} s") from error
        except (HTTPError, OSError, http.client.HTTPException) as error:
            raise Unavailable(f"it cannot be reached: {type(error).__name__}") from error
        finally:
            pool.shutdown(wait=False)


class _Exchange:
    def __init__(
        self, webhooks: HttpWebhooks, hook: Hook, body: bytes, headers: Mapping[str, str]
    ) -> None:
        self._webhooks = webhooks
        self._hook = hook
        self._body = body
        self._headers = {**headers, "Host": hook.authority}
        self._connection: HTTPConnection | None = None

    def status(self) -> int:
        """Of the answer; its body is of no interest, and is not read."""
        connection = self._connected()
        try:
            connection.request(
                "POST", self._hook.target, self._body, self._headers, preload_content=False
            )
            return connection.getresponse().status
        finally:
            connection.close()

    def break_off(self) -> None:
        """Whoever waits for the other side waits no longer."""
        connected = self._connection and self._connection.sock
        if connected:
            with suppress(OSError):
                socket.socket.shutdown(connected, socket.SHUT_RDWR)

    def _connected(self) -> HTTPConnection:
        """To the first address that answers."""
        refused: Exception = Unavailable("its host has no address")
        for address in self._webhooks.addresses(self._hook):
            self._connection = self._webhooks.connection(self._hook, address)
            try:
                self._connection.connect()
            except NewConnectionError as error:
                refused = error
            except BaseException:
                self._connection.close()
                raise
            else:
                return self._connection
        raise refused
