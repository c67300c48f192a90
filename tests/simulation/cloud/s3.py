"""S3: what was put is there at once."""

import io
from typing import Any

from botocore.exceptions import ClientError


class S3:
    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}

    def create_bucket(self, **request: Any) -> dict[str, Any]:
        """There is one, for everybody."""
        return {"Location": request["Bucket"]}

    def put_object(self, **request: Any) -> dict[str, Any]:
        self.objects[request["Key"]] = request["Body"]
        return {}

    def get_object(self, **request: Any) -> dict[str, Any]:
        try:
            return {"Body": io.BytesIO(self.objects[request["Key"]])}
        except KeyError:
            response: Any = {"Error": {"Code": "NoSuchKey", "Message": "simulated"}}
            raise ClientError(response, "GetObject") from None
