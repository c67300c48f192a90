"""Where scenarios may run: beside a stage that is there, and never beside prod."""

import pytest

from switchyard.domain.errors import Unavailable
from switchyard_scenarios.errors import BadUsage
from switchyard_scenarios.harness import place as places
from switchyard_scenarios.harness.place import stage_place


@pytest.fixture
def deployed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "stage_endpoint", lambda _: "https://api.example.com")
    monkeypatch.setattr(places, "clients", lambda: None)


@pytest.mark.usefixtures("deployed")
def test_workers_have_the_credentials_of_the_environment_and_nothing_else() -> None:
    environment = {"AWS_PROFILE": "dev", "HOME": "/home/dev", "ANTHROPIC_API_KEY": "secret"}
    place = stage_place("dev", environment)
    assert place.environment == {"AWS_PROFILE": "dev", "HOME": "/home/dev"}
    assert place.stage == "dev"


@pytest.mark.usefixtures("deployed")
def test_prod_is_spared_even_if_it_is_there() -> None:
    with pytest.raises(BadUsage, match="prod is spared"):
        stage_place("prod", {})


def test_a_stage_that_is_not_there_is_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(stage: str) -> str:
        raise Unavailable(f"there is no stack switchyard-{stage}-producer-api")

    monkeypatch.setattr(places, "stage_endpoint", missing)
    with pytest.raises(BadUsage, match="The stage dev was not found in this account"):
        stage_place("dev", {})
