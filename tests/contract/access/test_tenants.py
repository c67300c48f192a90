"""The contract of `TenantStore`."""

from switchyard.domain.access.tenants import TenantSettings
from tests.builders import TENANT
from tests.contract.conftest import Backend


def test_a_tenant_for_which_nothing_is_set_has_the_defaults(backend: Backend) -> None:
    assert backend.tenants.find(TENANT) == TenantSettings()
    assert backend.tenants.all() == {}


def test_only_the_lists_that_are_given_are_replaced(backend: Backend) -> None:
    backend.tenants.change(TENANT, slack_channels=("#a", "C0123456"))
    changed = backend.tenants.change(TENANT, slack_operators=("U1", "W2"))

    expected = TenantSettings(slack_channels=("#a", "C0123456"), slack_operators=("U1", "W2"))
    assert changed == backend.tenants.find(TENANT) == expected
    assert backend.tenants.change(TENANT, slack_channels=("#b",)).slack_channels == ("#b",)
    assert backend.tenants.change(TENANT, slack_channels=()).slack_channels == ()
    assert backend.tenants.find(TENANT).slack_operators == ("U1", "W2")


def test_settings_are_of_one_tenant_alone(backend: Backend) -> None:
    backend.tenants.change(TENANT, slack_channels=("#a",))
    assert backend.tenants.find(f"{TENANT}-inc") == TenantSettings()


def test_all_tenants_with_settings_are_listed_in_order(backend: Backend) -> None:
    for tenant in ("zeta", "acme", "mid"):
        backend.tenants.change(tenant, slack_channels=(f"#{tenant}",))
    found = backend.tenants.all()
    assert list(found) == ["acme", "mid", "zeta"]
    assert found["mid"] == TenantSettings(slack_channels=("#mid",))


def test_settings_are_no_jobs_of_anybody(backend: Backend) -> None:
    backend.tenants.change(TENANT, slack_channels=("#a",))
    assert backend.jobs.page(TENANT, limit=10, cursor=None).jobs == ()
