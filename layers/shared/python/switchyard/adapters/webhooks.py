"""Calls webhooks and probes URLs: a host is resolved once, only checked addresses are called."""

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
    """Uses connections without a pool: no redirects, no retries and no proxies."""

    def __init__(
        self,
        *,
        nearby_allowed: bool,
        resolve: Resolve = look_up,
        trusted: ssl.SSLContext | None = None,
        seconds: float = SECONDS,
    ) -> None:
        """Trust the certificates of `trusted`, or else those of the machine."""
        self._nearby_allowed = nearby_allowed
        self._resolve = resolve
        self._trusted = trusted
        self._seconds = seconds

    def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> None:
        status = self.status("POST", url, body, headers)
        if not http.client.OK <= status < http.client.MULTIPLE_CHOICES:
            raise Unavailable(f"it answered {status}")

    def status(self, method: str, url: str, body: bytes | None, headers: Mapping[str, str]) -> int:
        """Send one request; return the status of its answer. Raise `Unavailable`."""
        hook = hook_at(url)
        problem = problem_with_hook(hook, nearby_allowed=self._nearby_allowed)
        if problem:
            raise Unavailable(f"nothing was sent: its URL {problem}")
        return self._in_time(_Exchange(self, method, hook, body, headers))

    def addresses(self, hook: Hook) -> Sequence[str]:
        """Resolve the host, and refuse it if one of its addresses must not be called."""
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
        """Limit the whole exchange: limits for single reads would let an answer take for ever."""
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
        self,
        webhooks: HttpWebhooks,
        method: str,
        hook: Hook,
        body: bytes | None,
        headers: Mapping[str, str],
    ) -> None:
        self._webhooks = webhooks
        self._method = method
        self._hook = hook
        self._body = body
        self._headers = {**headers, "Host": hook.authority}
        self._connection: HTTPConnection | None = None

    def status(self) -> int:
        """Send the request, and return the status of the answer; its body is not read."""
        connection = self._connected()
        try:
            connection.request(
                self._method, self._hook.target, self._body, self._headers, preload_content=False
            )
            return connection.getresponse().status
        finally:
            connection.close()

    def break_off(self) -> None:
        """Shut the connection down, so that a thread that waits for the answer ends."""
        connected = self._connection and self._connection.sock
        if connected:
            with suppress(OSError):
                socket.socket.shutdown(connected, socket.SHUT_RDWR)

    def _connected(self) -> HTTPConnection:
        """Connect to the first address that accepts a connection."""
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


class HttpWebProbe:
    """Asks a URL by the rules of webhooks."""

    def __init__(
        self,
        *,
        nearby_allowed: bool,
        resolve: Resolve = look_up,
        trusted: ssl.SSLContext | None = None,
    ) -> None:
        self._nearby_allowed = nearby_allowed
        self._resolve = resolve
        self._trusted = trusted

    def status(self, url: str, *, method: str, seconds: float) -> int:
        asking = HttpWebhooks(
            nearby_allowed=self._nearby_allowed,
            resolve=self._resolve,
            trusted=self._trusted,
            seconds=seconds,
        )
        return asking.status(method, url, None, {"User-Agent": "switchyard", "Accept": "*/*"})
