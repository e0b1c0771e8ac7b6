"""Faulty plugins, for tests of how the other plugins and the run are affected."""

from __future__ import annotations

import asyncio
from typing import Any

from pi_hookspecs import hookimpl

__all__ = ["failing_hook", "slow_hook"]


def slow_hook(hook: str, seconds: float = float("inf")) -> object:
    """Return a plugin whose implementation of an event hook takes a number of seconds; by default it never returns.

    The setting ``hooks.timeout`` (seconds) limits how long pi waits: ``@pytest.mark.pi(settings={"hooks": {"timeout":
    0.05}}, plugins=[slow_hook("context")])``.
    """

    async def slow(_self: object) -> None:
        await (asyncio.sleep(seconds) if seconds < float("inf") else asyncio.Event().wait())

    return _plugin("SlowHook", hook, slow)


def failing_hook(hook: str, problem: BaseException | None = None) -> object:
    """Return a plugin whose implementation of a hook raises the given exception, by default a ``ValueError``."""

    def fail(_self: object) -> None:
        raise problem or ValueError("failing_hook has failed, as the test wants it")

    return _plugin("FailingHook", hook, fail)


def _plugin(name: str, hook: str, function: Any) -> object:
    function.__name__ = hook
    return type(name, (), {hook: hookimpl(function)})()
