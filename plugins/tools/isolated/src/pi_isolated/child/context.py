"""``ctx`` in a process of its own: members of the contract, each use of which is a call over the pipe."""

from __future__ import annotations

import asyncio
import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

import pi_hookspecs
from pi_core import from_wire, to_wire, wire_name
from pi_hookspecs import PiError
from pi_isolated.calls import known_members

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pi_hookspecs import AbortSignal, ToolResult
    from pi_isolated.child.pipe import Pipe

__all__ = ["RemoteContext"]

_PARTS = ("models", "session", "settings", "ui")


class RemoteContext:
    """The ``ctx`` of a request.

    Args:
        pipe: Where calls go.
        name: The name that pi has given it.
        signal: Aborted when pi cancels the request.
        on_update: Reports a partial result of a tool.
        prefix: What precedes the names of members, for ``ctx.ui``.
    """

    def __init__(
        self,
        pipe: Pipe,
        name: str,
        signal: AbortSignal,
        on_update: Callable[[ToolResult], None] | None = None,
        prefix: str = "",
    ) -> None:
        self._pipe = pipe
        self._name = name
        self._prefix = prefix
        self._on_update = on_update
        self.signal = signal

    def update(self, partial: ToolResult | str) -> None:
        """Report a partial result of a tool."""
        result = pi_hookspecs.ToolResult.text(partial) if isinstance(partial, str) else partial
        if self._on_update is not None:
            self._on_update(result)

    def __getattr__(self, name: str) -> Any:
        method = f"{self._prefix}{name}"
        if method in _PARTS:
            return RemoteContext(self._pipe, self._name, self.signal, prefix=f"{name}.")
        member = known_members().get(method)
        if member is None:
            raise AttributeError(f"ctx.{method} cannot be used by a plugin in a separate process")
        if isinstance(member, property):
            return _value_of(member.fget, self._pipe.call(self._name, method, {}).result())

        async def later(*args: Any, **how: Any) -> Any:
            waiting = asyncio.wrap_future(self._pipe.call(self._name, method, _params(member, args, how)))
            return _value_of(member, await waiting)

        def now(*args: Any, **how: Any) -> Any:
            return _value_of(member, self._pipe.call(self._name, method, _params(member, args, how)).result())

        return later if inspect.iscoroutinefunction(member) else now


def _params(member: Any, args: tuple[Any, ...], how: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments as a call has them.

    Raises:
        TypeError: They do not fit the member.
        PiError: One cannot be sent.
    """
    given = inspect.signature(member).bind(None, *args, **how).arguments
    given.pop("self")
    functions = [name for name, value in given.items() if callable(value)]
    if functions:
        raise PiError(f"{', '.join(functions)} is a function, which cannot be sent to another process")
    return {wire_name(name): to_wire(value) for name, value in given.items() if name != "signal" and value is not None}


def _value_of(member: Any, value: Any) -> Any:
    """Return a result as an instance of the member's annotation, if that is a single class of the contract."""
    annotation = str(inspect.signature(member).return_annotation)
    if annotation.startswith("Path") and isinstance(value, str):
        return Path(value)
    if not isinstance(value, dict):
        return value
    for name in re.findall(r"\w+", annotation):
        cls = getattr(pi_hookspecs, name, None)
        if isinstance(cls, type) and attrs.has(cls):
            return from_wire(value, cls)
    return value
