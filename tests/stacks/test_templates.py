from importlib import import_module

import pytest

from tests.stacks.synthesized import SynthesizedYard

# CDK writes every dependency out, also those that a reference implies.
REDUNDANT_DEPENDENCY = "W3005"


# The templates of dev say hardly anything else than those of prod; `make lint` reads them all.
@pytest.mark.parametrize("stage", ["local", "prod"], indirect=True)
def test_cfn_lint_has_no_complaint(yard: SynthesizedYard) -> None:
    cfnlint = import_module("cfnlint.api")  # here: not every process needs to import it
    files = [str(file) for file in yard.template_files()]
    settings = cfnlint.ManualArgs(templates=files, ignore_checks=[REDUNDANT_DEPENDENCY])
    assert [str(complaint) for complaint in cfnlint.lint_by_config(settings)] == []
