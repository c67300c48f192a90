"""S3: what was put is there at once."""

import io
from datetime import UTC, datetime
from typing import Any, Final

from botocore.exceptions import ClientError

from switchyard.ports import Clock
from switchyard.testing import ManualClock

KEYS_PER_PAGE: Final = 3


class S3:
    def __init__(self, clock: Clock | None = None) -> None:
        self.objects: dict[str, bytes] = {}
        self._clock = clock or ManualClock()
        self._modified: dict[str, datetime] = {}
        self._checksums: dict[str, str | None] = {}

    def create_bucket(self, **request: Any) -> dict[str, Any]:
        """There is one, for everybody."""
        return {"Location": request["Bucket"]}

    def put_object(self, **request: Any) -> dict[str, Any]:
        self.objects[request["Key"]] = request["Body"]
        whole_seconds = self._clock.now_ms() // 1000
        self._modified[request["Key"]] = datetime.fromtimestamp(whole_seconds, tz=UTC)
        self._checksums[request["Key"]] = request.get("ChecksumSHA256")
        return {}

    def list_objects_v2(self, **request: Any) -> dict[str, Any]:
        """A page has a few keys, so that nobody gets by with the first."""
        after = request.get("ContinuationToken", "")
        prefix = request["Prefix"]
        matching = sorted(key for key in self.objects if key.startswith(prefix) and key > after)
        page = matching[:KEYS_PER_PAGE]
        more = {"NextContinuationToken": page[-1]} if len(matching) > len(page) else {}
        found = [
            {"Key": key, "LastModified": self._modified[key], "Size": len(self.objects[key])}
            for key in page
        ]
        return {"Contents": found, "IsTruncated": bool(more), **more}

    def delete_object(self, **request: Any) -> dict[str, Any]:
        self.objects.pop(request["Key"], None)
        return {}

    def get_object(self, **request: Any) -> dict[str, Any]:
        content = self._stored(request["Key"], "GetObject")
        checksum = self._checksums.get(request["Key"])
        known = {"ChecksumSHA256": checksum} if checksum else {}
        return {"Body": io.BytesIO(content), **known}

    def head_object(self, **request: Any) -> dict[str, Any]:
        size = len(self._stored(request["Key"], "HeadObject"))
        return {"ContentLength": size, "LastModified": self._modified[request["Key"]]}

    def _stored(self, key: str, operation: str) -> bytes:
        try:
            return self.objects[key]
        except KeyError:
            code = "NoSuchKey" if operation == "GetObject" else "404"
            response: Any = {"Error": {"Code": code, "Message": "simulated"}}
            raise ClientError(response, operation) from None
