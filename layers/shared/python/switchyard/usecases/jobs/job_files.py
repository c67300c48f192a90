"""Files that are submitted with jobs: uploaded by a link, checked, and named beside the job.

No content passes through here: a link is signed for it, and the bucket is asked about it.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from switchyard.contracts.files import FileContent, UploadLink
from switchyard.contracts.job_document import JobFiles
from switchyard.contracts.wire import instant
from switchyard.domain.errors import MissingBlob, Problem
from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.file_checks import file_problems, files_named_by
from switchyard.domain.jobs.files import JobFile
from switchyard.domain.jobs.graph import TaskSpec
from switchyard.domain.jobs.job import Job
from switchyard.domain.prompts.artifacts import job_files_key, upload_key
from switchyard.ports import BlobStore, Clock, Links

USED_AGAIN_MS: Final = 24 * 60 * 60 * 1000
"""The age up to which an upload is not asked for again: the bucket removes old ones some day."""


@dataclass(frozen=True, kw_only=True)
class Uploads:
    blobs: BlobStore
    links: Links
    clock: Clock

    def request(self, tenant: str, content: FileContent) -> UploadLink:
        """Return a link that takes this content, unless the tenant has uploaded it just before."""
        key, now_ms = upload_key(tenant, content.sha256), self.clock.now_ms()
        found = self.blobs.find(key)
        if found and found.size == content.size and found.modified_at_ms > now_ms - USED_AGAIN_MS:
            return UploadLink(sha256=content.sha256, size=content.size, uploaded=True)
        asked = self.links.for_upload(key, size=content.size, sha256=content.sha256)
        return UploadLink(
            sha256=content.sha256,
            size=content.size,
            uploaded=False,
            url=asked.url,
            headers=dict(asked.headers),
            expires_at=instant(now_ms + asked.expires_in_seconds * 1000),
        )


def problems_with_files(
    tenant: str, files: Mapping[str, FileContent], specs: Sequence[TaskSpec], blobs: BlobStore
) -> list[Problem]:
    """Find files of a new job that were not uploaded, and references that mean no file."""
    missing = [_missing(tenant, name, file, blobs) for name, file in files.items()]
    return [*filter(None, missing), *file_problems(specs, list(files))]


def _missing(tenant: str, name: str, file: FileContent, blobs: BlobStore) -> Problem | None:
    found = blobs.find(upload_key(tenant, file.sha256))
    if found is None:
        return Problem(("files", name), "was not uploaded; ask for a link with POST /files first")
    if found.size != file.size:
        said = f"has {found.size:,} bytes as it was uploaded, not {file.size:,}"
        return Problem(("files", name, "size"), said)
    return None


def problems_with_added(specs: Sequence[TaskSpec], job: Job, blobs: BlobStore) -> list[Problem]:
    """Find references of added tasks that mean no file; read the job's files if they must be."""
    names: list[str] = []
    if job.file_count and any(reference.of_the_job for reference in files_named_by(specs)):
        with suppress(MissingBlob):
            names = [file.name for file in read_job_files(job.ref, blobs)]
    return file_problems(specs, names)


def store_job_files(ref: JobRef, files: Mapping[str, FileContent], blobs: BlobStore) -> None:
    """Store which files a job has, before anything of the job can run."""
    if files:
        content = JobFiles.of(dict(files)).model_dump_json(by_alias=True).encode()
        key = job_files_key(ref.tenant, ref.job_id)
        blobs.put(key, content, content_type="application/json")


def read_job_files(ref: JobRef, blobs: BlobStore) -> tuple[JobFile, ...]:
    """Raise `MissingBlob` once they have expired."""
    return JobFiles.read(blobs.get(job_files_key(ref.tenant, ref.job_id))).values()
