"""The addresses that the workers of a stage may connect to, if that is restricted."""

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from typing import Final

_HOST_NAME: Final = re.compile(r"(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}")
_SECURITY_GROUP: Final = re.compile(r"sg-[0-9a-f]{8,17}")
_PREFIX_LIST: Final = re.compile(r"pl-[0-9a-f]{8,17}")
_WIDEST_PREFIX: Final = 16
_LOOK_UP: Final = (
    "look it up with `aws ec2 describe-managed-prefix-lists --filters"
    " Name=prefix-list-name,Values=com.amazonaws.REGION.{service}`"
)


@dataclass(frozen=True, kw_only=True)
class Egress:
    """An HTTPS proxy that is the only way out, beside the AWS services that a worker uses.

    The proxy has the list of hosts; it exists already and is reachable from the stage's network.
    """

    proxy_host: str
    """The proxy's name in DNS, or its IPv4 address."""
    proxy_port: int
    proxy_location: str
    """The address range of the proxy (`10.3.0.0/24`) or its security group (`sg-…`)."""
    s3_prefix_list: str
    """The AWS-managed prefix list of S3 in the stage's region (`pl-…`)."""
    dynamodb_prefix_list: str
    for_agents: bool = False
    """Whether the environment of agents' programs names the proxy, too.

    A program that knows its address reaches it in any case: the proxy's list is what holds.
    """

    @property
    def proxy_url(self) -> str:
        return f"http://{self.proxy_host}:{self.proxy_port}"

    @property
    def proxy_name(self) -> str | None:
        """The name that has to be resolved to reach the proxy."""
        return None if _is_address(self.proxy_host) else self.proxy_host

    def problem(self) -> str | None:
        """Return what is wrong, with the field's name and what it has to be."""
        host, port = self.proxy_host, self.proxy_port
        if not (_HOST_NAME.fullmatch(host) or _is_address(host)):
            return f"proxy_host {host!r} is neither a lower-case name with a dot nor IPv4: no URL"
        if not 1 <= port <= 65_535:
            return f"proxy_port {port} is no port: use 1 to 65535"
        return self._problem_with_location() or self._problem_with_prefix_lists()

    def _problem_with_location(self) -> str | None:
        location = self.proxy_location
        if _SECURITY_GROUP.fullmatch(location):
            return None
        try:
            network = IPv4Network(location)
        except ValueError:
            return f"proxy_location {location!r} is neither a range like 10.3.0.0/24 nor sg-…"
        if network.prefixlen < _WIDEST_PREFIX:
            return (
                f"proxy_location {location} is wider than /{_WIDEST_PREFIX}: name the proxy's own"
            )
        if _is_address(self.proxy_host) and IPv4Address(self.proxy_host) not in network:
            return f"proxy_location {location} does not contain the proxy_host {self.proxy_host}"
        return None

    def _problem_with_prefix_lists(self) -> str | None:
        for field, service in (("s3_prefix_list", "s3"), ("dynamodb_prefix_list", "dynamodb")):
            value = getattr(self, field)
            if not _PREFIX_LIST.fullmatch(value):
                return f"{field} {value!r} is no pl-…: {_LOOK_UP.format(service=service)}"
        if self.s3_prefix_list == self.dynamodb_prefix_list:
            return "s3_prefix_list and dynamodb_prefix_list are the same: each service has its own"
        return None


def _is_address(host: str) -> bool:
    try:
        IPv4Address(host)
    except ValueError:
        return False
    return True
