"""MiniStack as a background process: AWS on one loopback port."""

import shutil
import sys
from collections.abc import Mapping
from contextlib import suppress

import psutil

from switchyard.ports import Clock
from switchyard_local.emulator.gateway import Gateway
from switchyard_local.emulator.loopback import LOOPBACK, require_free
from switchyard_local.emulator.saves import SAVE_PATH, SAVES_FOLDER, TASK_FOLDERS, Save, Saves
from switchyard_local.environments import bare_environment
from switchyard_local.errors import failure_with_log
from switchyard_local.home import Home
from switchyard_local.interrupts import held_back
from switchyard_local.processes.process import ends_in_time, find, start_detached
from switchyard_local.processes.roster import MINISTACK, Roster
from switchyard_local.say import Say

START_SECONDS = 30.0
STOP_SECONDS = 20.0
SILENT_SECONDS = 3.0
"""A save that takes longer is explained."""


class MiniStack:
    def __init__(
        self, home: Home, port: int, *, clock: Clock, extra_environment: Mapping[str, str]
    ) -> None:
        self._home = home
        self._port = port
        self._clock = clock
        self._extra_environment = extra_environment
        self._roster = Roster(home.processes_file)
        self._saves = Saves(home.ministack / "saves")

    @property
    def pid(self) -> int | None:
        process = find(self._roster.get(MINISTACK))
        return process.pid if process else None

    @property
    def running(self) -> bool:
        return self.pid is not None and self.answers()

    @property
    def last_save(self) -> Save | None:
        return self._saves.last()

    @property
    def has_saved(self) -> bool:
        return self.last_save is not None

    def forget_everything(self) -> None:
        shutil.rmtree(self._home.ministack, ignore_errors=True)

    def require_port(self) -> None:
        """Raise `CloudError` if another program has our port."""
        if not self.running:
            self._roster.end(MINISTACK, grace_seconds=STOP_SECONDS)
            require_free(self._port, clock=self._clock)

    def start(self) -> None:
        self._home.ministack.mkdir(parents=True, exist_ok=True)
        with held_back():
            started = start_detached(
                [sys.executable, "-m", "switchyard_local.emulator.server"],
                cwd=self._home.folder,
                environment=self._environment(),
                log=self._home.log("ministack"),
                signature=str(self._port),
            )
            self._roster.enter(MINISTACK, started)

    def wait_until_ready(self) -> None:
        deadline = self._clock.monotonic() + START_SECONDS
        while not self.answers():
            if self.pid is None or self._clock.monotonic() > deadline:
                raise failure_with_log("MiniStack did not start.", self._home.log("ministack"))
            self._clock.sleep(0.05)

    def answers(self) -> bool:
        reply = Gateway(self._port).get("/_ministack/health")
        return reply is not None and reply.status == 200

    def save(self) -> None:
        """Save now what is in it. Raise `CloudError` when that fails."""
        reply = Gateway(self._port).post(SAVE_PATH)
        if reply is None or reply.status != 200:
            raise failure_with_log("MiniStack could not save.", self._home.log("ministack"))

    def stop(self, *, keep_data: bool, say: Say = lambda _: None) -> None:
        """End it and what it started. It saves before it ends, however long that takes.

        Being interrupted meanwhile kills it; then the save before counts.
        """
        process = find(self._roster.get(MINISTACK))
        try:
            if process is not None and keep_data:
                self._wait_for_its_save(process, say)
        finally:
            self._roster.end(MINISTACK, grace_seconds=0 if keep_data else STOP_SECONDS)
            if not keep_data:
                self._saves.forget()

    def _wait_for_its_save(self, process: psutil.Process, say: Say) -> None:
        if ends_in_time(process, SILENT_SECONDS):
            return
        say("Waiting until MiniStack has saved its data (Ctrl-C ends it with its last save)")
        with suppress(psutil.NoSuchProcess):
            process.wait()

    def _environment(self) -> dict[str, str]:
        return {
            **bare_environment(self._home),
            "GATEWAY_PORT": str(self._port),
            "BIND_HOST": LOOPBACK,
            "MINISTACK_HOST": LOOPBACK,
            "LOG_LEVEL": "WARNING",
            "PERSIST_STATE": "1",
            TASK_FOLDERS: str(self._home.worker_output),
            SAVES_FOLDER: str(self._home.ministack / "saves"),
            "STATE_DIR": str(self._home.ministack / "state"),
            "S3_PERSIST": "1",
            "S3_DATA_DIR": str(self._home.ministack / "s3"),
            "SFTP_ENABLED": "0",
            "IOT_MTLS_ENABLED": "0",  # it would listen on a port of its own
            "DOCKER_HOST": "unix:///nonexistent",  # it would reap containers it takes for its own
            **self._extra_environment,
        }
