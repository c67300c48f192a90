"""How one of several processes posts an alert, and nothing is posted twice."""

from typing import Final

from tests.mutants.guards.places import PACKAGE, SIMULATED
from tests.mutants.mutant import Mutant

STORE: Final = f"{PACKAGE}/adapters/dynamodb/alert_store.py"
POSTING: Final = f"{PACKAGE}/usecases/alerts/post_alerts.py"
STORED: Final = ("tests/contract/alerting/test_alert_store.py", *SIMULATED)
POSTED: Final = ("tests/slack",)

GUARDS: Final = (
    Mutant(
        guard="of two that read no alert one gets the lease",
        file=STORE,
        old='return "attribute_not_exists(#PK)", {}',
        new='return ":any = :any", {"any": 1}',
        tests=STORED,
    ),
    Mutant(
        guard="of two that read an old alert one gets the lease",
        file=STORE,
        old='return "#fence = :fence", {"fence": known.fence}',
        new='return ":fence = :fence", {"fence": known.fence}',
        tests=STORED,
    ),
    Mutant(
        guard="an update that is requested during the lease stays due",
        file=STORE,
        old='unasked = "#fence = :fence AND #asks = :asks"',
        new='unasked = "#fence = :fence AND :asks = :asks"',
        tests=STORED,
    ),
    Mutant(
        guard="a process that lost its lease saves nothing",
        file=STORE,
        old='        if refused.item is None or refused.item["fence"] != alert.fence:\n'
        "            return False\n",
        new='        if refused.item is None:\n            return False\n        fence["fence"] = '
        'refused.item["fence"]\n',
        tests=STORED,
    ),
    Mutant(
        guard="an update of an unknown alert writes nothing",
        file=STORE,
        old='condition="attribute_exists(#PK)"',
        new='condition="attribute_exists(#PK) OR attribute_not_exists(#PK)"',
        tests=STORED,
    ),
    Mutant(
        guard="after a lost answer it is looked for before it is posted again",
        file=POSTING,
        old="            self.unsure = True\n",
        new="",
        tests=POSTED,
    ),
    Mutant(
        guard="a lost message is one of this incident, not of an earlier one",
        file=f"{PACKAGE}/domain/alerts/alerts.py",
        old="replace(self, opened_at_ms=since,",
        new="replace(self, opened_at_ms=0,",
        tests=POSTED,
    ),
    Mutant(
        guard="a lost page is found even if it is not needed now",
        file=POSTING,
        old="        self._find_lost_pages()\n",
        new="",
        tests=("tests/unit/usecases/alerts/test_post_alerts.py",),
    ),
    Mutant(
        guard="nothing that others wrote calls a channel",
        file=f"{PACKAGE}/adapters/slack/blocks.py",
        old='{"&": "&amp;", "<": "&lt;", ">": "&gt;"}',
        new='{"&": "&amp;"}',
        tests=("tests/slack/test_hostile_text.py",),
    ),
)
