"""docs/alerts.md shows every alert as the code renders it today."""

from tests.slack.examples import INCIDENTS
from tests.slack.page import PAGE, alerts_in, renewed


def test_the_page_shows_every_alert_once() -> None:
    assert sorted(alerts_in(PAGE.read_text(encoding="utf-8"))) == sorted(INCIDENTS)


def test_the_page_is_as_the_code_renders_it() -> None:
    """If it is not: `make alerts`."""
    page = PAGE.read_text(encoding="utf-8")
    assert renewed(page) == page
