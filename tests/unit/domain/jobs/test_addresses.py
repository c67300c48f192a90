"""Which addresses a webhook may reach."""

import pytest

from switchyard.domain.jobs.addresses import problem_with_address

PUBLIC = (
    "1.1.1.1",
    "8.8.8.8",
    "100.63.255.255",
    "100.128.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.167.255.255",
    "169.253.255.255",
    "169.255.0.0",
    "223.255.255.255",
    "2606:4700:4700::1111",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
    "2002:808:808::1",
)
NEARBY = {
    "127.0.0.1": "loopback",
    "127.255.255.254": "loopback",
    "::1": "loopback",
    "10.0.0.0": "private",
    "10.255.255.255": "private",
    "172.16.0.1": "private",
    "172.31.255.255": "private",
    "192.168.1.1": "private",
    "fc00::1": "private",
    "fdff::1": "private",
    "100.64.0.0": "shared",
    "100.127.255.255": "shared",
    "::ffff:127.0.0.1": "loopback",
    "::ffff:10.1.2.3": "private",
    "::127.0.0.1": "loopback",
    "::ffff:0:10.0.0.1": "private",
    "64:ff9b::10.0.0.1": "private",
    "64:ff9b::7f00:1": "loopback",
    "2002:7f00:1::": "loopback",
    "2002:a00:1::1": "private",
}
NEVER = {
    "0.0.0.0": "unspecified",
    "0.1.2.3": "unspecified",
    "::": "unspecified",
    "169.254.169.254": "link-local",
    "169.254.0.1": "link-local",
    "fe80::1": "link-local",
    "fe80::1%eth0": "link-local",
    "febf::1": "link-local",
    "fec0::1": "site-local",
    "3fff::1": "for documentation",
    "3fff:fff::1": "for documentation",
    "2001:db8::1": "for documentation",
    "5f00::1": "for segment routing",
    "5f00:ffff::1": "for segment routing",
    "4000::1": "not public",
    "6000::1": "not public",
    "1000::1": "not public",
    "224.0.0.1": "multicast",
    "239.255.255.255": "multicast",
    "ff02::1": "multicast",
    "240.0.0.1": "reserved",
    "255.255.255.255": "reserved",
    "192.0.0.8": "reserved",
    "198.18.0.1": "reserved",
    "192.0.2.1": "not public",
    "198.51.100.1": "not public",
    "203.0.113.1": "not public",
    "100::1": "not public",
    "fd00:ec2::254": "the cloud's own",
    "64:ff9b:1::8.8.8.8": "translated",
    "::ffff:169.254.169.254": "link-local",
    "64:ff9b::a9fe:a9fe": "link-local",
    "2002:a9fe:a9fe::1": "link-local",
    "2001:0:a9fe:a9fe::1": "link-local",
    "2001:0:808:808:0:0:5601:5601": "link-local",
    "": "not an address",
    "localhost": "not an address",
    "2130706433": "not an address",
    "0x7f.1": "not an address",
    "127.1": "not an address",
    "1.1.1.1\n": "not an address",
}


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_reached_in_every_stage(address: str) -> None:
    assert problem_with_address(address, nearby_allowed=False) is None
    assert problem_with_address(address, nearby_allowed=True) is None


@pytest.mark.parametrize(("address", "kind"), NEARBY.items())
def test_addresses_nearby_are_reached_where_the_stage_allows_it(address: str, kind: str) -> None:
    assert kind in (problem_with_address(address, nearby_allowed=False) or "")
    assert problem_with_address(address, nearby_allowed=True) is None


@pytest.mark.parametrize(("address", "kind"), NEVER.items())
def test_what_is_no_ones_address_is_never_reached(address: str, kind: str) -> None:
    assert kind in (problem_with_address(address, nearby_allowed=False) or "")


@pytest.mark.parametrize("address", ["169.254.169.254", "::ffff:169.254.169.254", "fd00:ec2::254"])
def test_a_stage_that_allows_private_addresses_keeps_its_own_metadata_to_itself(
    address: str,
) -> None:
    assert problem_with_address(address, nearby_allowed=True) is not None
