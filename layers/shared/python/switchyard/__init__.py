"""What every part of Switchyard shares; the folder above is the Lambda layer."""

from typing import Final

VERSION: Final = "0.1.0"
