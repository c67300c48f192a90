"""Documents that Switchyard stores in the bucket, and reads back."""

from typing import Self

from pydantic import ValidationError

from switchyard.contracts.problems import validation_problems
from switchyard.contracts.wire import Written
from switchyard.domain.errors import UnreadableDocument


class StoredDocument(Written):
    @classmethod
    def read(cls, content: bytes) -> Self:
        """Raise `UnreadableDocument`."""
        try:
            return cls.model_validate_json(content)
        except ValidationError as error:
            found = error.errors(include_url=False, include_input=False)
            raise UnreadableDocument(validation_problems(found)) from error
