"""`make alerts`: writes every alert anew into docs/alerts.md, as a reader sees it."""

import re
from pathlib import Path

from tests.slack.examples import INCIDENTS, as_text

PAGE = Path(__file__).parents[2] / "docs" / "alerts.md"
SHOWN = re.compile(r"(?<=<!-- alert: )(?P<name>[a-z ]+) -->\n````text\n.*?\n````", re.DOTALL)


def renewed(page: str) -> str:
    """Raise `KeyError` for an alert that there is not."""
    return SHOWN.sub(lambda found: _shown(found["name"]), page)


def alerts_in(page: str) -> list[str]:
    return [found["name"] for found in SHOWN.finditer(page)]


def _shown(name: str) -> str:
    return f"{name} -->\n````text\n{as_text(INCIDENTS[name])}\n````"


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
