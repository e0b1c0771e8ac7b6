"""A launcher that records its requests: which programs would be started, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_hookspecs import PiContext, SpawnRequest

__all__ = ["FakeLauncher"]


class FakeLauncher:
    """Implements ``Launcher``.

    Attributes:
        requests: The requests, in order.
        answer: Returns the answer to a request, or raises. By default, it returns the request unchanged.
    """

    def __init__(self, answer: Callable[[SpawnRequest], SpawnRequest] | None = None) -> None:
        self.requests: list[SpawnRequest] = []
        self.answer = answer

    async def prepare(self, request: SpawnRequest, ctx: PiContext) -> SpawnRequest:
        """Record the request and answer it."""
        self.requests.append(request)
        return request if self.answer is None else self.answer(request)
