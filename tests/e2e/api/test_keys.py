"""Issuing and revoking API keys of the deployed system."""

from switchyard.bootstrap import stage_keys
from tests.e2e.conftest import RunningCloud

TENANT = "newcomer"


def answer(cloud: RunningCloud, key: str) -> int:
    with cloud.http_with({"x-api-key": key}) as http:
        return http.get("/health").status_code


def test_a_key_opens_the_api_and_a_revoked_one_does_not(cloud: RunningCloud) -> None:
    """None is used before it is revoked: for a minute the gateway would remember that it opened."""
    with stage_keys("local", **cloud.aws) as ring:
        lost = ring.issue(TENANT, label="lost")
        (listed,) = ring.all(TENANT)
        ring.revoke(TENANT, listed.key_id)
        stored = ring.issue(TENANT, label="kept")

        assert answer(cloud, stored) == 200
        assert answer(cloud, lost) in {401, 403}

        seen = [(key.label, key.last_used_on is not None) for key in ring.all(TENANT)]
        assert seen == [("lost", False), ("kept", True)]
