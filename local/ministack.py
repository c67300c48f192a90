"""MiniStack as a background process: AWS on one loopback port."""

import shutil
import sys
from collections.abc import Mapping

from local.environments import bare_environment
from local.errors import failure_with_log
from local.gateway import Gateway
from local.home import Home
from local.interrupts import held_back
from local.loopback import LOOPBACK, require_free
from local.processes import find, start_detached
from local.roster import Roster
from switchyard.ports import Clock

ROLE = "ministack"
START_SECONDS = 30.0
STOP_SECONDS = 20.0


class MiniStack:
    def __init__(
        self, home: Home, port: int, *, clock: Clock, extra_environment: Mapping[str, str]
    ) -> None:
        self._home = home
        self._port = port
        self._clock = clock
        self._extra_environment = extra_environment
        self._roster = Roster(home.processes_file)
        self._saved_for = home.ministack / "saved-for-port"

    @property
    def pid(self) -> int | None:
        process = find(self._roster.get(ROLE))
        return process.pid if process else None

    @property
    def running(self) -> bool:
        return self.pid is not None and self.answers()

    @property
    def has_saved(self) -> bool:
        """Was it stopped in order? Its files also hold queue addresses, and with them the port."""
        return self._saved_for.exists() and self._saved_for.read_text() == str(self._port)

    def forget_everything(self) -> None:
        shutil.rmtree(self._home.ministack, ignore_errors=True)

    def require_port(self) -> None:
        """Raise `CloudError` if another program has our port."""
        if not self.running:
            self._roster.end(ROLE, grace_seconds=STOP_SECONDS)
            require_free(self._port)

    def start(self) -> None:
        self._home.ministack.mkdir(parents=True, exist_ok=True)
        self._saved_for.unlink(missing_ok=True)
        with held_back():
            started = start_detached(
                [sys.executable, "-m", "ministack"],
                cwd=self._home.folder,
                environment=self._environment(),
                log=self._home.log("ministack"),
                signature=str(self._port),
            )
            self._roster.enter(ROLE, started)

    def wait_until_ready(self) -> None:
        deadline = self._clock.monotonic() + START_SECONDS
        while not self.answers():
            if self.pid is None or self._clock.monotonic() > deadline:
                raise failure_with_log("MiniStack did not start.", self._home.log("ministack"))
            self._clock.sleep(0.05)

    def answers(self) -> bool:
        reply = Gateway(self._port).get("/_ministack/health")
        return reply is not None and reply.status == 200

    def stop(self, *, keep_data: bool) -> None:
        """End it and what it started. It saves its data when it ends in order, and only then."""
        started = self._roster.get(ROLE)
        if self._roster.end(ROLE, grace_seconds=STOP_SECONDS) and started and keep_data:
            self._saved_for.write_text(started.signature)

    def _environment(self) -> dict[str, str]:
        return {
            **bare_environment(self._home),
            "GATEWAY_PORT": str(self._port),
            "BIND_HOST": LOOPBACK,
            "MINISTACK_HOST": LOOPBACK,
            "LOG_LEVEL": "WARNING",
            "PERSIST_STATE": "1",
            "STATE_DIR": str(self._home.ministack / "state"),
            "S3_PERSIST": "1",
            "S3_DATA_DIR": str(self._home.ministack / "s3"),
            "SFTP_ENABLED": "0",
            "IOT_MTLS_ENABLED": "0",  # it would listen on a port of its own
            "DOCKER_HOST": "unix:///nonexistent",  # it would reap containers it takes for its own
            **self._extra_environment,
        }
