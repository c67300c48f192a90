"""`keys`: a new one alone on stdout, so that a shell can catch it; the others by their ids."""

import hashlib
import json

import pytest

from switchyard.domain.errors import Unavailable
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import FakeCloud
from tests.unit.cli.fakes.keys import FakeKeys


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ([], "swy.acme.from-local"),
        (["--stage", "dev"], "swy.acme.from-dev"),
        (["--stage", "prod"], "swy.acme.from-prod"),
    ],
    ids=["local", "dev", "prod"],
)
def test_the_key_is_all_there_is_on_stdout(
    options: list[str], key: str, switchyard: Switchyard
) -> None:
    result = switchyard("keys", "issue", "acme", *options)

    assert result.stdout == f"{key}\n"
    assert result.stderr == "This key of the tenant acme is not shown again.\n"
    assert result.exit_code == 0


def test_json_says_whose_and_where(switchyard: Switchyard) -> None:
    result = switchyard("keys", "issue", "acme", "--stage", "dev", "--json")

    issued = json.loads(result.stdout)
    assert issued == {"tenant": "acme", "stage": "dev", "key": "swy.acme.from-dev"}


@pytest.mark.parametrize("tenant", ["Acme", "acme inc", "", "a" * 64, "-acme", "acme\n"])
def test_a_name_that_no_tenant_can_have(tenant: str, switchyard: Switchyard) -> None:
    result = switchyard("keys", "issue", "--", tenant)

    assert "cannot name a tenant" in result.stderr
    assert result.stdout == ""
    assert result.exit_code == 2


@pytest.mark.parametrize("command", [["issue"], ["list"], ["revoke", "0123456789ab"]])
def test_a_stage_that_is_out_of_reach(
    command: list[str], switchyard: Switchyard, keys: FakeKeys
) -> None:
    keys.outage = Unavailable("You must specify a region.")

    result = switchyard("keys", command[0], "acme", *command[1:], "--stage", "dev")

    assert result.stderr.startswith(
        "The keys of the stage dev are out of reach: You must specify a region. Is the stage dep"
    )
    assert result.stdout == ""
    assert result.exit_code == 3


def test_a_local_cloud_that_is_down(switchyard: Switchyard, cloud: FakeCloud) -> None:
    cloud.running = False

    result = switchyard("keys", "issue", "acme")

    assert result.stderr.startswith("The local cloud is not running")
    assert result.exit_code == 3


def test_keys_are_listed_without_being_shown(switchyard: Switchyard, keys: FakeKeys) -> None:
    key = switchyard("keys", "issue", "acme", "--name", "the nightly \x1b[31mbuild").stdout.strip()
    keys.stages["local"].note_use("acme", hash_of(key), day="2027-01-16")
    switchyard("keys", "issue", "other")

    result = switchyard("keys", "list", "acme")

    _, line = result.stdout.splitlines()
    assert line.split() == [
        hash_of(key)[:12], "2027-01-15", "2027-01-16", "the", "nightly", "[31mbuild",
    ]  # fmt: skip
    assert "from-local" not in result.stdout
    assert keys.asked[0] == ("local", "http://127.0.0.1:4580")


def test_a_tenant_without_keys(switchyard: Switchyard) -> None:
    assert switchyard("keys", "list", "acme").stdout == "No keys.\n"
    assert json.loads(switchyard("keys", "list", "acme", "--json").stdout) == []


def test_a_revoked_key_stays_listed(switchyard: Switchyard) -> None:
    key_id = hash_of(switchyard("keys", "issue", "acme").stdout.strip())[:12]

    result = switchyard("keys", "revoke", "acme", key_id)

    assert result.stdout == (f"Within a minute the key {key_id} of acme opens nothing any more.\n")
    (listed,) = json.loads(switchyard("keys", "list", "acme", "--json").stdout)
    assert listed == {
        "id": key_id,
        "name": None,
        "createdAt": "2027-01-15T08:00:00Z",
        "lastUsedOn": None,
        "revokedAt": "2027-01-15T08:00:00Z",
    }
    assert switchyard("keys", "revoke", "acme", key_id).exit_code == 0


@pytest.mark.parametrize("key_id", ["0123456789ab", "", "x" * 12])
def test_a_key_that_is_not_there_cannot_be_revoked(switchyard: Switchyard, key_id: str) -> None:
    result = switchyard("keys", "revoke", "acme", key_id)

    assert result.stderr == f"The tenant acme has no key {key_id!r}.\n"
    assert result.exit_code == 2


def test_a_name_that_is_too_long(switchyard: Switchyard) -> None:
    result = switchyard("keys", "issue", "acme", "--name", "x" * 101)

    assert result.stderr == "A key's name is 1 to 100 characters.\n"
    assert result.exit_code == 2


def test_keys_are_moved_and_named_and_those_of_older_releases_are_gone(
    switchyard: Switchyard, keys: FakeKeys
) -> None:
    for tenant, name in (("zeta", None), ("acme", "the nightly build")):
        keys.earlier.add(tenant, hash_of(tenant), label=name, now_ms=keys.clock.now_ms())

    result = switchyard("keys", "move", "--stage", "dev")

    _, first, second, count = result.stdout.splitlines()
    assert first.split() == ["acme", hash_of("acme")[:12], "2027-01-15", "the", "nightly", "build"]
    assert second.split()[0] == "zeta"
    assert count == "2 keys were moved."
    assert [key.label for key in keys.stages["dev"].all("acme")] == ["the nightly build"]
    assert switchyard("keys", "move", "--stage", "dev").stdout == "0 keys were moved.\n"


def test_copied_keys_stay_for_older_releases_too(switchyard: Switchyard, keys: FakeKeys) -> None:
    keys.earlier.add("acme", hash_of("acme"), label=None, now_ms=keys.clock.now_ms())

    result = switchyard("keys", "move", "--keep", "--json")

    assert json.loads(result.stdout) == [
        {
            "tenant": "acme",
            "id": hash_of("acme")[:12],
            "name": None,
            "createdAt": "2027-01-15T08:00:00Z",
        }
    ]
    assert len(keys.earlier.all("acme")) == len(keys.stages["local"].all("acme")) == 1


def test_before_a_rollback_keys_and_revocations_are_copied_to_where_older_releases_look(
    switchyard: Switchyard, keys: FakeKeys
) -> None:
    now_ms = keys.clock.now_ms()
    keys.earlier.add("acme", hash_of("copied before"), label=None, now_ms=now_ms)
    switchyard("keys", "move", "--keep", "--stage", "dev")
    keys.stages["dev"].revoke("acme", hash_of("copied before"), now_ms=now_ms + 1)
    keys.stages["dev"].add("acme", hash_of("issued since"), label="laptop", now_ms=now_ms + 2)

    result = switchyard("keys", "move", "--back", "--stage", "dev")

    assert result.stdout.splitlines()[-1] == "2 keys were copied."
    revoked, issued = keys.earlier.all("acme")
    assert revoked.revoked_at_ms == now_ms + 1
    assert (issued.key_hash, issued.label) == (hash_of("issued since"), "laptop")
    assert len(keys.stages["dev"].all("acme")) == 2
    switchyard("keys", "move", "--back", "--stage", "dev")
    assert keys.earlier.all("acme") == (revoked, issued)


def test_copying_back_always_leaves_the_keys_where_they_are(switchyard: Switchyard) -> None:
    result = switchyard("keys", "move", "--back", "--keep", "--stage", "dev")

    assert "leave --keep out" in result.stderr
    assert result.exit_code == 2


def hash_of(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()
