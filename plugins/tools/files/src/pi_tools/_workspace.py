"""Where a tool works: what its options say, else where a plugin redirects it to, else this machine."""

from __future__ import annotations

from typing import Any

__all__ = ["command_operations", "file_operations"]


def file_operations(ctx: Any, options: Any) -> Any:
    """Return the operations of the options, else those of a plugin, for the tool of this call; None for this machine.

    Raises:
        PiError: A plugin that redirects tools failed to provide them.
    """
    return _operations(ctx, options, "file_operations")


def command_operations(ctx: Any, options: Any) -> Any:
    """Return the operations of the options, else those of a plugin; None for this machine. Raises as above."""
    return _operations(ctx, options, "command_operations")


def _operations(ctx: Any, options: Any, method: str) -> Any:
    if options is not None and options.operations is not None:
        return options.operations
    ask = getattr(ctx, method, None)  # a program may call a tool with a context of its own
    return None if ask is None else ask()
