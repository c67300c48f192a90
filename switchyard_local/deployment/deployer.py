"""Keeps MiniStack running with the stacks of today's sources in it."""

from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from switchyard_local.deployment.api import api_serves, api_url
from switchyard_local.deployment.api_key import TENANT, issue_api_key
from switchyard_local.deployment.assembly import Assembly
from switchyard_local.deployment.cdk import Cdk
from switchyard_local.deployment.deployed import Outputs, read_outputs
from switchyard_local.deployment.webhooks_secret import ensure_webhooks_secret
from switchyard_local.emulator.gateway import Gateway
from switchyard_local.emulator.loopback import LOOPBACK
from switchyard_local.emulator.ministack import MiniStack
from switchyard_local.endpoint import Deployment, Endpoint, recall, remember
from switchyard_local.environments import REGION
from switchyard_local.errors import CloudError
from switchyard_local.home import Home
from switchyard_local.say import Say
from switchyard_local.sources import DEPLOYED, fingerprint


class Deployer:
    def __init__(self, root: Path, home: Home, port: int, ministack: MiniStack) -> None:
        self._root = root
        self._home = home
        self._port = port
        self._ministack = ministack
        self._cdk = Cdk(root, home, port)

    def bring_up(self, say: Say, undo: ExitStack) -> Deployment:
        """Leave MiniStack running with the stacks in it; `undo` ends it again if we started it."""
        self._cdk.end_leftovers()
        self._ministack.require_port()
        self._report_lost(say)
        known = self._known()
        sources = fingerprint(self._root, DEPLOYED, str(self._port))
        if known and known.sources == sources:
            self._start(say, undo, keep_data=True)
            if api_serves(known.endpoint):
                ensure_webhooks_secret(Gateway(self._port))
                return known
            say("The saved data is damaged: starting with an empty cloud")
            known = None
        self._forget(known)
        deployment = self._deploy(known, sources, say, undo)
        ensure_webhooks_secret(Gateway(self._port))
        self._ministack.save()
        remember(self._home.cloud_file, deployment)
        return deployment

    def take_down(self, say: Say) -> None:
        self._cdk.end_leftovers()
        if self._ministack.pid:
            say("Stopping MiniStack")
        self._ministack.stop(keep_data=recall(self._home.cloud_file) is not None, say=say)

    def _report_lost(self, say: Say) -> None:
        """Say what a MiniStack that was killed has lost, and what moves to another port."""
        if self._ministack.running or recall(self._home.cloud_file) is None:
            return
        save = self._ministack.last_save
        if save is None:
            say(
                "There is no save of the local cloud: its jobs, definitions and keys are lost, "
                "and an empty cloud is started"
            )
            return
        if save.port != self._port:
            say(
                f"The local cloud moves from port {save.port} to {self._port}, with its jobs, "
                "definitions and keys"
            )
        if not save.final:
            moment = datetime.fromtimestamp(save.saved_at_ms / 1000).astimezone()
            say(
                "The local cloud ended without its last save: it goes on as it was at "
                f"{moment:%H:%M:%S} on {moment:%Y-%m-%d}, and what happened later is lost"
            )

    def _known(self) -> Deployment | None:
        """Return the deployment in MiniStack, if that runs or its data was saved."""
        usable = self._ministack.running or self._ministack.has_saved
        return recall(self._home.cloud_file) if usable else None

    def _start(self, say: Say, undo: ExitStack, *, keep_data: bool) -> None:
        if self._ministack.running:
            return
        say(f"Starting MiniStack on port {self._port}")
        undo.callback(self._ministack.stop, keep_data=keep_data)
        self._ministack.start()
        self._ministack.wait_until_ready()

    def _forget(self, known: Deployment | None) -> None:
        """A deployment may end halfway: then what is there comes from no known sources."""
        if known:
            remember(self._home.cloud_file, replace(known, sources=""))
        else:
            self._forget_everything()

    def _forget_everything(self) -> None:
        self._ministack.stop(keep_data=False)
        self._ministack.forget_everything()
        self._home.cloud_file.unlink(missing_ok=True)
        self._home.outputs_file.unlink(missing_ok=True)

    def _deploy(
        self, known: Deployment | None, sources: str, say: Say, undo: ExitStack
    ) -> Deployment:
        self._cdk.install(say)
        assembly = self._synthesize_and_start(known, say, undo)
        say("Deploying the stacks into MiniStack")
        with self._cdk.deploy(assembly) as deployment:
            deployment.finish()
        return Deployment(self._endpoint(read_outputs(self._home.outputs_file), known), sources)

    def _synthesize_and_start(self, known: Deployment | None, say: Say, undo: ExitStack) -> Path:
        """Do both at once; return where the synthesized stacks are."""
        assembly = Assembly(self._home, fingerprint(self._root, DEPLOYED))
        with ExitStack() as synthesizing:
            folder = assembly.folder
            if folder is None:
                say("Synthesizing the stacks")
                synthesis = synthesizing.enter_context(self._cdk.synthesize(assembly.begin()))
            self._start(say, undo, keep_data=known is not None)
            if known is None:
                with self._cdk.bootstrap() as bootstrap:
                    bootstrap.finish()
            if folder is None:
                synthesis.finish()
                folder = assembly.finish()
        return folder

    def _endpoint(self, outputs: Outputs, known: Deployment | None) -> Endpoint:
        endpoint = Endpoint(
            api_url=api_url(self._port, outputs.api_id),
            api_key=known.endpoint.api_key if known else "",
            tenant=TENANT,
            aws_endpoint_url=f"http://{LOOPBACK}:{self._port}",
            region=REGION,
            port=self._port,
        )
        if endpoint.api_key and api_serves(endpoint):
            return endpoint
        table = outputs.api_keys_table_name
        key = issue_api_key(self._root, self._home, self._port, table_name=table)
        endpoint = replace(endpoint, api_key=key)
        if not api_serves(endpoint):
            log = self._home.log("ministack")
            raise CloudError(
                f"The API at {endpoint.api_url} was deployed but does not serve its key. "
                f"Its functions log to {log}; `make clean` starts over."
            )
        return endpoint
