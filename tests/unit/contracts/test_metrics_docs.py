"""docs/metrics.md names what is published, and what people are alarmed by."""

import re
from pathlib import Path

from switchyard.contracts.metrics import COST, TOKENS, UNITS
from switchyard_cli.views.stage.metrics import MEANINGS

DOCUMENT = Path(__file__).parents[3] / "docs" / "metrics.md"


def test_every_metric_has_its_row_and_its_meaning() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    table = text.partition("| metric |")[2].partition("\n\n")[0]

    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == list(MEANINGS)
    assert MEANINGS.keys() | {COST, TOKENS} == UNITS.keys()
    assert f"`{COST}` and `{TOKENS}`" in text
