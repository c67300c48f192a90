"""Commitments: what has to hold before a task counts as completed, as producers describe it."""

from itertools import chain, count
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from switchyard.contracts.commitments.code_fields import Command
from switchyard.contracts.files import Checksum
from switchyard.contracts.json_schema import JsonSchema
from switchyard.contracts.wire import (
    CLEANED,
    CleanLine,
    Closed,
    at_most,
    timeout_up_to,
    unless_absent,
)
from switchyard.domain.access.limits import Asked, Ceilings
from switchyard.domain.commitments.results import MAX_COMMITMENTS
from switchyard.domain.errors import InvalidCondition, Problem
from switchyard.domain.ids import STEP_NAME, STEP_NAME_RULE
from switchyard.domain.jobs.condition_parser import MAX_CHARACTERS, parse_condition
from switchyard.domain.jobs.files import MAX_PATTERN_CHARACTERS, MEGABYTE, pattern_problem
from switchyard.domain.jobs.notify import MAX_URL, hook_at, problem_with_hook, problem_with_url
from switchyard.domain.prompts.artifacts import ARTIFACTS
from switchyard.domain.tasks.task import Json
from switchyard.domain.text import did_you_mean

KINDS: Final = ("file", "output", "command", "http", "rubric")
MAX_RUBRIC: Final = 8_000
MAX_FILES: Final = 200
"""A worker stores no more files of an attempt."""
MAX_STORED_FILE: Final = 20 * MEGABYTE
"""The size of the largest file that a worker stores, and so of one that can be committed to."""
MAX_CHECK_MS: Final = 15 * 60 * 1000
DEFAULT_TIMEOUTS_MS: Final = {"command": 60_000, "http": 10_000, "rubric": 120_000}
MAX_HTTP_MS: Final = 60_000

_FIELDS: Final[dict[str, tuple[str, ...]]] = {
    "file": ("path", "min_count", "max_count", "min_bytes", "max_bytes", "json_schema", "sha256"),
    "output": ("condition",),
    "command": ("command", "timeout"),
    "http": ("url", "method", "status", "timeout"),
    "rubric": ("rubric", "model", "max_cost_usd", "timeout"),
}
_NEEDED: Final = {
    "file": ("path", "a pattern for files in the folder artifacts, like report.md or *.csv"),
    "output": ("condition", "like ${output.count} > 0"),
    "command": ("command", "a list with a program and its arguments, like [pytest, -q]"),
    "http": ("url", "like https://example.com/health"),
    "rubric": ("rubric", "what a grader has to find true of the result"),
}


def _kind(given: Any) -> Any:
    if isinstance(given, str) and given not in KINDS:
        hint = did_you_mean(given, KINDS)
        raise ValueError(f"{given!r:.60} is not known; use one of {', '.join(KINDS)}{hint}")
    return given


def _name(name: str) -> str:
    if not STEP_NAME.fullmatch(name):
        raise ValueError(f"must be {STEP_NAME_RULE}")
    return name


def _path(pattern: str) -> str:
    problem = pattern_problem(pattern)
    if problem is None and pattern.startswith(f"{ARTIFACTS}/"):
        rest = pattern.removeprefix(f"{ARTIFACTS}/")
        problem = f"is relative to the folder {ARTIFACTS}: write {rest}"
    if problem:
        raise ValueError(problem)
    return pattern


def _condition(text: str) -> str:
    try:
        parse_condition(text, own=True)
    except InvalidCondition as error:
        raise ValueError(str(error)) from error
    return text


def _url(url: str) -> str:
    problem = problem_with_url(url)
    if problem:
        raise ValueError(problem)
    return url


Kind = Annotated[Literal["file", "output", "command", "http", "rubric"], BeforeValidator(_kind)]


