"""The user's browser, if there is a graphical one."""

from __future__ import annotations

import os
import sys
import threading

__all__ = ["has_browser", "open_page"]


def has_browser() -> bool:
    """Whether there is a graphical browser; a text browser would take over the terminal."""
    import webbrowser

    named = any(os.environ.get(name) for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"))
    near = sys.platform in ("darwin", "win32") and not os.environ.get("SSH_CONNECTION")
    if not (named or near):
        return False
    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return True


def open_page(url: str) -> bool:
    """Open a page in a thread: some browser commands block until the browser exits."""
    import webbrowser

    threading.Thread(target=webbrowser.open, args=[url], daemon=True).start()
    return True
