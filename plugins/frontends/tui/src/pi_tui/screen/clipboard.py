"""Copies to two clipboards: the terminal's, which may be on another computer, and that of the local desktop."""

from __future__ import annotations

import sys
from base64 import b64encode
from typing import TYPE_CHECKING

from pi_hookspecs import ImageContent
from pi_terminal_kit.clipboard import clipboard_sequence
from pi_terminal_kit.desktop_clipboard import DesktopClipboard
from pi_terminal_kit.words import count
from pi_tui.declared_settings import COPY_ON_SELECT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_tui.screen.controls import Controls

__all__ = ["Clipboard", "Images"]


class Images:
    """Pasted images, each represented by a text in the editor; an image is sent only with its text."""

    def __init__(self) -> None:
        self._known: dict[str, ImageContent] = {}

    def add(self, image: ImageContent) -> str:
        """Keep an image and return the text that represents it."""
        name = f"[image #{len(self._known) + 1}]"
        self._known[name] = image
        return name

    def of(self, text: str) -> tuple[ImageContent, ...]:
        """Return the images that a text represents, in the order in which they were pasted."""
        return tuple(image for name, image in self._known.items() if name in text)


class Clipboard:
    """Copies and pastes.

    Args:
        app: The application.
        environ: The environment, which identifies the desktop.
    """

    def __init__(self, app: Controls, environ: Mapping[str, str]) -> None:
        self._app = app
        self._desktop = DesktopClipboard(sys.platform, environ)

    def copy(self, text: str) -> None:
        """Copy a text to the clipboards."""
        self._app.start(self._copy(text))

    async def _copy(self, text: str) -> None:
        sequence = clipboard_sequence(text)
        if sequence is not None:
            self._app.write_terminal(sequence)
        many = count(len(text), "character")
        if await self._desktop.write_text(text):
            self._app.report(f"Copied {many}.")
        elif sequence is not None:
            self._app.report(f"Sent {many} to the terminal's clipboard.")
        else:
            self._app.notice(f"{many} are too many for the terminal's clipboard.", "warning")

    def copy_on_select(self) -> None:
        """Copy a new selection of the mouse, unless the setting ``fullscreenCopyOnSelect`` is off."""
        pane = self._app.transcript
        text = pane.selection.text(pane.room[1])
        wanted = COPY_ON_SELECT.read(self._app.session.settings)
        if wanted and text:
            self.copy(text)

    def copy_selection(self) -> bool:
        """Copy and clear the selection; return whether anything was selected."""
        pane = self._app.transcript
        text = pane.selection.text(pane.room[1])
        pane.selection.clear()
        pane.update_rows()
        if text:
            self.copy(text)
        return bool(text)

    def paste(self) -> None:
        """Insert the image in the desktop's clipboard, or the text if there is no image."""
        self._app.start(self._paste())

    async def _paste(self) -> None:
        app = self._app
        image = await self._desktop.read_image()
        if image is not None:
            data = b64encode(image.data).decode("ascii")
            app.take_paste(f"{app.images.add(ImageContent(data, image.mime_type))} ")
            return
        text = await self._desktop.read_text()
        if text:
            app.take_paste(text)
        else:
            app.report("There is no image and no text in this computer's clipboard, or no program that reads it.")
