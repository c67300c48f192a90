"""Blobs on S3."""

import base64
import hashlib
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any, Final
from urllib.parse import quote

from botocore.exceptions import ClientError, FlexibleChecksumError

from switchyard.adapters.aws import call, code_of
from switchyard.domain.errors import DamagedBlob, MissingBlob
from switchyard.domain.prompts.artifacts import UNKNOWN_TYPE
from switchyard.ports import PIECE_BYTES, StoredBlob, UploadRequest

LINK_SECONDS: Final = 15 * 60
"""The time for which a presigned link opens its blob."""

# Without the permission to list, S3 answers that a missing object is forbidden.
_MISSING: Final = frozenset({"NoSuchKey", "404", "AccessDenied", "403"})


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
            ChecksumSHA256=_in_base64(hashlib.sha256(body)),
        )

    def get(self, key: str) -> bytes:
        return call(self._read, key)

    def find(self, key: str) -> StoredBlob | None:
        try:
            found = call(self._answer, self._client.head_object, key)
        except MissingBlob:
            return None
        return _stored({**found, "Key": key, "Size": found["ContentLength"]})

    def pieces(self, key: str) -> Iterator[bytes]:
        answer = call(self._answer, self._client.get_object, key, ChecksumMode="ENABLED")
        digest = hashlib.sha256()
        with closing(answer["Body"]) as body:  # a reader may stop early
            while piece := call(_piece_of, body, key):
                digest.update(piece)
                yield piece
        if answer.get("ChecksumSHA256", _in_base64(digest)) != _in_base64(digest):
            raise DamagedBlob(key)

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
        content: bytes = self._answer(self._client.get_object, key)["Body"].read()
        return content

    def _answer(self, ask: Any, key: str, **more: str) -> Any:
        try:
            return ask(Bucket=self.bucket, Key=key, **more)
        except ClientError as error:
            if code_of(error) in _MISSING:
                raise MissingBlob(key) from error
            raise


def _piece_of(body: Any, key: str) -> bytes:
    """Read the next piece; the library compares some checksums by itself at the end."""
    try:
        piece: bytes = body.read(PIECE_BYTES)
    except FlexibleChecksumError as error:
        raise DamagedBlob(key) from error
    return piece


def _in_base64(digest: Any) -> str:
    return base64.b64encode(digest.digest()).decode()


class S3Links:
    """Signs links with the credentials of this process, which limit what a link may do.

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

    def for_upload(self, key: str, *, size: int, sha256: str) -> UploadRequest:
        """Sign the length and the checksum as headers of a PUT: S3 refuses any other content.

        https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity.html
        """
        checksum = base64.b64encode(bytes.fromhex(sha256)).decode()
        put = {
            "Bucket": self._bucket,
            "Key": key,
            "ContentLength": size,
            "ContentType": UNKNOWN_TYPE,
            "ChecksumSHA256": checksum,
        }
        url: str = self._client.generate_presigned_url(
            "put_object", Params=put, ExpiresIn=LINK_SECONDS
        )
        headers = {
            "Content-Length": str(size),
            "Content-Type": UNKNOWN_TYPE,
            "x-amz-checksum-sha256": checksum,
        }
        return UploadRequest(url, headers, LINK_SECONDS)


def _attachment(key: str) -> str:
    """Name the file as RFC 6266 does: percent-encoded, so that no name can add a header."""
    return f"attachment; filename*=UTF-8''{quote(key.rpartition('/')[2], safe='')}"


def _stored(found: Mapping[str, Any]) -> StoredBlob:
    modified_at_ms = round(found["LastModified"].timestamp() * 1000)
    return StoredBlob(found["Key"], modified_at_ms, found["Size"])
