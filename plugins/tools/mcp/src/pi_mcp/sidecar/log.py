"""``mcp.log`` in the agent directory: what servers print and report, 5 MB and one older file of that size."""

from __future__ import annotations

import logging
import os
from functools import partial
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler

from pi_core import without_secrets

__all__ = ["Redacted", "start_log"]

_SIZE = 5 << 20


class _PrivateFile(RotatingFileHandler):
    """A log file that only its user can read."""

    def _open(self) -> TextIOWrapper:
        opened = open(  # noqa: SIM115 - the handler closes it
            self.baseFilename, self.mode, encoding="utf-8", errors="replace", opener=partial(os.open, mode=0o600)
        )
        assert isinstance(opened, TextIOWrapper)  # noqa: S101 - text mode
        return opened


class Redacted(logging.Filter):
    """Takes the resolved secrets of the servers out of every record."""

    def __init__(self) -> None:
        super().__init__()
        self._secrets: set[str] = set()

    def add(self, secrets: list[str]) -> None:
        """Redact these values from now on."""
        self._secrets.update(secrets)

    def clean(self, text: str) -> str:
        """Return a text without the secrets."""
        return without_secrets(text, self._secrets)

    def filter(self, record: logging.LogRecord) -> bool:
        """Redact a record; all pass."""
        record.msg, record.args = self.clean(record.getMessage()), ()
        record.exc_info = None  # a stack of the SDK may have headers in it
        return True


REDACTED = Redacted()
"""The secrets of this process, which has no other purpose than its connections."""


def start_log(file: str) -> None:
    """Write warnings of the SDK, and everything of the servers, to a file."""
    handler = _PrivateFile(file, maxBytes=_SIZE, backupCount=1, delay=True)
    handler.addFilter(REDACTED)
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.getLogger("server").setLevel(logging.INFO)
