"""What a definition says of how its tasks are when they are well."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from switchyard.contracts.wire import Closed
from switchyard.domain.health.health import OwnLimits

ONE_DAY_MS = 24 * 60 * 60 * 1000
Span = Annotated[int, Field(ge=1_000, le=ONE_DAY_MS)]


class HealthSection(Closed):
    """Milliseconds; what is left out is as the stage has it."""

    silent_warning: Span | None = None
    """From when on a task without a sign of life is worth a warning."""
    silent_critical: Span | None = None
    overtime: Span | None = None
    """How long it may run; else a minute more than its timeout."""
    progress: Span | None = None
    """How long it may do one and the same thing."""
    repeats: int | None = Field(default=None, ge=2, le=1_000)
    """How often in a row the same call of a tool is too often."""

    @model_validator(mode="after")
    def _warns_before_it_is_critical(self) -> Self:
        warning, critical = self.silent_warning, self.silent_critical
        if warning is not None and critical is not None and warning >= critical:
            raise ValueError("silentWarning must be less than silentCritical")
        return self

    @property
    def limits(self) -> OwnLimits:
        return OwnLimits(
            silent_warning_ms=self.silent_warning,
            silent_critical_ms=self.silent_critical,
            overtime_ms=self.overtime,
            progress_ms=self.progress,
            repeats=self.repeats,
        )
