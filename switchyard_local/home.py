"""The folder of a local cloud's files."""

import shutil
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Home:
    folder: Path

    @property
    def lock(self) -> Path:
        return self.folder / "lock"

    @property
    def supervisor(self) -> Path:
        """Return the lock of the command that starts and stops workers with the backlog."""
        return self.folder / "supervisor"

    @property
    def users(self) -> Path:
        return self.folder / "users"

    @property
    def temporary_cloud(self) -> Path:
        return self.folder / "temporary"

    @property
    def cloud_file(self) -> Path:
        return self.folder / "cloud.json"

    @property
    def functions_file(self) -> Path:
        """Return the file that says which packages of functions the workers serve."""
        return self.folder / "functions.json"

    @property
    def processes_file(self) -> Path:
        return self.folder / "processes.json"

    @property
    def outputs_file(self) -> Path:
        return self.folder / "outputs.json"

    @property
    def assembly(self) -> Path:
        return self.folder / "cdk.out"

    @property
    def ministack(self) -> Path:
        return self.folder / "ministack"

    @property
    def worker_output(self) -> Path:
        return self.folder / "worker" / "output"

    @property
    def temporary(self) -> Path:
        return self.folder / "tmp"

    @property
    def user_home(self) -> Path:
        """The HOME of our child processes: nothing in the real one configures them."""
        return self.folder / "home"

    def log(self, name: str) -> Path:
        return self.folder / "logs" / f"{name}.log"

    def create(self) -> None:
        for folder in (self.temporary, self.user_home, self.worker_output, self.log("any").parent):
            folder.mkdir(parents=True, exist_ok=True)

    def remove_temporary(self) -> None:
        shutil.rmtree(self.temporary, ignore_errors=True)
