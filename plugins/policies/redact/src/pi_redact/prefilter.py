"""Which patterns can match in a text, at the speed of memory: hyperscan over all of them in one pass.

Its answer decides what is *not* looked for, so nothing may be missing from it: where there is any doubt (no wheel for
this system, a database that is not the one that was written, an error), there is no answer, and the text is searched
as if this module did not exist. While a text is searched, other threads run.

The database takes a tenth of a second to compile and is therefore stored, readable for the user alone, with a keyed
hash of its content: what another program wrote in its place is not loaded.
"""

from __future__ import annotations

import _thread
import os
import stat
import threading
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from pi_redact.assignments import FARTHEST, assigned_expressions, named_expression
from pi_redact.formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

__all__ = ["Findings", "Prefilter", "Searcher", "prefilter_of"]

_MANY = 1 << 17
"""Characters after which hyperscan is imported, and its database compiled in a thread: most runs of pi have fewer."""
_LONG = 1 << 20
"""Characters of a text that waits for the database: without it, its search takes longer than a compilation."""
_SHORT = 64
"""Characters below which the patterns alone are as quick."""
_PLACES = 1000
"""Assignments whose places are recorded; with more of them, the whole text is searched."""
_PATIENCE = 30.0
"""Seconds after which a text is searched without the database."""
_HASH = 32
_MOST = 16 << 20
"""Bytes of a stored database; it has about 200 KB."""
_PROBE = (b"x ghp_" + b"a1B2" * 9 + b" DB_PASSWORD=correcthorse", 2)
"""A text and how many expressions match in it, to see that a database works on this machine."""


class Findings:
    """What can match in a text.

    Args:
        formats: Indexes of ``FORMATS``, in order.
        assigned: Start and end of the parts of the text, in order, in which names of assigned secrets may begin.
        is_named: Whether ``named_values`` may find something.
    """

    def __init__(self, *, formats: Sequence[int], assigned: Sequence[tuple[int, int]], is_named: bool) -> None:
        self.formats = formats
        self.assigned = assigned
        self.is_named = is_named


class Searcher:
    """A database of hyperscan, for any thread.

    Args:
        database: The database.
    """

    def __init__(self, database: Any) -> None:
        self._database = database
        self._threads = threading.local()

    def scan(self, data: bytes, found: Callable[[int, int, int, int, Any], bool | None]) -> None:
        """Call a function with the number of each expression that matches, zero, and the end of the match.

        Raises:
            Exception: Any error of the library.
        """
        scratch = getattr(self._threads, "scratch", None)  # a scan needs one for itself
        if scratch is None:
            import hyperscan

            scratch = self._threads.scratch = hyperscan.Scratch(self._database)
        self._database.scan(data, match_event_handler=found, scratch=scratch)

    def numbers_in(self, data: bytes) -> set[int]:
        """Return which expressions match. Raises as above."""
        numbers: set[int] = set()
        self.scan(data, lambda number, *_: numbers.add(number))
        return numbers


class Prefilter:
    """Searches for all patterns, once its database is loaded or compiled, which a thread does for the first long text.

    Args:
        file: Where the database is stored; None for nowhere.
        key: The key of the database's hash.
    """

    def __init__(self, file: Path | None = None, key: bytes = b"") -> None:
        self._file = file
        self._key = key
        self._starting = threading.Lock()
        self._asked = 0
        self._is_started = False
        self._ended = threading.Event()
        self._searcher: Searcher | None = None

    def data_of(self, text: str) -> bytes | None:
        """Return a text as it can be searched; None if there is no database, or the text is too short for it."""
        if len(text) < _SHORT:
            return None
        if self._searcher is None:
            self._asked += len(text)
            if self._asked >= _MANY:
                self._start()
            if len(text) < _LONG or not self.wait():
                return None
        return text.encode("utf-8", "surrogatepass")

    def find(self, data: bytes, length: int) -> Findings | None:
        """Return what can match in a text; None if that is not known.

        Args:
            data: What ``data_of`` returned.
            length: The length of the text.
        """
        first_assigned, named = _counts()
        numbers: set[int] = set()
        ends: list[int] = []

        def found(number: int, _start: int, end: int, _flags: int, _context: Any) -> None:
            numbers.add(number)
            if first_assigned <= number < named and len(ends) <= _PLACES:
                ends.append(end)

        try:
            assert self._searcher is not None  # noqa: S101 - or else there was no data
            self._searcher.scan(data, found)
        except Exception:  # noqa: BLE001 - of a library in C, whatever it is: the text is searched without it
            return None
        return Findings(
            formats=sorted(number for number in numbers if number < first_assigned),
            assigned=_parts(data, ends, length),
            is_named=named in numbers,
        )

    def of_texts(self, texts: Iterable[str]) -> Searcher | None:
        """Return what searches for texts, literally; None if it cannot be had, or not yet."""
        if self._searcher is None:
            return None
        data = (text.encode("utf-8", "surrogatepass") for text in texts)
        try:
            return Searcher(_compiled(["".join(f"\\x{byte:02x}" for byte in each) for each in data]))
        except Exception:  # noqa: BLE001 - as above
            return None

    def wait(self) -> bool:
        """Load or compile the database now; return whether there is one."""
        if self._start():
            self._ended.wait(_PATIENCE)
        return self._searcher is not None

    def _start(self) -> bool:
        """Start the thread if there is none yet; return whether there is one: memory may be too short for it."""
        with self._starting:
            if not self._is_started:
                # Thread.start() waits for ever if memory runs out before the thread says that it has begun
                with suppress(RuntimeError, MemoryError):
                    _thread.start_new_thread(self._run, ())
                    self._is_started = True
            return self._is_started

    def _run(self) -> None:
        try:
            self._searcher = self._loaded() or self._made()
        except Exception:  # noqa: BLE001 - no wheel for this system, or a processor that the library does not support
            self._searcher = None
        finally:
            self._ended.set()

    def _loaded(self) -> Searcher | None:
        """Return the stored database; None if there is none that can be trusted."""
        import hmac

        import hyperscan

        content = _private_content(self._file) if self._file is not None else b""
        if not hmac.compare_digest(content[:_HASH], self._hash(content[_HASH:])):
            return None
        try:
            return _tried(hyperscan.loadb(content[_HASH:], hyperscan.HS_MODE_BLOCK))
        except Exception:  # noqa: BLE001 - it is made again
            return None

    def _made(self) -> Searcher:
        """Compile the database, and store it if that is possible."""
        import hyperscan

        from pi_core import make_cache, replace_file

        database = _compiled(_expressions(), first_of_all=_counts()[0])
        searcher = _tried(database)
        if self._file is not None:
            content = hyperscan.dumpb(database)
            with suppress(OSError):
                make_cache(self._file.parent)
                replace_file(self._file, self._hash(content) + content, mode=0o600, keep=False, durable=False)
        return searcher

    def _hash(self, content: bytes) -> bytes:
        """Return the hash of a database: it depends on what is searched for, on the library and on the machine."""
        import hashlib
        import hmac
        import platform

        import hyperscan

        about = "\n".join((str(getattr(hyperscan, "__version__", "")), platform.machine(), *_expressions()))
        return hmac.digest(self._key, hashlib.sha256(about.encode()).digest() + content, "sha256")


