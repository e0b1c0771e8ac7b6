"""Search over stored sessions: ``uv run python bench/search.py``.

100 sessions with 100,000 messages of about 350 bytes are indexed, and searched with words that few, some and nearly all
entries have, then with 703 combinations of up to three of them, one of which is excluded. CPU times of this process; a
search is the best of five, a combination the best of two. The bar of a search is 50 ms.
"""

from __future__ import annotations

import json
import random
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from _measure import show_table, verdict

from pi_session_sqlite.index import SearchIndex
from pi_session_sqlite.query import parse_query
from pi_session_sqlite.sources import Files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SESSIONS, MESSAGES, WORDS, BAR = 100, 1000, 5000, 50.0
RARE = ("9q", "7", "é")
"""In one entry of a thousand; the words have letters of the alphabet alone."""

STAMP = "2026-01-01T00:00:00.000Z"


def main() -> None:
    """Print the table."""
    chance = random.Random(1)  # noqa: S311 - the same texts in each run
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(3, 9))) for _ in range(WORDS)]
    with tempfile.TemporaryDirectory() as folder:
        sessions = Path(folder, "sessions")
        sessions.mkdir()
        for number in range(SESSIONS):
            _write(sessions / f"{number}.jsonl", chance, words)
        index = SearchIndex(Path(folder, "search.sqlite"), Files([str(sessions)]))
        size = Path(folder, "search.sqlite")
        rows = [("index 100,000 entries", f"{_cpu(index.update) / 1000:.1f} s", "")]
        rows.append(("database", f"{size.stat().st_size / 1e6:.0f} MB", ""))
        rows.append(("look for changes, none", f"{_cpu(index.update):.1f} ms", ""))
        for label, text in (
            ("in 99,800 entries", words[0]),
            ("in 43,000 entries", words[10]),
            ("in 2,000 entries", words[300]),
            ("in 200 entries", words[3000]),
            ("in none", "zzqqzz"),
            ("two words", f"{words[1]} {words[2]}"),
            ("a phrase", f'"{words[3]} {words[5]}"'),
            ("two letters", "ab"),
            ("two letters that few entries have", RARE[0]),
            ("a letter that few entries have", RARE[1]),
            ("a letter outside ASCII", RARE[2]),
            ("a common word with two rare letters", f"{words[0]} {RARE[0]}"),
            ("a rare word without a common one", f"{words[3000]} -{words[0]}"),
            ("a common word without another", f"{words[10]} -{words[0]}"),
            ("a common word without a rare one", f"{words[0]} -{words[3000]}"),
            ("a word without two letters", f"{words[10]} -ab"),
        ):
            query = parse_query(text)
            best = min(_cpu(lambda query=query: index.search(query)) for _ in range(5))
            rows.append((f"search, {label}", f"{best:.1f} ms", verdict(best, BAR)))
        combined = sorted(_combinations(index, words), reverse=True)
        for best, text in combined[:3]:
            rows.append((f"the slowest combinations: {text}", f"{best:.1f} ms", verdict(best, BAR)))
        late = sum(best > BAR for best, _ in combined)
        rows.append(("combinations above the bar", f"{late} of {len(combined)}", verdict(late, 0)))
        index.close()
    show_table("Search over stored sessions", ("what", "CPU", "bar 50 ms"), rows)


def _combinations(index: SearchIndex, words: list[str]) -> Iterator[tuple[float, str]]:
    """Yield the milliseconds and the text of each query."""
    phrases = [f'"{words[3]} {words[5]}"', f'"{words[0]} {words[1]}"']
    some = [words[0], words[10], words[80], words[300], words[3000], "zzqqzz", "ab", "e", *RARE, *phrases, words[0][:4]]
    for first in some:
        for second in (None, *some) if first in (words[0], words[10], phrases[0]) else (None,):
            for excluded in (None, *some):
                if first != second and (excluded is None or excluded not in (first, second)):
                    text = " ".join(filter(None, (first, second, excluded and f"-{excluded}")))
                    query = parse_query(text)
                    yield min(_cpu(lambda query=query: index.search(query)) for _ in range(2)), text


def _write(path: Path, chance: random.Random, words: list[str]) -> None:
    weights = [1 / (rank + 1) for rank in range(WORDS)]
    with path.open("w") as file:
        file.write(json.dumps({"type": "session", "id": path.stem, "cwd": "/bench", "timestamp": STAMP}) + "\n")
        for number in range(MESSAGES):
            text = " ".join(chance.choices(words, weights, k=55))
            message = {"role": "user", "content": text if number else " ".join((text, *RARE))}
            entry = {"type": "message", "id": f"{number:08x}", "parentId": None, "timestamp": STAMP}
            file.write(json.dumps({**entry, "message": message}) + "\n")


def _cpu(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return (time.process_time() - begun) * 1000


if __name__ == "__main__":
    main()
