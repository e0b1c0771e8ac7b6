"""Adds the front end ``rpc``: other programs control pi with JSON lines on stdin and stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import Mode, hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["register_modes"]


@hookimpl
def register_modes() -> Sequence[Mode]:
    """Add ``--mode rpc``."""
    return [Mode("rpc", run=_run, description="Take commands as lines of JSON on stdin until it ends")]


async def _run(session: Any, options: Any) -> int:
    from pi_rpc.mode import run_rpc

    return await run_rpc(session, options)
