"""The CDK app: `cdk deploy -c stage=dev --all`."""

import os
import sys

from aws_cdk import App, Validations

from stacks.application import build_application
from stacks.errors import SynthesisError
from stacks.stage import stage_named


def main() -> None:
    app = App()
    try:
        build_application(app, stage_named(app.node.try_get_context("stage")))
    except SynthesisError as error:
        sys.exit(f"switchyard: {error}")
    if os.environ.get("CDK_VALIDATION") != "false":
        add_security_checks(app)
    app.synth()


def add_security_checks(app: App) -> None:
    from cdk_nag import AwsSolutionsChecks  # noqa: PLC0415  a quick synthesis does not pay for it

    Validations.of(app).add_plugins(AwsSolutionsChecks(app))


if __name__ == "__main__":
    main()
