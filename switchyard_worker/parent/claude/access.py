"""Gives each attempt a token for Claude; the credential itself is known to the proxy alone."""

import asyncio
import socket
import sys
from collections.abc import Callable, Mapping
from typing import Final

from switchyard.domain.tasks.failures import FailureCategory
from switchyard.settings import WorkerSettings
from switchyard_worker.boundary import AGENT_USERS, UNNAMED_MODEL, Assignment
from switchyard_worker.parent.attempts.verdict import HandedBack, Verdict
from switchyard_worker.parent.claude.link import Allowance, ClaudeAccess, ProxyLink
from switchyard_worker.parent.claude.proxy.control import MAX_LINE_BYTES, Start
from switchyard_worker.parent.supervision.child_environment import (
    ENDPOINT,
    ChildAccess,
    Credential,
    package_paths,
)

PUBLIC_API: Final = "https://api.anthropic.com"
BACKLOG: Final = 1024
TOKEN_PREFIX: Final = "sk-ant-task-"  # noqa: S105 - only its beginning
"""Looks like a key, so whatever removes keys from texts removes it too."""
# What the proxy may know of the worker's environment: how to reach the API, and nothing of AWS.
_PASSED_ON: Final = (
    "PATH",
    "LANG",
    "LC_ALL",
    "HTTPS_PROXY",
    "https_proxy",
    "NO_PROXY",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
)
# What the entrypoint gives the worker to change users is nothing for a server.
_WITHOUT_CAPABILITIES: Final = (
    "setpriv",
    "--inh-caps=-all",
    "--ambient-caps=-all",
    "--no-new-privs",
    "--",
)


class ClaudeProxy:
    """Starts the proxy's process with the first attempt that needs it, and again if it ends."""

    def __init__(
        self,
        credential: Credential,
        host_environment: Mapping[str, str],
        *,
        new_secret: Callable[[], str],
    ) -> None:
        self.credential = credential
        self._host = host_environment
        self._new_secret = new_secret
        self._starting = asyncio.Lock()
        self._listener: socket.socket | None = None
        self._running: ProxyLink | None = None
        self._last_id = 0

    @classmethod
    def where_a_credential_is(
        cls, host_environment: Mapping[str, str], *, new_secret: Callable[[], str]
    ) -> "ClaudeProxy | None":
        credential = Credential.found_in(host_environment)
        return cls(credential, host_environment, new_secret=new_secret) if credential else None

    @property
    def process_id(self) -> int | None:
        return self._running.process.pid if self._running else None

    async def access(self, allowance: Allowance) -> ClaudeAccess:
        """Return a token that is valid until it is revoked. Raise `NoAccess`."""
        running = await self._ready()
        self._last_id += 1
        given = ChildAccess(
            name=self.credential.name,
            token=TOKEN_PREFIX + self._new_secret(),
            endpoint=f"http://127.0.0.1:{self._port()}",
        )
        access = ClaudeAccess(self._last_id, allowance.request_id, given, running.revoke)
        await running.register(access, allowance)
        return access

    async def close(self) -> None:
        if self._running:
            await self._running.end()
        if self._listener:
            self._listener.close()

    def _port(self) -> int:
        assert self._listener  # noqa: S101 - made before anything is started
        port: int = self._listener.getsockname()[1]
        return port

    async def _ready(self) -> ProxyLink:
        async with self._starting:
            if self._running is None or self._running.ended:
                self._running = await self._start()
        return self._running

    async def _start(self) -> ProxyLink:
        # The worker keeps the port: were it free between two proxies, a child could listen there
        # and be asked what others ask.
        self._listener = self._listener or _listener()
        ours, theirs = socket.socketpair()
        with theirs:
            process = await asyncio.create_subprocess_exec(
                *(_WITHOUT_CAPABILITIES if self._host.get(AGENT_USERS) else ()),
                *(sys.executable, "-P", "-m", "switchyard_worker.parent.claude.proxy"),
                str(theirs.fileno()),
                str(self._listener.fileno()),
                stdin=asyncio.subprocess.DEVNULL,
                pass_fds=(theirs.fileno(), self._listener.fileno()),
                env=self._environment(),
                process_group=0,  # a signal for the worker's group is not meant for it
            )
        reader, writer = await asyncio.open_unix_connection(sock=ours, limit=MAX_LINE_BYTES)
        running = ProxyLink(process, reader, writer)
        upstream = self._host.get(ENDPOINT) or PUBLIC_API
        await running.begin(
            Start(
                credential_name=self.credential.name,
                credential_value=self.credential.value,
                upstream=upstream,
            )
        )
        return running

    def _environment(self) -> dict[str, str]:
        passed_on = {name: self._host[name] for name in _PASSED_ON if name in self._host}
        return {**passed_on, "PYTHONPATH": package_paths(), "PYTHONUNBUFFERED": "1"}


def _listener() -> socket.socket:
    listener = socket.create_server(("127.0.0.1", 0), backlog=BACKLOG)
    listener.setblocking(False)  # noqa: FBT003 - its only argument
    return listener


SECONDS_BEYOND: Final = 30.0
"""A token outlives its attempt by so much at most, should it not be revoked."""
WEB_SEARCH: Final = "WebSearch"


def allowance_for(assignment: Assignment, settings: WorkerSettings) -> Allowance:
    named = assignment.model
    own = settings.claude_model if named == UNNAMED_MODEL else named
    extra = [model.strip() for model in settings.claude_extra_models.split(",") if model.strip()]
    return Allowance(
        request_id=assignment.request_id,
        models=tuple(dict.fromkeys([own, *extra])),
        seconds=assignment.timeout_ms / 1000 + SECONDS_BEYOND,
        cap_usd=assignment.max_cost_usd,
        cap_tokens=assignment.max_tokens,
        web_search=any(WEB_SEARCH in step.tools for step in assignment.in_order()),
    )


def counted(verdict: Verdict, access: ClaudeAccess) -> Verdict:
    """Add what the API reported, whatever the child claims; and the cap, if that ended it."""
    if isinstance(verdict, HandedBack):
        return verdict
    stopped = access.spent.stopped
    if stopped and verdict.failed:
        category = FailureCategory.VALIDATION
        return verdict.changed(usage=access.usage, error_category=category, error=stopped)
    return verdict.changed(usage=access.usage)
