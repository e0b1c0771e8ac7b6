"""Searches tools: weighted BM25 over names, descriptions and arguments."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Found", "search"]

_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_K1, _B = 1.2, 0.75
_DEPTH = 8


@frozen(kw_only=True)
class Found:
    """A tool that can be found.

    Attributes:
        name: Its name for the model.
        tool: Its name at its server.
        description: The description by its server.
        schema: Schema of its arguments.
        server: Text about its server.
    """

    name: str
    tool: str
    description: str
    schema: dict[str, Any]
    server: str = ""


def words(text: str) -> list[str]:
    """Return the lower-case words of a text; ``listFiles`` and ``list_files`` are split in two."""
    return [each.lower() for each in _WORD.findall(_CAMEL.sub(" ", text))]


def search(query: str, tools: Iterable[Found], limit: int) -> list[Found]:
    """Return the tools that have words of a query, best first: exact names, then more of the words, then the score."""
    asked = list(dict.fromkeys(words(query)))
    documents = [(each, _weights(each)) for each in tools]
    wanted = query.strip().lower()
    average = sum(sum(weights.values()) for _, weights in documents) / max(len(documents), 1)
    rarity = {word: _rarity(sum(word in weights for _, weights in documents), len(documents)) for word in asked}
    ranked = []
    for tool, weights in documents:
        hits = [word for word in asked if word in weights]
        is_exact = wanted in (tool.name.lower(), tool.tool.lower())
        if hits or is_exact:
            norm = _K1 * (1 - _B + _B * sum(weights.values()) / (average or 1))
            score = sum(rarity[word] * weights[word] * (_K1 + 1) / (weights[word] + norm) for word in hits)
            ranked.append((not is_exact, -len(hits), -score, tool.name, tool))
    return [each[-1] for each in sorted(ranked, key=lambda each: each[:-1])[:limit]]


def _rarity(having: int, of: int) -> float:
    return math.log(1 + (of - having + 0.5) / (having + 0.5))


def _weights(tool: Found) -> Counter[str]:
    found: Counter[str] = Counter()
    for text, weight in (
        (tool.tool, 3.0),
        (tool.description, 1.0),
        (" ".join(_schema_texts(tool.schema, tool.schema, _DEPTH)), 1.0),
        (tool.server, 0.5),
    ):
        for word in words(text):
            found[word] += weight  # type: ignore[assignment] # a Counter of weights
    return found


def _schema_texts(schema: Any, root: dict[str, Any], room: int) -> Sequence[str]:
    """Return names and descriptions of arguments, following ``$ref``."""
    if not isinstance(schema, dict) or room == 0:
        return ()
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/"):
        target: Any = root
        for part in reference[2:].split("/"):
            target = target.get(part) if isinstance(target, dict) else None
        return _schema_texts(target, root, room - 1)
    texts = [schema["description"]] if isinstance(schema.get("description"), str) else []
    properties = schema.get("properties")
    for name, each in properties.items() if isinstance(properties, dict) else ():
        texts += [name, *_schema_texts(each, root, room - 1)]
    return [*texts, *_schema_texts(schema.get("items"), root, room - 1)]
