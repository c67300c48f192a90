"""Blobs on S3."""

from typing import Any, cast

from switchyard.adapters.aws import call


class S3BlobStore:
    def __init__(self, client: Any, bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def put(self, key: str, body: bytes, *, content_type: str) -> None:
        call(
            self._client.put_object,
            Bucket=self._bucket,
            Key=key,
            Body=body,
            ContentType=content_type,
        )

    def get(self, key: str) -> bytes:
        answer = call(self._client.get_object, Bucket=self._bucket, Key=key)
        return cast("bytes", answer["Body"].read())
