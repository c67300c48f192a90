"""Who may run a task, and who may say how it ended."""

from typing import Final

from tests.mutants.guards.places import (
    LEASE_TESTS,
    LEASES,
    PROOFS,
    READ_BACK,
    READ_BACK_TESTS,
    RECOVERY,
    STATE_TESTS,
    STORMS,
    ZOMBIES,
)
from tests.mutants.mutant import Mutant

GUARDS: Final = (
    Mutant(
        guard="a lease is held in PROCESSING only",
        file=LEASES,
        old='"#state = :processing AND #fence = :fence AND #owner = :owner"',
        new='":processing = :processing AND #fence = :fence AND #owner = :owner"',
        tests=ZOMBIES,
    ),
    Mutant(
        guard="a lease is held under its fence only",
        file=LEASES,
        old='"#state = :processing AND #fence = :fence AND #owner = :owner"',
        new='"#state = :processing AND :fence = :fence AND #owner = :owner"',
        tests=LEASE_TESTS,
    ),
    Mutant(
        guard="a lease is held by its owner only",
        file=LEASES,
        old='"#state = :processing AND #fence = :fence AND #owner = :owner"',
        new='"#state = :processing AND #fence = :fence AND :owner = :owner"',
        tests=LEASE_TESTS,
    ),
    Mutant(
        guard="a renewal needs the lease",
        file=LEASES,
        old="condition=f\"{held['condition']} AND #lease_until_ms <= :set_lease_until_ms\",",
        new='condition=":processing = :processing AND :fence = :fence AND :owner = :owner",',
        tests=ZOMBIES,
    ),
    Mutant(
        guard="a late renewal shortens no lease",
        file=LEASES,
        old=" AND #lease_until_ms <= :set_lease_until_ms",
        new="",
        tests=STORMS,
    ),
    Mutant(
        guard="a release needs the lease",
        file=LEASES,
        old="""            add={"attempt": -1} if give_attempt_back else {},
            **_held_by(lease),""",
        new="""            add={"attempt": -1} if give_attempt_back else {},
            condition="attribute_exists(#PK)",""",
        tests=ZOMBIES,
    ),
    Mutant(
        guard="a settlement needs the lease",
        file=LEASES,
        old="""                **due_attributes(lease.ref.request_id, now_ms + due.AFTER_SETTLING),
            },
            **_held_by(lease),""",
        new="""                **due_attributes(lease.ref.request_id, now_ms + due.AFTER_SETTLING),
            },
            condition="attribute_exists(#PK)",""",
        tests=STORMS,
    ),
    Mutant(
        guard="a claim raises the fence",
        file=LEASES,
        old='add={"fence": 1, "attempt": 1},',
        new='add={"attempt": 1},',
        tests=ZOMBIES,
    ),
    Mutant(
        guard="giving up raises the fence",
        file=LEASES,
        old="""                add={"fence": 1},
                condition=_NOBODY_HOLDS_IT,""",
        new="                condition=_NOBODY_HOLDS_IT,",
        tests=LEASE_TESTS,
    ),
    Mutant(
        guard="a live lease is not taken over",
        file=LEASES,
        old="""" OR (#state = :processing AND #lease_until_ms < :now))"
    " AND #attempt""",
        new="""" OR (#state = :processing AND :now = :now))"
    " AND #attempt""",
        tests=STORMS,
    ),
    Mutant(
        guard="a live lease is not given up",
        file=LEASES,
        old="""" OR (#state = :processing AND #lease_until_ms < :now))"
)""",
        new="""" OR (#state = :processing AND :now = :now))"
)""",
        tests=STATE_TESTS,
    ),
    Mutant(
        guard="what is settled is not claimed again",
        file=LEASES,
        old='"((#state IN (:ready, :queued)"',
        new='"((:ready <> :queued"',
        tests=STATE_TESTS,
    ),
    Mutant(
        guard="attempts have a maximum",
        file=LEASES,
        old="#attempt < #max_attempts AND ",
        new="",
        tests=STATE_TESTS,
    ),
    Mutant(
        guard="what is flagged is not claimed",
        file=LEASES,
        old=" AND attribute_not_exists(#cancel_requested)",
        new="",
        tests=STATE_TESTS,
    ),
    Mutant(
        guard="nothing is claimed before its time",
        file=LEASES,
        old=" OR #not_before_ms <= :now))",
        new=" OR attribute_exists(#not_before_ms)))",
        tests=STATE_TESTS,
    ),
    Mutant(
        guard="a claim that nobody heard of is read back",
        file=READ_BACK,
        old="answer.found is not None and proof.done(answer.found):",
        new="answer.found is None:",
        tests=READ_BACK_TESTS,
    ),
    Mutant(
        guard="a settlement counts as ours only under our fence",
        file=PROOFS,
        old="    return task.state is state and _is_of(lease, task)",
        new="    return task.state is state",
        tests=READ_BACK_TESTS,
    ),
    Mutant(
        guard="an owner is one claim, not one worker",
        file="worker/delivery.py",
        old='owner=f"{self._ports.worker_id}/{next(self._claim_numbers)}",',
        new='owner=f"{self._ports.worker_id}/1",',
        tests=STORMS,
    ),
    Mutant(
        guard="a child is stopped before its lease ends",
        file="worker/lease_timing.py",
        old="return self.lease_seconds - self.kill_seconds - self.margin_seconds",
        new="return self.lease_seconds * 10",
        tests=RECOVERY,
    ),
    Mutant(
        guard="what is settled has a due time until it is dispatched",
        file=LEASES,
        old="""                **due_attributes(lease.ref.request_id, now_ms + due.AFTER_SETTLING),
            },
            **_held_by(lease),""",
        new="""            },
            remove=("due_shard", "due_at_ms"),
            **_held_by(lease),""",
        tests=STORMS,
    ),
)
