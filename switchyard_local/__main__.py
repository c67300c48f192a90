"""Starts `python -m switchyard_local`; Ctrl-C while it is still imported ends it in a sentence."""

import sys

INTERRUPTED = 130


def main() -> int:
    try:
        from switchyard_local import command_line  # noqa: PLC0415 - it takes a while

        return command_line.main()
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted before anything was started.\n")
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
