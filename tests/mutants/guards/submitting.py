"""How a key stands for one job, and which of two tries opens it."""

from typing import Final

from tests.mutants.guards.places import (
    JOB_TRANSITIONS,
    PACKAGE,
    SIMULATED,
)
from tests.mutants.mutant import Mutant

KEYS: Final = f"{PACKAGE}/adapters/dynamodb/submission_keys.py"
TAKEN_OVER: Final = ("tests/contract/jobs/test_keys_taken_over.py", *SIMULATED)
CHANGED: Final = ("tests/unit/usecases/jobs/test_changed_between_tries.py",)

GUARDS: Final = (
    Mutant(
        guard="a key is taken over from the job that was read",
        file=KEYS,
        old='condition="#job_id = :old"',
        new='condition=":old = :old"',
        tests=TAKEN_OVER,
    ),
    Mutant(
        guard="a job that was opened keeps its key",
        file=JOB_TRANSITIONS,
        old='(_WRITING, Absent("document_key"))',
        new='(Absent("document_key"),)',
        tests=TAKEN_OVER,
    ),
    Mutant(
        guard="a job that the dispatcher writes keeps its key",
        file=JOB_TRANSITIONS,
        old='(_WRITING, Absent("document_key"))',
        new="(_WRITING,)",
        tests=TAKEN_OVER,
    ),
    Mutant(
        guard="a job whose key was taken over is given up in the same write",
        file=KEYS,
        old="(place, key_now), _given_up(JobRef(tenant, instead_of))",
        new="(place, key_now)",
        tests=TAKEN_OVER,
    ),
    Mutant(
        guard="a job that was given up is not opened",
        file=JOB_TRANSITIONS,
        old='guard=(_WRITING, equal("created_at_ms", job.created_at_ms)),',
        new="guard=(_WRITING,),",
        tests=CHANGED,
    ),
    Mutant(
        guard="nobody writes its tasks into the job of another template",
        file=f"{PACKAGE}/usecases/jobs/submit_job.py",
        old="            submission.require_ours(taken)\n",
        new="",
        tests=CHANGED,
    ),
    Mutant(
        guard="a job begun with another template is given up",
        file=f"{PACKAGE}/usecases/jobs/submit_job.py",
        old="        if taken.body_hash == asked.said:",
        new="        if taken:",
        tests=CHANGED,
    ),
)
