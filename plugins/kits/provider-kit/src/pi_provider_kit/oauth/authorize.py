"""The authorization code flow: opens the page and takes the first code, from the callback or pasted."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pi_hookspecs.abort import AbortController
from pi_hookspecs.errors import UserError
from pi_provider_kit.oauth.pasted import pasted_code

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_provider_kit.oauth.callback import CallbackServer

__all__ = ["authorization_code", "authorize_url", "opens_pages", "show_page"]

_SECONDS = 300.0
"""Seconds to wait for the user."""

_TRIES = 3
"""Attempts to paste a valid code."""


def authorize_url(url: str, parameters: Mapping[str, str]) -> str:
    """Return a URL with its query."""
    from urllib.parse import urlencode

    return f"{url}?{urlencode(parameters)}"


def opens_pages(ui: Any) -> bool:
    """Return whether a front end opens pages on the computer that pi runs on."""
    return callable(getattr(ui, "open_url", None))


def show_page(ui: Any, text: str, url: str) -> bool:
    """Show the user a URL, and open it where the front end can; return whether a browser opened it."""
    ui.notify(f"{text}\n\n  {url}\n")
    return opens_pages(ui) and bool(ui.open_url(url))


async def authorization_code(
    ui: Any,
    url: str,
    *,
    provider: str,
    state: str,
    callback: CallbackServer | None = None,
    seconds: float = _SECONDS,
) -> str:
    """Send the user to a page and return the authorization code.

    Args:
        ui: The front end (``UserInterface``), which may have ``open_url``.
        url: The page, with its query.
        provider: Provider of the login, for messages.
        state: The ``state`` of the query.
        callback: Server for the redirect; None if only pasting is possible.
        seconds: How long to wait.

    Raises:
        UserError: Consent was denied, the login timed out, or no valid code was pasted.
    """
    if callback is not None and callback.problem is not None:
        ui.notify(callback.problem, "warning")
        callback = None
    opened = show_page(ui, f"Open this page to sign in to {provider}:", url)
    stop = AbortController()
    ways = [asyncio.create_task(_paste(ui, provider, state, stop, waits=opened and callback is not None))]
    if callback is not None:
        ways.append(asyncio.create_task(callback.code()))
    try:
        done, _ = await asyncio.wait(ways, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if not done:
            minutes = f"{seconds / 60:g} minutes"
            raise UserError(
                f"The sign-in to {provider} was not completed within {minutes}. Run pi auth login {provider} again."
            )
        return next(way for way in reversed(ways) if way in done).result()
    finally:
        stop.abort("the login is over")
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)


async def _paste(ui: Any, provider: str, state: str, stop: AbortController, *, waits: bool) -> str:
    """Return the code that the user pastes; if ``waits``, a dismissed dialog waits forever for the browser instead."""
    title = "Paste the code, or the address at which the browser ends up"
    for last in (*[False] * (_TRIES - 1), True):
        text = await ui.input(title, signal=stop.signal)
        if text is None:
            break
        try:
            return pasted_code(text, state, provider=provider)
        except UserError as error:
            if last:
                raise
            ui.notify(str(error), "error")
    if waits:
        await asyncio.get_running_loop().create_future()
    message = (
        f"The sign-in to {provider} was not completed: no code was pasted."
        f" Run pi auth login {provider} again in a terminal."
    )
    raise UserError(message)
