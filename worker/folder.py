"""The folder of one attempt: what goes in, what comes out."""

import contextlib
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from switchyard.domain.ids import REQUEST_ID
from switchyard.domain.task import Lease

UPLOADED: Final = ("artifacts", "logs", "traces")


@dataclass(frozen=True, slots=True)
class TaskFolder:
    path: Path

    @classmethod
    def fresh(cls, output_folder: Path, lease: Lease) -> "TaskFolder":
        """The fence is in the path: what an older attempt still writes lands elsewhere."""
        request_id = lease.ref.request_id
        if not REQUEST_ID.fullmatch(request_id):
            raise ValueError(f"{request_id!r} cannot name a folder")
        path = (output_folder / request_id / str(lease.fence)).absolute()
        shutil.rmtree(path, ignore_errors=True)
        for name in UPLOADED:
            (path / name).mkdir(parents=True, mode=0o700)
        return cls(path)

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        with contextlib.suppress(OSError):  # another attempt's folder may still be beside it
            self.path.parent.rmdir()
