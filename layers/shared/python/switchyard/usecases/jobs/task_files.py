"""Lets producers read what is in the bucket, which they have no key to."""

from dataclasses import dataclass
from itertools import islice
from typing import Final

from switchyard.contracts.jobs import FileLink
from switchyard.domain.prompts.artifacts import content_type_of
from switchyard.ports import BlobStore, Links

MOST_FILES: Final = 500  # a worker brings no more than 201


@dataclass(frozen=True, kw_only=True)
class TaskFiles:
    blobs: BlobStore
    links: Links
    bucket: str

    def below(self, prefix: str) -> tuple[FileLink, ...]:
        """By name. What has expired in the bucket is not among them."""
        return tuple(
            FileLink(
                name=blob.key.removeprefix(prefix),
                size=blob.size,
                content_type=content_type_of(blob.key),
                url=self.link(blob.key),
            )
            for blob in islice(self.blobs.listed(prefix), MOST_FILES)
        )

    def link(self, key: str) -> str:
        return self.links.to(key, content_type=content_type_of(key))

    def place(self, key: str) -> str:
        return f"s3://{self.bucket}/{key}"
