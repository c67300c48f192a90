"""API keys of a stage that is rolled back: valid ones stay valid, revoked ones stay revoked."""

from collections.abc import Callable
from dataclasses import dataclass, field

import httpx

from switchyard.bootstrap import stage_keys
from switchyard.bootstrap.operators import stage_key_move
from switchyard.usecases.access.api_keys import id_of_key
from switchyard_local.endpoint import Endpoint
from tests.compatibility.templates import Broken, Version

TENANT = "rolled"


@dataclass
class CheckedKeys:
    """Two keys that today's version issued, one of them revoked."""

    endpoint: Callable[[], Endpoint]
    valid: str = field(init=False)
    revoked: str = field(init=False)

    def __post_init__(self) -> None:
        with stage_keys("local", **self.endpoint().connection) as keys:
            self.valid = keys.issue(TENANT)
            self.revoked = keys.issue(TENANT)
            keys.revoke(TENANT, id_of_key(self.revoked))

    def copy_back(self) -> None:
        """Do what `switchyard keys move --back` does, before the older version is deployed."""
        with stage_key_move("local", **self.endpoint().connection) as keys:
            keys.copy_back()

    def move(self) -> None:
        """Do what `switchyard keys move` does, after the newer version was deployed again."""
        with stage_key_move("local", **self.endpoint().connection) as keys:
            keys.move(keep=True)

    def require_as_before(self, *, by: Version) -> None:
        answers = {"valid": self._answer_to(self.valid), "revoked": self._answer_to(self.revoked)}
        if answers["valid"] != httpx.codes.OK or answers["revoked"] not in {
            httpx.codes.UNAUTHORIZED,
            httpx.codes.FORBIDDEN,
        }:
            raise Broken(f"{by.name} answers API keys that were issued before with {answers}")

    def _answer_to(self, key: str) -> int:
        url = f"{self.endpoint().api_url}/task-definitions"
        return httpx.get(url, headers={"x-api-key": key}, timeout=60, trust_env=False).status_code
