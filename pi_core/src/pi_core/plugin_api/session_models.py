"""``ctx.models``: the models, and requests to those that are not for conversations, which count for the session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from pi_core.models.other_requests import OtherRequests
    from pi_core.models.registry import ModelRegistry as _Registry
    from pi_hookspecs import (
        AbortSignal,
        AssistantMessage,
        Classification,
        Context,
        GeneratedImages,
        ImageContent,
        Model,
        SideRequest,
    )
else:
    _Registry = object

__all__ = ["SessionModels"]


class SessionModels(_Registry):
    """A ``ModelRegistry`` with the requests of ``ModelCatalog`` that a session makes.

    Args:
        registry: The registry, which all sessions of a process can share.
        complete: Makes a side request of the session.
    """

    def __init__(
        self, registry: _Registry, complete: Callable[[Context, SideRequest], Awaitable[AssistantMessage]]
    ) -> None:
        self._registry = registry
        self._complete = complete

    if not TYPE_CHECKING:  # type checkers see the methods of the registry

        def __getattr__(self, name: str) -> Any:
            """Return an attribute of the registry."""
            if name in ("_registry", "_complete"):
                raise AttributeError(name)  # while it is being copied
            return getattr(self._registry, name)

    def __eq__(self, other: object) -> bool:
        """Whether both are, or delegate to, the same registry."""
        return self._registry is getattr(other, "_registry", other)

    def __hash__(self) -> int:
        return hash(self._registry)

    async def generate_image(
        self,
        model: Model | str,
        prompt: str,
        *,
        images: Sequence[ImageContent] = (),
        options: Mapping[str, Any] | None = None,
        signal: AbortSignal | None = None,
    ) -> GeneratedImages:
        """Return what an image model draws; see ``ModelCatalog.generate_image``."""
        return await self._requests().generate_image(model, prompt, images=images, options=options, signal=signal)

    async def classify(
        self, model: Model | str, text: str, labels: Sequence[str], *, signal: AbortSignal | None = None
    ) -> Classification:
        """Return how well labels fit a text; see ``ModelCatalog.classify``."""
        return await self._requests().classify(model, text, labels, signal=signal)

    def _requests(self) -> OtherRequests:
        from pi_core.models.other_requests import OtherRequests  # most sessions make none

        return OtherRequests(self._registry, self._complete)
