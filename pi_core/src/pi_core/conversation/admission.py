"""Admits messages to the session: the one place where images of any source are made to fit before they are stored.

Prompts, queued messages, results of tools and messages of plugins all pass through ``Admission.admit``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

from pi_hookspecs.content import ImageContent

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_core.settings import Settings
    from pi_hookspecs import AgentMessage, Model

__all__ = ["Admission"]

M = TypeVar("M", bound="AgentMessage")


class Admission:
    """Fits the images of messages that enter a session.

    Args:
        settings: Read for ``images.autoResize``.
        model: Returns the current model, whose limits apply.
        notify: Displays to the user which images of the user's own message were left out.
    """

    def __init__(self, settings: Settings, model: Callable[[], Model | None], notify: Callable[[str], object]) -> None:
        self._settings = settings
        self._model = model
        self._notify = notify

    async def admit(self, message: M) -> M:
        """Return a message with images that fit; the message itself if it has no others."""
        content: Any = getattr(message, "content", None)
        if isinstance(content, str) or not any(isinstance(block, ImageContent) for block in content or ()):
            return message
        from attrs import evolve

        from pi_core.base.images.blocks import fit_blocks
        from pi_core.base.images.limits import limits_of

        resize = self._settings.get_bool("images.autoResize", default=True)
        is_users = message.role == "user"
        fitted, omitted = await fit_blocks(content, limits_of(self._model()), resize=resize, notes_in_text=is_users)
        if is_users:
            for each in omitted:
                self._notify(f"An image of the prompt was left out. {each}")
        changed: Any = message
        return message if fitted == tuple(content) else cast("M", evolve(changed, content=fitted))
