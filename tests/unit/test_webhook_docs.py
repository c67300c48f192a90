"""docs/webhooks.md is the contract with receivers: what it shows is what they get."""

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from switchyard.contracts.webhooks import WebhookMessage, signature_header
from switchyard.domain.alerts.alerts import WEBHOOK_RETRIES, webhook_retry_pause

TEXT = (Path(__file__).parents[2] / "docs" / "webhooks.md").read_text(encoding="utf-8")
MINUTE = 60_000


@pytest.fixture(scope="module")
def is_from_switchyard() -> Any:
    (shown,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    defined: dict[str, Any] = {}
    exec(shown, defined)
    return defined["is_from_switchyard"]


def test_the_request_shown_is_one_of_ours() -> None:
    (shown,) = re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL)
    message = WebhookMessage.model_validate_json(shown)
    assert json.loads(message.body()) == json.loads(shown)


def test_what_we_sign_passes_the_check_that_is_shown(is_from_switchyard: Any) -> None:
    now, body = int(time.time()), b'{"id": "1"}'
    header = signature_header("secret", body, at_seconds=now)
    assert is_from_switchyard("secret", header, body)
    assert not is_from_switchyard("another", header, body)
    assert not is_from_switchyard("secret", header, body + b" ")
    late = signature_header("secret", body, at_seconds=now - 301)
    assert not is_from_switchyard("secret", late, body)


def test_the_documented_times_of_the_tries_are_those_of_the_code() -> None:
    assert "5 minutes, 30 minutes, 4 hours and 24 hours" in TEXT
    assert [at // MINUTE for at in WEBHOOK_RETRIES] == [5, 30, 4 * 60, 24 * 60]


@pytest.mark.parametrize(
    ("elapsed", "pause"),
    [
        (0, 5 * MINUTE),
        (5 * MINUTE - 1, 1),
        (5 * MINUTE, 25 * MINUTE),
        (24 * 60 * MINUTE - 1, 1),
        (24 * 60 * MINUTE, None),
        (90 * 60 * MINUTE, None),
    ],
)
def test_each_pause_ends_at_the_next_time(elapsed: int, pause: int | None) -> None:
    assert webhook_retry_pause(elapsed) == pause
