"""Names of what is in the bucket. Imports nothing: the child starts with it."""

from typing import Final

ARTIFACTS: Final = "artifacts"
"""The folder of an attempt whose files are stored for others."""
RESULT_FILE: Final = "artifacts/task-result.json"
"""The output, below the attempt's folder and below its prefix in the bucket."""

CONTENT_TYPES: Final = {
    "json": "application/json",
    "log": "text/plain; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "png": "image/png",
    # What a browser would run as a page of the bucket is stored as the text that it is.
    "htm": "text/plain; charset=utf-8",
    "html": "text/plain; charset=utf-8",
    "svg": "text/plain; charset=utf-8",
    "xhtml": "text/plain; charset=utf-8",
    "xml": "text/plain; charset=utf-8",
}
UNKNOWN_TYPE: Final = "application/octet-stream"


def content_type_of(name: str) -> str:
    """Return the type that a file is stored and served as; no type that a browser runs."""
    _, dot, ending = name.rpartition("/")[2].rpartition(".")
    return CONTENT_TYPES.get(ending.lower(), UNKNOWN_TYPE) if dot else UNKNOWN_TYPE


def document_key(tenant: str, job_id: str) -> str:
    """Return the key of a submission that is too large to be written while its producer waits."""
    return f"task/documents/{tenant}/{job_id}.json"


def redrive_key(tenant: str, job_id: str, *, run: int, digest: str) -> str:
    """Return the key of the plan that redrives a job of this run. The key names its content."""
    return f"task/redrives/{tenant}/{job_id}/{run}-{digest}.json"


def gathered_key(tenant: str, request_id: str, *, run: int, digest: str) -> str:
    """Return the key of the gathered outputs of a fan-out's tasks. The key names its content."""
    return f"task/gathered/{tenant}/{request_id}/{run}-{digest}.json"


def input_key(tenant: str, request_id: str, digest: str) -> str:
    """Return the key of an input that is too large for its item.

    It names its content: a concurrent write for the same task replaces nothing.
    """
    return f"task/inputs/{tenant}/{request_id}/{digest}.json"


def upload_key(tenant: str, sha256: str) -> str:
    """Return the key of a file that is submitted with jobs. The key names the content."""
    return f"task/uploads/{tenant}/{sha256}"


def job_files_key(tenant: str, job_id: str) -> str:
    """Return the key of the document that names the files of a job."""
    return f"task/job-files/{tenant}/{job_id}.json"
