"""S3: what was put is there at once."""

import io
from typing import Any, Final

from botocore.exceptions import ClientError

KEYS_PER_PAGE: Final = 3


class S3:
    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}

    def create_bucket(self, **request: Any) -> dict[str, Any]:
        """There is one, for everybody."""
        return {"Location": request["Bucket"]}

    def put_object(self, **request: Any) -> dict[str, Any]:
        self.objects[request["Key"]] = request["Body"]
        return {}

    def list_objects_v2(self, **request: Any) -> dict[str, Any]:
        """A page has a few keys, so that nobody gets by with the first."""
        after = request.get("ContinuationToken", "")
        prefix = request["Prefix"]
        matching = sorted(key for key in self.objects if key.startswith(prefix) and key > after)
        page = matching[:KEYS_PER_PAGE]
        more = {"NextContinuationToken": page[-1]} if len(matching) > len(page) else {}
        return {"Contents": [{"Key": key} for key in page], "IsTruncated": bool(more), **more}

    def delete_object(self, **request: Any) -> dict[str, Any]:
        self.objects.pop(request["Key"], None)
        return {}

    def get_object(self, **request: Any) -> dict[str, Any]:
        try:
            return {"Body": io.BytesIO(self.objects[request["Key"]])}
        except KeyError:
            response: Any = {"Error": {"Code": "NoSuchKey", "Message": "simulated"}}
            raise ClientError(response, "GetObject") from None