class Commitment(Closed):
    """One thing that has to hold; which fields it has depends on its kind."""

    kind: Kind
    name: Annotated[str, AfterValidator(_name)] | None = unless_absent()
    """What results call it; else its kind and its number."""
    path: Annotated[str, AfterValidator(_path)] | None = unless_absent(
        json_schema_extra={"maxLength": MAX_PATTERN_CHARACTERS}
    )
    """A pattern for files in the folder `artifacts`, for kind `file`."""
    min_count: int | None = unless_absent(ge=1, le=MAX_FILES)
    """The fewest files that match `path`; 1 when absent."""
    max_count: int | None = unless_absent(ge=1, le=MAX_FILES)
    min_bytes: int | None = unless_absent(ge=0, le=MAX_STORED_FILE)
    """The smallest size of each such file; 1 when absent, so that an empty one does not count."""
    max_bytes: int | None = unless_absent(ge=0, le=MAX_STORED_FILE)
    json_schema: JsonSchema | None = unless_absent(alias="schema")
    """The schema that each such file has to match, as JSON."""
    sha256: Checksum | None = unless_absent()
    """The checksum that each such file has to have."""
    condition: Annotated[str, AfterValidator(_condition)] | None = unless_absent(
        json_schema_extra={"maxLength": MAX_CHARACTERS}
    )
    """A condition as in `when`, on the task's own output and input; for kind `output`."""
    command: Command | None = unless_absent()
    """A program and its arguments, run in the task's folder; it has to end with exit code 0."""
    timeout: (
        Annotated[int, Field(ge=1_000, le=MAX_CHECK_MS), timeout_up_to(MAX_CHECK_MS)] | None
    ) = unless_absent()
    """Milliseconds that a command, a request or a grader may take."""
    url: Annotated[str, AfterValidator(_url)] | None = unless_absent(
        json_schema_extra={"maxLength": MAX_URL}
    )
    method: Literal["GET", "HEAD"] | None = unless_absent()
    """`GET` when absent."""
    status: int | None = unless_absent(ge=100, le=599)
    """The status that the URL has to answer with; 200 when absent."""
    rubric: Annotated[str, Field(min_length=1, max_length=MAX_RUBRIC), CLEANED] | None = (
        unless_absent()
    )
    """What a grader, an agent that sees output and files alone, has to find true of the result."""
    model: Annotated[CleanLine, Field(min_length=1, max_length=100)] | None = unless_absent()
    """The model of the grader; when absent, that of the task, or of the stage."""
    max_cost_usd: Annotated[float, Field(ge=0.000_001, le=10_000, allow_inf_nan=False)] | None = (
        unless_absent()
    )
    """What the grader may spend."""

    @model_validator(mode="after")
    def _fields_of_its_kind(self) -> "Commitment":
        needed, like = _NEEDED[self.kind]
        if getattr(self, needed) is None:
            raise ValueError(f"a commitment of kind {self.kind} needs {needed}: {like}")
        mine = _FIELDS[self.kind]
        for field, given in self:
            if given is not None and field not in {"kind", "name", *mine}:
                alias = type(self).model_fields[field].alias or field
                known = ", ".join(_alias(one) for one in mine)
                raise ValueError(f"{alias} does not belong to kind {self.kind}, which has {known}")
        return self

    @model_validator(mode="after")
    def _bounds_fit(self) -> "Commitment":
        for least, most, what in (
            (self.min_count, self.max_count, "Count"),
            (self.min_bytes, self.max_bytes, "Bytes"),
        ):
            if least is not None and most is not None and least > most:
                raise ValueError(f"min{what} is above max{what}: swap them, or leave one out")
        if self.kind == "http" and (self.timeout or 0) > MAX_HTTP_MS:
            raise ValueError(f"timeout: a request may take at most {MAX_HTTP_MS:,} ms")
        if self.command and not self.command[0].strip():
            raise ValueError("command begins with the name of a program")
        return self

    @property
    def timeout_ms(self) -> int:
        return self.timeout or DEFAULT_TIMEOUTS_MS.get(self.kind, 0)

    def described(self) -> str:
        """Say what has to hold, for an agent that has to see to it."""
        match self.kind:
            case "file":
                return f"files `{self.path}` in the folder `{ARTIFACTS}`{self._file_limits()}"
            case "output":
                return f"of the output: {self.condition}"
            case "command":
                return f"`{' '.join(self.command or ())[:500]}` ends with exit code 0"
            case "http":
                return f"{self.method or 'GET'} {self.url} answers {self.status or 200}"
        return f"a grader agrees: {self.rubric}"

    def _file_limits(self) -> str:
        limits = {
            "at least {} of them": self.min_count,
            "at most {} of them": self.max_count,
            "each of at least {} bytes": self.min_bytes,
            "each of at most {} bytes": self.max_bytes,
            "each with the SHA-256 {}": self.sha256,
        }
        said = [text.format(limit) for text, limit in limits.items() if limit is not None]
        said += ["each JSON that matches its schema"] if self.json_schema is not None else []
        return f": {', '.join(said)}" if said else ""

    def stored(self) -> dict[str, Json]:
        """Return it as it is stored beside a task."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)

    def problems_with(
        self, ceilings: Ceilings, *, at: tuple[str | int, ...], nearby_allowed: bool = True
    ) -> list[Problem]:
        """Find what this stage does not allow; a worker refuses addresses once more."""
        asked = Asked(model=self.model, max_cost_usd=self.max_cost_usd)
        problems = ceilings.problems_with(asked, at=at)
        problem = self.url and problem_with_hook(hook_at(self.url), nearby_allowed=nearby_allowed)
        return [*problems, *([Problem((*at, "url"), problem)] if problem else [])]


def _alias(field: str) -> str:
    return Commitment.model_fields[field].alias or field


def _distinct(commitments: tuple[Commitment, ...]) -> tuple[Commitment, ...]:
    problem = same_names(commitments)
    if problem:
        raise ValueError(problem)
    return commitments


def same_names(commitments: tuple[Commitment, ...]) -> str | None:
    """Say which name two of them have; `None` if none do."""
    names = [one.name for one in commitments if one.name is not None]
    twice = next((name for name in names if names.count(name) > 1), None)
    return f"two commitments are called {twice!r}: give each a name of its own" if twice else None


Commitments = Annotated[tuple[Commitment, ...], at_most(MAX_COMMITMENTS), AfterValidator(_distinct)]


def named(commitments: tuple[Commitment, ...]) -> dict[str, Commitment]:
    """Give each a name of its own: that of its author, or its kind and its number."""
    found: dict[str, Commitment] = {}
    for number, one in enumerate(commitments, start=1):
        wanted = one.name or f"{one.kind}-{number}"
        others = (f"{wanted[:50]}-{again}" for again in count(2))
        found[next(name for name in chain([wanted], others) if name not in found)] = one
    return found


def too_many(of_definition: int, of_task: int) -> str | None:
    """Say that a task has too many, with those of its definition; `None` if it has not."""
    count = of_definition + of_task
    if count <= MAX_COMMITMENTS:
        return None
    return (
        f"has {of_task} commitments and its definition {of_definition}; "
        f"at most {MAX_COMMITMENTS} are checked: leave some out"
    )
