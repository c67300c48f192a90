"""What every keeper of API keys promises."""

from tests.builders import TENANT
from tests.contract.conftest import Backend


def test_a_key_is_known_to_its_tenant_alone(backend: Backend) -> None:
    backend.keys.add(TENANT, "abc", now_ms=1)
    assert backend.keys.knows(TENANT, "abc")
    assert not backend.keys.knows("other", "abc")
    assert not backend.keys.knows(TENANT, "abcd")
