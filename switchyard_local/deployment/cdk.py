"""The real CDK command line, pointed at MiniStack."""

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from switchyard_local.deployment.cdk_cli import NODE, ROLE, cdk_program, install_cdk
from switchyard_local.environments import (
    ACCOUNT,
    REGION,
    aws_environment,
    bare_environment,
    download_environment,
)
from switchyard_local.home import Home
from switchyard_local.processes.command import Command, running
from switchyard_local.processes.roster import Roster
from switchyard_local.say import Say

VERBS = ("synth", "bootstrap", "deploy")
QUIET = ("--no-notices", "--no-color", "--no-version-reporting")


class Cdk:
    def __init__(self, root: Path, home: Home, port: int) -> None:
        self._root = root
        self._home = home
        self._roster = Roster(home.processes_file)
        self._environment = {
            **bare_environment(home),
            **aws_environment(port),
            "JSII_NODE": str(NODE),
            "CDK_VALIDATION": "false",  # a check of its own in `make lint`; it doubles the start
            "CDK_DISABLE_CLI_TELEMETRY": "true",
            "UV_SYSTEM_CERTS": "1",  # trust whom the system trusts, as in `switchyard_local.setup`
        }

    def end_leftovers(self) -> None:
        """End what a killed command left running, before it deploys into our next MiniStack."""
        for verb in VERBS:
            self._roster.end(role(verb), grace_seconds=0)
        self._roster.end(ROLE, grace_seconds=0)

    def install(self, say: Say) -> None:
        """Install the command line where `make setup` did not."""
        install_cdk(self._root, self._home, say)

    def synthesize(self, assembly: Path) -> AbstractContextManager[Command]:
        output = ("--output", str(assembly))
        downloads = download_environment(os.environ)  # it bundles the dependency layer
        stage = ("-c", "stage=local")
        return self._run("synth", "--quiet", *stage, *output, cwd=self._root, also=downloads)

    def bootstrap(self) -> AbstractContextManager[Command]:
        return self._run("bootstrap", f"aws://{ACCOUNT}/{REGION}")

    def deploy(self, assembly: Path) -> AbstractContextManager[Command]:
        what = ("--app", str(assembly), "--all")
        unattended = ("--require-approval", "never", "--method", "direct")
        outputs = ("--outputs-file", str(self._home.outputs_file))
        return self._run("deploy", *what, *unattended, *outputs)

    def _run(
        self,
        verb: str,
        *arguments: str,
        cwd: Path | None = None,
        also: Mapping[str, str] | None = None,
    ) -> AbstractContextManager[Command]:
        """Run outside the folder of cdk.json by default: with it every verb synthesizes first."""
        return running(
            role(verb),
            [str(NODE), str(cdk_program(self._root)), verb, *arguments, *QUIET],
            cwd=cwd or self._home.folder,
            environment={**self._environment, **(also or {})},
            log=self._home.log(f"cdk-{verb}"),
            roster=self._roster,
        )


def role(verb: str) -> str:
    return f"cdk {verb}"
