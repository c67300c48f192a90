from cfnlint.api import ManualArgs, lint_file  # type: ignore[import-untyped]

from tests.stacks.synthesized import SynthesizedYard

# CDK writes every dependency out, also those that a reference implies.
REDUNDANT_DEPENDENCY = "W3005"


def test_cfn_lint_has_no_complaint(yard: SynthesizedYard) -> None:
    settings = ManualArgs(ignore_checks=[REDUNDANT_DEPENDENCY])
    complaints = [
        str(complaint)
        for file in yard.template_files()
        for complaint in lint_file(file, config=settings)
    ]
    assert complaints == []
