"""The folder of one attempt: what goes in, what comes out."""

import contextlib
import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from switchyard.domain.ids import REQUEST_ID
from switchyard.domain.tasks.task import Lease

LONGEST_NAME: Final = 255
UPLOADED: Final = ("artifacts", "logs", "traces")
TEMPORARY: Final = "tmp"


@dataclass(frozen=True, slots=True)
class TaskFolder:
    path: Path

    @classmethod
    def fresh(cls, output_folder: Path, lease: Lease) -> "TaskFolder":
        """The fence is in the path: what an older attempt still writes lands elsewhere."""
        request_id = lease.ref.request_id
        if not REQUEST_ID.fullmatch(request_id):
            raise ValueError(f"{request_id!r} cannot name a folder")
        path = (output_folder / _folder_name(request_id) / str(lease.fence)).absolute()
        shutil.rmtree(path, ignore_errors=True)
        for name in (*UPLOADED, TEMPORARY):
            (path / name).mkdir(parents=True, mode=0o770)  # the agent's user shares our group
        return cls(path)

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        with contextlib.suppress(OSError):  # another attempt's folder may still be beside it
            self.path.parent.rmdir()


def _folder_name(request_id: str) -> str:
    """A bare id may be longer than the name of a folder."""
    if len(request_id) <= LONGEST_NAME:
        return request_id
    digest = hashlib.blake2b(request_id.encode(), digest_size=16).hexdigest()
    return f"{request_id[: LONGEST_NAME - len(digest) - 1]}-{digest}"
