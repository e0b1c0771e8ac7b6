"""``pi redact scan`` and ``pi redact clean``: secrets in files that were stored before."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_core.base.mapped_texts import mapped
from pi_hookspecs.secrets import is_secret_name
from pi_redact._key import mark_key
from pi_redact._options import Options, read_options
from pi_redact._redactor import Redactor

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["run_subcommand"]

_USAGE = """Usage: pi redact scan [FILE ...]
       pi redact clean FILE ...

scan    list secrets in session files, or in all of them; exit code 1 when there are some
clean   replace them with marks; the original is kept next to the file, with the suffix .before-redact
"""


def run_subcommand(arguments: list[str], host: Any) -> int:
    """Run ``pi redact``; return the exit code."""
    match arguments:
        case ["scan", *names]:
            return _each(_files(names, host), host, clean=False)
        case ["clean", *names] if names:
            return _each(_files(names, host), host, clean=True)
        case [] | ["-h" | "--help"]:
            sys.stdout.write(_USAGE)
            return 0
        case _:
            sys.stderr.write(f"Unknown arguments: {' '.join(arguments)}\n\n{_USAGE}")
            return 2


def _files(names: list[str], host: Any) -> list[Path]:
    if names:
        return [Path(name) for name in names]
    return sorted(Path(host.settings.agent_dir, "sessions").rglob("*.jsonl"))


def _each(files: list[Path], host: Any, *, clean: bool) -> int:
    options = read_options(host.settings) or Options()
    redactor = Redactor(mark_key(host.settings.agent_dir), patterns=options.patterns, strict=options.strict)
    redactor.know((name, value) for name, value in os.environ.items() if is_secret_name(name))
    found = 0
    for file in files:
        try:
            text = file.read_text(encoding="utf-8", errors="surrogateescape")
        except OSError as error:
            sys.stderr.write(f"{file}: {error.strerror}\n")
            return 2
        lines, marks = _redacted(text, redactor)
        for number, mark in marks:
            sys.stdout.write(f"{file}:{number}: {mark}\n")
        found += len(marks)
        if clean and marks:
            _replace(file, lines)
    verb = "replaced" if clean else "found"
    sys.stdout.write(f"{found} secrets {verb} in {len(files)} files\n")
    return 1 if found and not clean else 0


def _redacted(text: str, redactor: Redactor) -> tuple[str, list[tuple[int, str]]]:
    """Return the text of a file with marks, and the marks with their lines."""
    lines, marks = [], []
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        seen: dict[str, None] = {}
        changed = _line(line, redactor, seen)
        marks += [(number, mark) for mark in seen]
        lines.append(changed)
    return "".join(lines), marks


def _line(line: str, redactor: Redactor, seen: dict[str, None]) -> str:
    """Return a line with marks: the texts of a JSON value, or the line itself."""

    def change(text: str) -> str:
        changed = redactor.redact(text)
        if changed is not text:
            seen.update(dict.fromkeys(_marks(changed)))
        return changed

    try:
        value = json.loads(line)
    except ValueError:
        return change(line)
    changed = mapped(value, change)
    if changed is value:
        return line
    return json.dumps(changed, ensure_ascii=False, separators=(",", ":")) + line[len(line.rstrip("\r\n")) :]


def _marks(text: str) -> Iterator[str]:
    from pi_redact._redactor import MARK

    for match in MARK.finditer(text):
        yield match[0]


def _replace(file: Path, text: str) -> None:
    """Replace a file, and keep it as it was under another name."""
    backup = file.with_name(f"{file.name}.before-redact")
    fresh = file.with_name(f".{file.name}.redact-tmp")
    mode = file.stat().st_mode & 0o777
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogateescape", newline="") as target:
        target.write(text)
    if not backup.exists():
        os.link(file, backup)
    fresh.replace(file)
