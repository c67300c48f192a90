"""Checks where a job wants its end published: in a Slack channel, or to a webhook."""

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final, Literal
from urllib.parse import SplitResult, urlsplit

from switchyard.domain.jobs.addresses import problem_with_address

SLACK_CHANNEL: Final = re.compile(r"(#[a-z0-9_-]{1,80}|[CG][A-Z0-9]{5,20})")
MAX_URL: Final = 2_000
_PRINTABLE: Final = re.compile(r"[!-~]+")
_HOST: Final = re.compile(r"[a-z0-9_.-]{1,253}|[0-9a-f:.]{2,45}")
PORTS: Final = {"https": 443, "http": 80}
NotifiedEnd = Literal["failed", "completed"]
DEFAULT_ENDS: Final[tuple[NotifiedEnd, ...]] = ("failed",)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifyTarget:
    """A channel or a webhook, never both."""

    channel: str | None = None
    webhook: str | None = None
    on: tuple[NotifiedEnd, ...] = DEFAULT_ENDS
    """The ends that are published."""

    @property
    def failures(self) -> bool:
        return "failed" in self.on

    @property
    def successes(self) -> bool:
        return "completed" in self.on


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """A webhook's URL, taken apart."""

    secure: bool
    host: str
    port: int
    target: str
    """The path and query of the URL."""

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = PORTS["https" if self.secure else "http"]
        return host if self.port == usual else f"{host}:{self.port}"


def problem_with_channel(name: str) -> str | None:
    if SLACK_CHANNEL.fullmatch(name):
        return None
    return "must be #name, of a-z 0-9 - _, or a channel's id like C0123456789"


def problem_with_url(url: str) -> str | None:
    """Return the problem that the URL has in every stage, or `None`."""
    if len(url) > MAX_URL:
        return f"must have at most {MAX_URL:,} characters"
    if not _PRINTABLE.fullmatch(url) or "\\" in url:
        return "must be a URL of printable ASCII characters, without \\"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "is not a URL"
    if port == 0:
        return "is not a URL: there is no port 0"
    return _problem_with_parts(parts, url)


def _problem_with_parts(parts: SplitResult, url: str) -> str | None:
    if parts.scheme not in PORTS:
        return "must begin with https://, or on a local cloud with http://"
    if parts.username is not None or parts.password is not None:
        return "must not contain credentials: readers of the job would see them"
    if "#" in url:
        return "must not have a fragment"
    return None if _HOST.fullmatch(parts.hostname or "") else "must name a host"


def hook_at(url: str) -> Hook:
    """Return the parts of a URL that has no problem."""
    parts = urlsplit(url)
    query = f"?{parts.query}" if parts.query else ""
    return Hook(
        secure=parts.scheme == "https",
        host=parts.hostname or "",
        port=parts.port or PORTS[parts.scheme],
        target=f"{parts.path or '/'}{query}",
    )


def problem_with_hook(hook: Hook, *, nearby_allowed: bool) -> str | None:
    """Return the hook's problem in this stage, as far as is known before its host is resolved."""
    if nearby_allowed:
        return None
    if not hook.secure:
        return "must begin with https://"
    if hook.port != PORTS["https"]:
        return "must not name another port than 443"
    return problem_with_address(hook.host, nearby_allowed=False) if _is_address(hook.host) else None


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
