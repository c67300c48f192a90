"""What all models that cross a boundary share: frozen, closed, camelCase outside."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from switchyard.domain.text import without_control_characters


class Wire(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True
    )


CleanText = Annotated[str, AfterValidator(without_control_characters)]
