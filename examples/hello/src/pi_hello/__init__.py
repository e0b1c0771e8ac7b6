"""Adds `hello`, a minimal tool."""

from collections.abc import Sequence

from pi_hookspecs import Tool, hookimpl, tool


@tool
def hello(name: str) -> str:
    """Greet a person.

    Args:
        name: Who is greeted.
    """
    return f"Hello, {name}!"


@hookimpl
def register_tools() -> Sequence[Tool]:
    return [hello]
