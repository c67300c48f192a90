"""Turn every failure that a user can cause into a sentence and an exit code."""

import typer

from switchyard.client.errors import ClientError
from switchyard.domain.text import without_control_characters
from switchyard_cli.errors import CliError, Interrupted, Unreachable, exit_code_of
from switchyard_cli.interrupts import was_pressed
from switchyard_cli.terminal import notices
from switchyard_local.errors import CloudError, refused_by_system
from switchyard_local.say import heard_or_not


def exit_for(error: BaseException) -> BaseException:
    """Print the sentence of a failure and return its exit; return any other exception as it is."""
    if was_pressed() or isinstance(error, KeyboardInterrupt):
        return _ended_by(_interruption(error))
    match error:
        case CliError() | ClientError():
            return _ended_by(error)
        case CloudError():
            return _ended_by(Unreachable(str(error)))
        case BrokenPipeError():
            return error  # the reader has gone, as with `| head`: Typer ends quietly
        case OSError():
            return _ended_by(Unreachable(refused_by_system(error)))
    return error


def _interruption(error: BaseException) -> Interrupted:
    """Return what a command said about Ctrl-C, even if something else failed after it."""
    found: BaseException | None = error
    while found is not None and not isinstance(found, Interrupted):
        found = found.__context__
    return found or Interrupted("Interrupted.")


def _ended_by(error: CliError | ClientError) -> typer.Exit:
    _print_sentence(without_control_characters(str(error)))
    return typer.Exit(exit_code_of(error))


@heard_or_not
def _print_sentence(sentence: str) -> None:
    notices().print(sentence, style="red", soft_wrap=True)
