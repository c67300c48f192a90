"""Decides which addresses a webhook may reach: never those of the stage's own network."""

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


def _networks(*texts: str) -> tuple[Network, ...]:
    return tuple(ip_network(text) for text in texts)


_NEARBY: Final = {
    "loopback": _networks("127.0.0.0/8", "::1/128"),
    "private": _networks("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"),
    "shared by a carrier's customers": _networks("100.64.0.0/10"),
}
"""Networks that are reached where the stage allows it."""
_NEVER: Final = {
    "unspecified": _networks("0.0.0.0/8", "::/128"),
    # Clouds answer there with credentials, AWS at a private address as well.
    "link-local": _networks("169.254.0.0/16", "fe80::/10"),
    "the cloud's own": _networks("fd00:ec2::/32"),
    "site-local": _networks("fec0::/10"),
    "multicast": _networks("224.0.0.0/4", "ff00::/8"),
    "reserved": _networks("192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15", "240.0.0.0/4"),
    "translated by a network of its own": _networks("64:ff9b:1::/48"),
    "for documentation": _networks("2001:db8::/32", "3fff::/20"),
    "for segment routing": _networks("5f00::/16"),
}
_ALLOCATED: Final = ip_network("2000::/3")
"""Global unicast addresses of IPv6, by IANA; `is_global` also accepts most of the rest."""
_TRANSLATED: Final = _networks("64:ff9b::/96", "::/96", "::ffff:0:0:0/96")
"""Networks of IPv6 whose last four bytes are an IPv4 address."""


def problem_with_address(text: str, *, nearby_allowed: bool) -> str | None:
    """Return why nothing may be sent there; an address that wraps another has its problems, too."""
    try:
        address = ip_address(text)
    except ValueError:
        return f"{text!r} is not an address"
    for meant in (address, *_wrapped(address)):
        kind = _kind(meant, nearby_allowed=nearby_allowed)
        if kind is not None:
            return f"{address} is {kind}"
    return None


def _kind(address: Address, *, nearby_allowed: bool) -> str | None:
    never = _named(address, _NEVER)
    if never is not None:
        return never
    nearby = _named(address, _NEARBY)
    if nearby is not None:
        return None if nearby_allowed else nearby
    return None if _is_public(address) or _wraps(address) else "not public"


def _is_public(address: Address) -> bool:
    return address.is_global and (address.version == 4 or address in _ALLOCATED)


def _named(address: Address, kinds: dict[str, tuple[Network, ...]]) -> str | None:
    return next((kind for kind, networks in kinds.items() if _within(address, networks)), None)


def _within(address: Address, networks: tuple[Network, ...]) -> bool:
    return any(address in network for network in networks if network.version == address.version)


def _wraps(address: Address) -> bool:
    return next(_wrapped(address), None) is not None


def _wrapped(address: Address) -> Iterator[IPv4Address]:
    """Yield the IPv4 addresses within an IPv6 one, which may receive its packets."""
    if isinstance(address, IPv4Address) or _named(address, _NEARBY | _NEVER):
        return
    if address.ipv4_mapped is not None:
        yield address.ipv4_mapped
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo
    if _within(address, _TRANSLATED):
        yield IPv4Address(int(address) & 0xFFFF_FFFF)
