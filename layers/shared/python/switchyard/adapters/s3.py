"""Blobs on S3."""

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote

from botocore.exceptions import ClientError

from switchyard.adapters.aws import call, code_of
from switchyard.domain.errors import MissingBlob
from switchyard.ports import StoredBlob

LINK_SECONDS: Final = 15 * 60
"""How long a presigned link opens its blob."""

# Without the permission to list, S3 answers that a missing object is forbidden.
_MISSING: Final = frozenset({"NoSuchKey", "404", "AccessDenied"})


class S3BlobStore:
    def __init__(self, client: Any, bucket: str) -> None:
        self._client = client
        self.bucket = bucket

    def put(self, key: str, body: bytes, *, content_type: str) -> None:
        call(
            self._client.put_object,
            Bucket=self.bucket,
            Key=key,
            Body=body,
            ContentType=content_type,
        )

    def get(self, key: str) -> bytes:
        return call(self._read, key)

    def keys(self, prefix: str) -> Iterator[str]:
        return (blob.key for blob in self.listed(prefix))

    def listed(self, prefix: str) -> Iterator[StoredBlob]:
        request = {"Bucket": self.bucket, "Prefix": prefix}
        while True:
            page = call(self._client.list_objects_v2, **request)
            yield from map(_stored, page.get("Contents", []))
            if not page.get("IsTruncated"):
                return
            request["ContinuationToken"] = page["NextContinuationToken"]

    def delete(self, key: str) -> None:
        call(self._client.delete_object, Bucket=self.bucket, Key=key)

    def _read(self, key: str) -> bytes:
        try:
            answer = self._client.get_object(Bucket=self.bucket, Key=key)
        except ClientError as error:
            if code_of(error) in _MISSING:
                raise MissingBlob(key) from error
            raise
        content: bytes = answer["Body"].read()
        return content


class S3Links:
    """Signed with the credentials of this process: a link may read what they may, as long as they.

    So a function's may end sooner than it says.
    """

    def __init__(self, client: Any, bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def to(self, key: str, *, content_type: str) -> str:
        served = {
            "Bucket": self._bucket,
            "Key": key,
            "ResponseContentDisposition": _attachment(key),
            "ResponseContentType": content_type,
        }
        link: str = self._client.generate_presigned_url(
            "get_object", Params=served, ExpiresIn=LINK_SECONDS
        )
        return link


def _attachment(key: str) -> str:
    """Name the file as RFC 6266 does: percent-encoded, so that no name can add a header."""
    return f"attachment; filename*=UTF-8''{quote(key.rpartition('/')[2], safe='')}"


def _stored(found: Mapping[str, Any]) -> StoredBlob:
    modified_at_ms = round(found["LastModified"].timestamp() * 1000)
    return StoredBlob(found["Key"], modified_at_ms, found["Size"])
