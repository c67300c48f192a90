"""What an agent could pass off as done."""

from typing import Final

from tests.mutants.mutant import Mutant

ATTEMPTS: Final = "switchyard_worker/parent/attempts"
CLAIMS_TESTS: Final = ("tests/worker/parent/attempts/test_false_claims.py",)

GUARDS: Final = (
    Mutant(
        guard="an attempt whose commitments are not met has failed",
        file=f"{ATTEMPTS}/commitment_evidence.py",
        old="    if found.checked.verified:\n        return verdict\n",
        new="    if found.checked.results:\n        return verdict\n",
        tests=(*CLAIMS_TESTS, "-k", "missing or condition-false"),
    ),
    Mutant(
        guard="what is uploaded is what was checked",
        file=f"{ATTEMPTS}/commitment_evidence.py",
        old="    if not others:\n        return verdict\n",
        new="    return verdict\n",
        tests=(*CLAIMS_TESTS, "-k", "file-changed"),
    ),
    Mutant(
        guard="evidence that a child wrote is not stored",
        file=f"{ATTEMPTS}/upload.py",
        old=" and name != EVIDENCE_FILE\n",
        new="\n",
        tests=("tests/worker/parent/attempts/test_upload.py", "-k", "evidence"),
    ),
    Mutant(
        guard="a definition with commitments is not read by versions that cannot check them",
        file="layers/shared/python/switchyard/adapters/dynamodb/definition_store.py",
        old="    if definition.commitments:\n",
        new="    if False:\n",
        tests=("tests/unit/adapters/dynamodb/test_definition_kinds.py",),
    ),
)
