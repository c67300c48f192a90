"""Guards of who is believed, where messages go, and what is delivered or done once."""

from typing import Final

from tests.mutants.guards.places import PACKAGE, SIMULATED
from tests.mutants.mutant import Mutant

ONCE: Final = f"{PACKAGE}/adapters/dynamodb/submission_keys.py"
SIGNATURES: Final = f"{PACKAGE}/adapters/slack/requests.py"
INTERACTIONS: Final = f"{PACKAGE}/adapters/slack/interactions.py"
JOB: Final = f"{PACKAGE}/domain/jobs/job.py"
WEBHOOKS: Final = f"{PACKAGE}/adapters/webhooks.py"
ESCALATE: Final = f"{PACKAGE}/usecases/alerts/escalate.py"
SIGNATURE_TESTS: Final = ("tests/unit/adapters/slack/test_requests.py",)
PRESS_TESTS: Final = ("tests/unit/adapters/slack/test_interactions.py",)
WEBHOOK_TESTS: Final = ("tests/unit/adapters/test_webhooks.py",)

GUARDS: Final = (
    Mutant(
        guard="a press is heard once",
        file=ONCE,
        old="return self._table.put_new(used)",
        new="return self._table.put_new(used) or True",
        tests=("tests/contract/test_deduplication.py", *SIMULATED),
    ),
    Mutant(
        guard="a press that came before is refused",
        file=INTERACTIONS,
        old='return None if first else "the request came before"',
        new="return None",
        tests=PRESS_TESTS,
    ),
    Mutant(
        guard="only what Slack signed is believed",
        file=SIGNATURES,
        old="if not hmac.compare_digest(expected.encode(), signature.encode()):",
        new="if not signature:",
        tests=SIGNATURE_TESTS,
    ),
    Mutant(
        guard="a press grows old",
        file=SIGNATURES,
        old="if abs(now_ms / 1000 - int(timestamp)) > MAX_AGE_SECONDS:",
        new="if int(timestamp) < 0:",
        tests=SIGNATURE_TESTS,
    ),
    Mutant(
        guard="without a secret nobody is believed",
        file=INTERACTIONS,
        old="if secret is None or not secret.answers_buttons:",
        new="if secret is None:",
        tests=PRESS_TESTS,
    ),
    Mutant(
        guard="a button is of its run",
        file=JOB,
        old="if run is None or run == self.run:",
        new="if run is None or run <= self.run:",
        tests=PRESS_TESTS,
    ),
    Mutant(
        guard="every address of a webhook's host is looked at",
        file=WEBHOOKS,
        old="for address in found:",
        new="for address in found[:1]:",
        tests=WEBHOOK_TESTS,
    ),
    Mutant(
        guard="a redirect is no success",
        file=WEBHOOKS,
        old="if not http.client.OK <= status < http.client.MULTIPLE_CHOICES:",
        new="if not http.client.OK <= status < http.client.BAD_REQUEST:",
        tests=WEBHOOK_TESTS,
    ),
    Mutant(
        guard="a webhook hears of each state once",
        file=ESCALATE,
        old="if _was_delivered(decision.known, incident):",
        new="if decision.known.fence < 0:",
        tests=("tests/unit/usecases/alerts/test_escalate.py",),
    ),
)