@cache
def prefilter_of(agent_dir: Path, key: bytes) -> Prefilter:
    """Return the prefilter of this process that stores its database in a directory of pi's."""
    return Prefilter(agent_dir / "cache" / "redact.hs", key)


def _private_content(file: Path) -> bytes:
    """Return what a file contains if it is the user's own and nobody else can read or write it; nothing otherwise."""
    try:
        descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
    except OSError:
        return b""
    with os.fdopen(descriptor, "rb") as source:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode) or about.st_size > _MOST:
            return b""
        if os.name == "posix" and (about.st_uid != os.geteuid() or about.st_mode & 0o077):
            return b""
        return source.read()


def _tried(database: Any) -> Searcher:
    """Return a searcher that finds what it must.

    Raises:
        ValueError: It does not.
        Exception: The library refuses the database.
    """
    searcher, (text, count) = Searcher(database), _PROBE
    if len(searcher.numbers_in(text)) < count:
        message = "the database finds nothing"
        raise ValueError(message)
    return searcher


def _compiled(expressions: Sequence[str], *, first_of_all: int | None = None) -> Any:
    """Return a database; expressions from a number on report each end of a match, all others one end."""
    import hyperscan

    count = len(expressions)
    once = hyperscan.HS_FLAG_SINGLEMATCH
    each = range(count if first_of_all is None else first_of_all, count - 1)
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(
        expressions=[expression.encode() for expression in expressions],
        ids=list(range(count)),
        elements=count,
        flags=[0 if number in each else once for number in range(count)],
    )
    return database


@cache
def _expressions() -> tuple[str, ...]:
    """Return the expressions: of all formats, of assigned values, of named values."""
    from pi_redact.supersets import superset

    return (*(superset(each.pattern) for each in FORMATS), *assigned_expressions(), named_expression())


@cache
def _counts() -> tuple[int, int]:
    """Return the number of the first expression of assigned values, and that of named values."""
    return len(FORMATS), len(_expressions()) - 1


def _parts(data: bytes, ends: list[int], length: int) -> Sequence[tuple[int, int]]:
    """Return the parts of a text in which names may begin whose assignments end at some bytes.

    Args:
        data: The text in UTF-8.
        ends: Offsets in the data, in any order.
        length: The text's length.
    """
    if len(ends) > _PLACES:
        return ((0, length),)
    parts: list[tuple[int, int]] = []
    at = characters = 0
    for end in sorted(set(ends)):
        characters += end - at if length == len(data) else _characters(data[at:end])
        at = end
        begin = max(characters - FARTHEST, 0)
        if parts and begin <= parts[-1][1]:
            begin = parts.pop()[0]
        parts.append((begin, characters))
    return parts


def _characters(data: bytes) -> int:
    """Return how many characters begin in a part of UTF-8."""
    return len(data) - len(data.translate(None, _BEGINNINGS))


_BEGINNINGS = bytes(byte for byte in range(256) if byte & 0xC0 != 0x80)  # noqa: PLR2004 - what follows a first byte
