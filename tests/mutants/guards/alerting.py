"""How one of several tellers tells, and nothing is told twice."""

from typing import Final

from tests.mutants.guards.places import PACKAGE, SIMULATED
from tests.mutants.mutant import Mutant

BOOK: Final = f"{PACKAGE}/adapters/dynamodb/alert_book.py"
CONVERSATION: Final = f"{PACKAGE}/usecases/alerts/conversation.py"
KEPT: Final = ("tests/contract/test_alert_book.py", *SIMULATED)
TOLD: Final = ("tests/slack",)

GUARDS: Final = (
    Mutant(
        guard="of two who read a new alert one takes it",
        file=BOOK,
        old='return "attribute_not_exists(#PK)", {}',
        new='return ":any = :any", {"any": 1}',
        tests=KEPT,
    ),
    Mutant(
        guard="of two who read an old alert one takes it",
        file=BOOK,
        old='return "#fence = :fence", {"fence": known.fence}',
        new='return ":fence = :fence", {"fence": known.fence}',
        tests=KEPT,
    ),
    Mutant(
        guard="what another asked for meanwhile stays due",
        file=BOOK,
        old='unasked = "#fence = :fence AND #asks = :asks"',
        new='unasked = "#fence = :fence AND :asks = :asks"',
        tests=KEPT,
    ),
    Mutant(
        guard="who lost the right to tell saves nothing",
        file=BOOK,
        old='        if refused.item is None or refused.item["fence"] != alert.fence:\n'
        "            return False\n",
        new='        if refused.item is None:\n            return False\n        mine["fence"] = '
        'refused.item["fence"]\n',
        tests=KEPT,
    ),
    Mutant(
        guard="to ask for an alert that nobody wrote writes nothing",
        file=BOOK,
        old='condition="attribute_exists(#PK)"',
        new='condition="attribute_exists(#PK) OR attribute_not_exists(#PK)"',
        tests=KEPT,
    ),
    Mutant(
        guard="after a lost answer it is looked for before it is posted again",
        file=CONVERSATION,
        old="            self.unsure = True\n",
        new="",
        tests=TOLD,
    ),
    Mutant(
        guard="a lost message is one of this incident, not of an earlier one",
        file=f"{PACKAGE}/domain/alerts/alerts.py",
        old="replace(self, opened_at_ms=since,",
        new="replace(self, opened_at_ms=0,",
        tests=TOLD,
    ),
    Mutant(
        guard="a lost page is found even if it is not needed now",
        file=CONVERSATION,
        old="        self._note_lost_pages()\n",
        new="",
        tests=("tests/unit/usecases/alerts/test_telling_storms.py",),
    ),
    Mutant(
        guard="nothing that others wrote calls a channel",
        file=f"{PACKAGE}/domain/alerts/incident_rendering.py",
        old='{"&": "&amp;", "<": "&lt;", ">": "&gt;"}',
        new='{"&": "&amp;"}',
        tests=("tests/slack/test_hostile_text.py",),
    ),
)
