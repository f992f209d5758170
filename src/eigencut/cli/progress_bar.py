"""How far a long command is: a bar on a terminal, silence in a pipe."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from eigencut._utils.progress import terminal_display


def progress_bar(stage: str, quiet: bool) -> AbstractContextManager[object]:
    """Shows what goes on inside, this stage to begin with; nothing is left when it is closed."""
    return (None if quiet else terminal_display(stage)) or nullcontext()
