"""The command line: flags, one call, one report, an exit code. Nothing else exits or prints a failure."""

from __future__ import annotations

import codecs
import contextlib
import os
import sys

from ropewalk.cli.output import OutputError, write_out

TYPE_CHECKING = False  # importing `typing` for it would take longer than `ropewalk --version` otherwise does
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from types import FrameType

    from ropewalk.errors import RopewalkError

TOOL_FAILED = 3
OWN_FAULT = 70
INTERRUPTED = 130
READER_GONE = 128 + 13


class Terminated(BaseException):
    """The process was asked to end: files half written are removed on the way out."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal_number)
        self.exit_code = 128 + signal_number


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    _open_streams()
    try:
        code = _main(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read our output has had enough of it.
        code = READER_GONE
        _close_stdout()
    except OSError as error:
        sys.stderr.write(f"error: the output cannot be written: {error.strerror}\n")
        code = TOOL_FAILED
        _close_stdout()
    return code


def _main(arguments: Sequence[str]) -> int:
    if arguments == ["--version"]:  # asked for by scripts, often: it loads nothing
        from ropewalk._version import __version__  # noqa: PLC0415

        sys.stdout.write(f"ropewalk {__version__}\n")
        return 0
    from ropewalk.cli.parser import make_parser  # noqa: PLC0415

    options = make_parser().parse_args(arguments)
    _listen()
    return _run(options)


def _open_streams() -> None:
    """Make sure of streams that take any text: one may be closed, or of an encoding that has not every character."""
    codecs.register_error("ropewalk", _written_out)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123 - open to the end
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="ropewalk")


def _written_out(error: UnicodeError) -> tuple[bytes, int]:
    """Return what stands for characters that an encoding has not: bytes of a path as they were, else an escape."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    characters = error.object[error.start : error.end]
    escaped = (
        bytes([ord(one) - 0xDC00]) if "\udc80" <= one <= "\udcff" else one.encode("ascii", "backslashreplace")
        for one in characters
    )
    return b"".join(escaped), error.end


def _close_stdout() -> None:
    """Leave nothing to be flushed at exit, which would fail again and say so."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(options: argparse.Namespace) -> int:
    from ropewalk.errors import RopewalkError  # noqa: PLC0415

    try:
        code: int = options.run(options)
    except RopewalkError as error:
        _report(error, as_json=options.json)
        return error.exit_code
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return INTERRUPTED
    except Terminated as ending:
        return ending.exit_code
    except OutputError as error:
        raise error.reason from None
    except Exception as error:  # noqa: BLE001 - the outermost frame: the rest is our own fault
        return _own_fault(error)
    return code


def _report(error: RopewalkError, *, as_json: bool) -> None:
    from ropewalk.report.as_json import error_to_json  # noqa: PLC0415
    from ropewalk.report.terminal import render_error  # noqa: PLC0415

    if as_json:
        write_out(error_to_json(error))
    sys.stderr.write(render_error(error))


def _own_fault(error: Exception) -> int:
    import traceback  # noqa: PLC0415

    sys.stderr.write("".join(traceback.format_exception(error)))
    sys.stderr.write("error: this is a fault of ropewalk itself\nhint: please report it with the lines above\n")
    return OWN_FAULT


def _listen() -> None:
    """Let the signals that end a process unwind it, so that nothing half written stays behind."""
    import signal  # noqa: PLC0415

    def end(number: int, _frame: FrameType | None) -> None:
        raise Terminated(number)

    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), end)
