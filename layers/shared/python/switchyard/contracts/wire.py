"""What all models that cross a boundary share: frozen, closed, camelCase outside."""

import unicodedata
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Wire(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True
    )


def without_control_characters(text: str) -> str:
    """Newlines and tabs stay; everything else that could steer a terminal or a log goes."""
    return "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in {"Cc", "Cf"})


CleanText = Annotated[str, AfterValidator(without_control_characters)]
