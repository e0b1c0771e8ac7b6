"""Sessions of aider: the chats in ``.aider.chat.history.md``, where the form of a line says who wrote it."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias

from pi_hookspecs import TextContent
from pi_import.models import PROVIDERS
from pi_import.sessions.transcript import LARGEST, Stored, Transcript, milliseconds

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["HISTORY", "stored"]

HISTORY = ".aider.chat.history.md"

Writer: TypeAlias = Literal["user", "aider", "model"]

_START = re.compile(r"^# aider chat started at (?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)[ \t]*$", re.MULTILINE)
_MODEL = re.compile(r"(?:Main model|Model): (?:(?P<provider>[\w.-]+)/)?(?P<name>\S+)")
_NOTE = "as a conversation without calls: what aider edited is in the text of its answers"


def stored(cwd: Path) -> Iterator[Stored]:
    """Yield the chats of a folder, in order."""
    file = cwd / HISTORY
    try:
        text = file.read_text(encoding="utf-8", errors="replace") if file.stat().st_size <= LARGEST else ""
    except OSError:
        return
    starts = [*_START.finditer(text)]
    ends = (*(each.start() for each in starts[1:]), len(text))
    place = hashlib.sha256(os.path.realpath(cwd).encode("utf-8", "surrogatepass")).hexdigest()[:8]
    times: Counter[str] = Counter()
    for start, end in zip(starts, ends, strict=False):  # without a chat there is one end too many
        time = start["time"]
        times[time] += 1
        again = f"-{times[time]}" if times[time] > 1 else ""
        name = f"aider-{re.sub('[^0-9]', '-', time)}-{place}{again}"
        yield Stored(file, name, partial(_read, name, str(cwd), time, text[start.end() : end]))


def _read(name: str, cwd: str, time: str, text: str) -> Transcript | None:
    found = Transcript(id=name, cwd=cwd, api="openai-completions", provider="aider", note=_NOTE)
    moment = milliseconds(time)
    for writer, said in _messages(text):
        model = _MODEL.search(said) if writer == "aider" else None
        if model is not None:
            found.close()
            found.model, found.provider = (
                model["name"],
                PROVIDERS.get(model["provider"] or "", model["provider"] or "aider"),
            )
        elif writer == "user":
            found.user([TextContent(said)], moment)
        elif writer == "model":
            found.block(TextContent(said), moment)
    found.close()
    return found if found.answers else None


def _messages(text: str) -> Iterator[tuple[Writer, str]]:
    """Yield the messages of a chat; its commands, such as ``/add``, and what it reports itself are of ``aider``."""
    writer: Writer | None = None
    lines: list[str] = []
    for line in [*text.splitlines(), None]:
        next_writer, content = _line(line) if line is not None else (None, "")
        if next_writer != writer:
            said = "\n".join(lines).strip()
            if writer is not None and said:
                yield ("aider" if writer == "user" and said.startswith(("/", "<blank>")) else writer), said
            writer, lines = next_writer, []
        lines.append(content)


def _line(line: str) -> tuple[Writer, str]:
    """Return who wrote a line, and its text: aider ends its own lines with two spaces, which a model does not."""
    if line.startswith("#### ") and line.endswith("  "):
        return "user", line[5:].rstrip()
    if line.startswith("> ") and line.endswith("  "):
        return "aider", line[2:].rstrip()
    return "model", line
