import pytest

from stacks.environment import environment_for
from stacks.errors import EnvironmentMismatch
from switchyard.settings import SaveEventSettings


def test_fields_become_upper_case_variables() -> None:
    assert environment_for(
        SaveEventSettings,
        stage="dev",
        dynamodb_events_table_name="events-dev",
        state_table_name="state-dev",
        events_retention_days=30,
    ) == {
        "STAGE": "dev",
        "DYNAMODB_EVENTS_TABLE_NAME": "events-dev",
        "STATE_TABLE_NAME": "state-dev",
        "EVENTS_RETENTION_DAYS": "30",
    }


def test_forgotten_fields_are_named() -> None:
    with pytest.raises(
        EnvironmentMismatch,
        match="SaveEventSettings needs dynamodb_events_table_name, events_retention_days",
    ):
        environment_for(SaveEventSettings, stage="dev")


def test_misspelt_fields_are_named() -> None:
    with pytest.raises(EnvironmentMismatch, match="does not know events_retention"):
        environment_for(
            SaveEventSettings,
            stage="dev",
            dynamodb_events_table_name="events-dev",
            events_retention_days=30,
            events_retention=30,
        )
