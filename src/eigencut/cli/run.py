"""Run a command; every error and warning becomes one sentence on standard error."""

from __future__ import annotations

import os
import signal
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO, TextIOWrapper
from threading import current_thread, main_thread
from types import FrameType
from typing import Any

import click

from eigencut.cli.app import app
from eigencut.exceptions import EmptyTableError, MemoryRefusal, printable


def run(arguments: list[str]) -> int:
    """Run the command with these arguments, and return the exit code."""
    is_debug = "--debug" in arguments  # accepted anywhere on the line
    arguments = [argument for argument in arguments if argument != "--debug"]
    _prepare_streams()
    try:
        with _termination_as_exit(), _plain_warnings():
            app.main(arguments, prog_name="eigencut", standalone_mode=False)
        return 0
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else 0
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except click.ClickException as error:
        shown = StringIO()
        error.show(shown)
        click.echo(printable(shown.getvalue(), also="\n"), nl=False, err=True)
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        _say("Interrupted; nothing was written.")
        return 128 + signal.SIGINT  # as in shells
    except BrokenPipeError:
        # The reader of a pipe has closed it. Without this, Python would report an error at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if is_debug:
            traceback.print_exc()
        else:
            _say(_sentence(error))
        # A table without rows has a code of its own, for scripts that run every night.
        return 2 if isinstance(error, EmptyTableError) else 1


def _say(text: str) -> None:
    if sys.stderr is not None:
        print(f"eigencut: {printable(text)}", file=sys.stderr)


def _prepare_streams() -> None:
    """Replace closed standard streams by devnull, and escape letters that the encoding lacks."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets this number, which the next file would get
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _sentence(error: Exception) -> str:
    """Return the text of an error for users, without class names or tracebacks."""
    if isinstance(error, OSError) and error.errno is not None:
        reason = (error.strerror or "it cannot be used").lower()
        return f"{error.filename}: {reason}." if error.filename else f"{reason.capitalize()}."
    if isinstance(error, MemoryRefusal):
        return f"{error} On the command line: fit --landmarks 1000 reads in blocks."
    if isinstance(error, MemoryError):
        return "There is not enough memory. Fit on fewer rows, or with --landmarks 1000."
    text = " ".join(str(error).split())
    if isinstance(error, (ArithmeticError, ImportError, ValueError)) and text:
        return text
    return (
        f"Something unexpected happened ({type(error).__name__}: {text}). "
        "Run again with --debug, and report what it prints."
    )


@contextmanager
def _termination_as_exit() -> Iterator[None]:
    """Let SIGTERM and SIGHUP raise SystemExit, so that unfinished files are deleted."""

    def leave(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    before = {}
    if current_thread() is main_thread():  # Python sets handlers only there
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:  # by nohup
                before[number] = signal.signal(number, leave)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Show each ``GraphWarning`` once, as a sentence; hide all other warnings."""

    def show(message: Warning | str, category: type[Warning], *place: Any) -> None:
        if category.__name__ == "GraphWarning":
            _say(f"Note: {' '.join(str(message).split())}")

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = show  # type: ignore[assignment]
        yield
