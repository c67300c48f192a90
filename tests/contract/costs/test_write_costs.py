"""What each write costs in DynamoDB's write units, and that the documents say the same."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.contract.clouds import Cloud
from tests.contract.costs import measured_changes as changes
from tests.contract.costs import measured_counts as counts
from tests.contract.costs import measured_registry as registry
from tests.contract.costs import measured_scheduling as scheduling
from tests.contract.costs import measured_triggers as triggers
from tests.contract.costs import measured_writes as writes
from tests.contract.costs.metered_harness import LEASE_MS, LONG_SIGNS, NOW_MS, MeteredHarness

DATA_MODEL = Path(__file__).parents[3] / "docs" / "data-model.md"
COST = re.compile(r"^\| `(\w+)` \|.*\| (\d+) \|$", re.MULTILINE)

UNITS: dict[Callable[[MeteredHarness], int], int] = {
    writes.write_job: 44,
    writes.take_key: 1,
    writes.take_key_over: 4,
    writes.accept_job: 2,
    writes.note_written: 1,
    writes.open_job: 8,
    writes.note_failure: 2,
    writes.settle_job: 3,
    writes.abandon: 2,
    writes.remove_edge: 1,
    writes.remove_edges: 1,
    writes.remove_edges_again: 2,
    writes.decide_ready: 2,
    writes.decide_skipped: 2,
    writes.mark_queued: 4,
    writes.claim: 4,
    writes.claim_refused: 1,
    writes.renew: 1,
    writes.renew_after_a_retry: 1,
    writes.release: 4,
    writes.settle_small: 8,
    writes.settle_inline: 14,
    writes.settle_large: 6,
    writes.settle_failed: 4,
    writes.settle_refused: 4,
    writes.give_up: 5,
    writes.adopt: 5,
    changes.add_tasks: 21,
    changes.begin_cancel: 4,
    changes.flag: 1,
    changes.cancel: 4,
    changes.cancel_together: 5,
    changes.flag_together: 2,
    changes.clear_due_together: 3,
    changes.note_cancelled: 1,
    changes.end_cancel: 4,
    changes.note_emitted: 1,
    changes.begin_redrive: 3,
    changes.add_edges: 1,
    changes.reopen_waiting: 1,
    changes.note_reopened: 1,
    changes.open_again: 4,
    changes.reopen_ready: 2,
    changes.reopen_with_input: 7,
    changes.end_redrive: 3,
    scheduling.claim_limited: 7,
    scheduling.settle_limited: 10,
    scheduling.release_limited: 7,
    scheduling.give_up_limited: 8,
    scheduling.wait_for_place: 6,
    scheduling.let_in: 6,
    scheduling.remove_stale: 4,
    scheduling.enter_ready: 2,
    scheduling.leave_ready: 2,
    scheduling.move_ready: 3,
    scheduling.mark_first: 2,
    scheduling.mark_again: 1,
    scheduling.unmark: 1,
    scheduling.charge_tenant: 1,
    scheduling.catch_up: 1,
    scheduling.weigh_tenant: 1,
    scheduling.raise_floor: 1,
    scheduling.note_cost: 1,
    writes.clear_due: 2,
    writes.move_due: 3,
    writes.move_due_of_job: 3,
    writes.heartbeat: 2,
    writes.lifecycle: 10,
    writes.lifecycle_again: 2,
    writes.completed: 12,
    registry.put_definition: 8,
    registry.delete_definition: 2,
    registry.add_key: 1,
    registry.note_use: 1,
    registry.revoke_key: 1,
    registry.count_request: 1,
    registry.count_request_at_once: 2,
    registry.count_job: 1,
    registry.close_job: 1,
    registry.set_tenant: 2,
    registry.hear_press: 1,
    registry.change_subscription: 1,
    registry.pause: 1,
    registry.resume: 1,
    registry.pause_part: 1,
    registry.resume_part: 1,
    counts.count_started: 1,
    counts.count_ended: 2,
    counts.take_minute: 1,
    counts.say_present: 1,
    counts.say_left: 1,
    triggers.create_queue: 1,
    triggers.change_queue: 1,
    triggers.delete_queue: 1,
    triggers.subscribe: 1,
    triggers.unsubscribe: 1,
    triggers.put_trigger: 2,
    triggers.change_trigger: 1,
    triggers.switch_trigger: 1,
    triggers.note_run: 2,
    triggers.remove_trigger: 1,
}


@pytest.mark.parametrize(("write", "units"), UNITS.items(), ids=[write.__name__ for write in UNITS])
def test_a_write_costs_what_it_did(
    simulated: Cloud, write: Callable[[MeteredHarness], int], units: int
) -> None:
    assert write(MeteredHarness(simulated)) == units


def test_the_data_model_names_every_cost() -> None:
    emitted = {name: int(units) for name, units in COST.findall(DATA_MODEL.read_text())}
    assert emitted == {write.__name__: units for write, units in UNITS.items()}


def test_the_control_item_of_a_running_task_stays_under_a_kilobyte(simulated: Cloud) -> None:
    harness = MeteredHarness(simulated)
    harness.leases.renew(harness.retried(), lease_until_ms=NOW_MS + 2 * LEASE_MS, signs=LONG_SIGNS)
    assert harness.size_of_child() < 1024


def test_choosing_costs_little_more_than_an_assignment() -> None:
    """A key is put and deleted; with a limit the claim becomes a transaction, too."""
    keys = (UNITS[writes.mark_queued] - 3) + (UNITS[writes.claim] - 3)
    charges = 2 * UNITS[scheduling.charge_tenant]
    limited = UNITS[scheduling.claim_limited] - UNITS[writes.claim]
    limited += UNITS[scheduling.settle_limited] - UNITS[writes.settle_small]
    assert keys + charges <= 4
    assert keys + charges + limited <= 10
