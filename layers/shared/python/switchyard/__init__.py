"""The code that all parts of Switchyard share; the folder above is the Lambda layer."""

from typing import Final

VERSION: Final = "0.2.0.dev0"
