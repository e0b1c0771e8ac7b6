"""``pi redact scan`` and ``pi redact clean``: find and remove secrets in sessions stored earlier."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from pi_core import DEFAULT_STORE, clean_text, find_by_prefix, map_texts, replace_file, resolve_store
from pi_hookspecs.secrets import is_secret_name
from pi_redact.key import mark_key
from pi_redact.options import Options, read_options
from pi_redact.prefilter import prefilter_of
from pi_redact.redactor import Redactor

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pi_hookspecs import SessionStore

__all__ = ["run_subcommand"]

_USAGE = """Usage: pi redact scan [SESSION ...]
       pi redact clean FILE ...

scan    list secrets in sessions, named by file or the beginning of an id, or in all; exit code 1 when there are some
clean   replace them with marks; the original is kept next to the file, with the suffix .before-redact
"""


_HINT = """. Only files can be cleaned; of a session in the database, make one first:
  pi sessions convert --to jsonl --remove SESSION; pi redact clean FILE; pi sessions convert --to sqlite FILE"""


def run_subcommand(arguments: list[str], host: Any) -> int:
    """Run ``pi redact``; return the exit code."""
    match arguments:
        case ["scan", *names]:
            return _each(_sources(names, host), host, clean=False)
        case ["clean", *names] if names:
            return _each([Path(name) for name in names], host, clean=True)
        case [] | ["-h" | "--help"]:
            sys.stdout.write(_USAGE)
            return 0
        case _:
            sys.stderr.write(f"Unknown arguments: {' '.join(arguments)}\n\n{_USAGE}")
            return 2


@frozen
class _Stored:
    """A session in a store without files."""

    store: SessionStore
    reference: str

    def __str__(self) -> str:
        return self.reference

    def text(self) -> str:
        """Return its header and entries, one per line."""
        from pi_core import dumps

        stored = self.store.open(self.reference)
        try:
            entries = (stored.entries[number] for number in range(len(stored.entries)))
            lines = [dumps(stored.header), *map(dumps, entries)]
        finally:
            stored.close()
        return b"\n".join(lines).decode("utf-8", errors="replace")


def _sources(names: list[str], host: Any) -> list[Path | _Stored]:
    """Return the named sessions, or all: files, and sessions of the configured store if it has no files."""
    if (host.settings.get_str("sessionStore", None) or DEFAULT_STORE) == DEFAULT_STORE:
        return [Path(name) for name in names] or _all_files(host)
    store = resolve_store(host=host).store
    found = store.list()
    if not names:
        return [*_all_files(host), *(_Stored(store, each.path) for each in found)]
    return [
        Path(name) if Path(name).exists() else _Stored(store, find_by_prefix(name, found, str(Path.cwd())).path)
        for name in names
    ]


def _all_files(host: Any) -> list[Path | _Stored]:
    place = resolve_store(host=host, name="memory").place  # the folders are the same for all stores
    folders = [place.agent_dir / "sessions", *([place.session_dir] if place.session_dir is not None else [])]
    return [*sorted({file for folder in folders for file in folder.rglob("*.jsonl")})]


def _each(sources: Sequence[Path | _Stored], host: Any, *, clean: bool) -> int:
    options = read_options(host.settings) or Options()
    agent_dir = Path(host.settings.agent_dir)
    key = mark_key(agent_dir)
    prefilter = prefilter_of(agent_dir, key)
    prefilter.wait()
    redactor = Redactor(key, patterns=options.patterns, strict=options.strict, prefilter=prefilter)
    redactor.know((name, value) for name, value in os.environ.items() if is_secret_name(name))
    found = 0
    for source in sources:
        try:
            text = _text(source) if isinstance(source, Path) else source.text()
        except OSError as error:
            sys.stderr.write(clean_text(f"{source}: {error.strerror}{_HINT if clean else ''}\n"))
            return 2
        lines, marks = _redacted(text, redactor)
        for number, mark in marks:
            sys.stdout.write(clean_text(f"{source}:{number}: {mark}\n"))
        found += len(marks)
        if clean and marks and isinstance(source, Path):
            _replace(source, lines)
    verb = "replaced" if clean else "found"
    files = sum(isinstance(each, Path) for each in sources)
    others = f" and {len(sources) - files} sessions without a file" if files < len(sources) else ""
    sys.stdout.write(f"{found} secrets {verb} in {files} files{others}\n")
    return 1 if found and not clean else 0


def _text(file: Path) -> str:
    with file.open(encoding="utf-8", errors="surrogateescape", newline="") as source:  # line ends stay as they are
        return source.read()


def _redacted(text: str, redactor: Redactor) -> tuple[str, list[tuple[int, str]]]:
    """Return the text of a file with marks, and the marks with their line numbers."""
    lines, marks = [], []
    for number, line in enumerate(io.StringIO(text, newline="\n"), 1):
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
    changed = map_texts(value, change)
    if changed is value:
        return line
    return json.dumps(changed, ensure_ascii=False, separators=(",", ":")) + line[len(line.rstrip("\r\n")) :]


def _marks(text: str) -> Iterator[str]:
    from pi_redact.redactor import MARK

    for match in MARK.finditer(text):
        yield match[0]


def _replace(file: Path, text: str) -> None:
    """Replace a file, and keep the original under another name."""
    backup = file.with_name(f"{file.name}.before-redact")
    if not backup.exists():
        os.link(file, backup)
    replace_file(file, text.encode("utf-8", "surrogateescape"))
