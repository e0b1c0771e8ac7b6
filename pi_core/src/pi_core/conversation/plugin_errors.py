"""Runs the code of plugins' services: reports its exceptions, and converts them to errors that front ends know."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from pi_core.agent.safe_text import summary_and_traceback
from pi_core.hooks.acting import acting
from pi_core.hooks.containment import Contained
from pi_hookspecs import PiError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_core.conversation.runtime import Runtime

__all__ = ["plugin_errors"]


@contextmanager
def plugin_errors(runtime: Runtime, plugin: str, step: str, task: str) -> Iterator[None]:
    """Run a plugin's code.

    Args:
        runtime: Reports the error to the subscribers.
        plugin: The plugin's name.
        step: The service and its method, such as ``Compactor.compact``.
        task: The task of the code, as in "failed to compact".

    Raises:
        PiError: The error that the code raised, unchanged or with the plugin's name.
    """

    def report(error: BaseException) -> None:
        line, stack = summary_and_traceback(error)
        message = f"Plugin {plugin!r} failed to {task}: {line}"
        runtime.report_plugin_error(plugin, step, message, stack)
        raise PiError(message) from error

    with acting(plugin), Contained(report, passing=PiError):
        yield
