"""Lets producers read what is in the bucket, which they have no key to."""

from dataclasses import dataclass
from itertools import islice
from typing import Final

from switchyard.contracts.jobs import FileLink, JobFileLink
from switchyard.domain.errors import MissingBlob
from switchyard.domain.jobs.job import Job
from switchyard.domain.prompts.artifacts import content_type_of, upload_key
from switchyard.ports import BlobStore, Links
from switchyard.usecases.jobs.job_files import read_job_files

MOST_FILES: Final = 500  # a worker brings no more than 201


@dataclass(frozen=True, kw_only=True)
class TaskFiles:
    blobs: BlobStore
    links: Links
    bucket: str

    def below(self, prefix: str) -> tuple[FileLink, ...]:
        """Return links to the files, ordered by name; expired ones are not among them."""
        return tuple(
            FileLink(
                name=blob.key.removeprefix(prefix),
                size=blob.size,
                content_type=content_type_of(blob.key),
                url=self.link(blob.key),
            )
            for blob in islice(self.blobs.listed(prefix), MOST_FILES)
        )

    def of_job(self, job: Job) -> tuple[JobFileLink, ...]:
        """Return what a job was submitted with, if it has not expired."""
        if not job.file_count:
            return ()
        try:
            files = read_job_files(job.ref, self.blobs)
        except MissingBlob:
            return ()
        return tuple(
            JobFileLink(
                name=file.name,
                size=file.size,
                sha256=file.sha256,
                content_type=content_type_of(file.name),
                url=self.links.to(
                    upload_key(job.ref.tenant, file.sha256),
                    content_type=content_type_of(file.name),
                ),
            )
            for file in files
        )

    def link(self, key: str) -> str:
        return self.links.to(key, content_type=content_type_of(key))

    def place(self, key: str) -> str:
        return f"s3://{self.bucket}/{key}"
