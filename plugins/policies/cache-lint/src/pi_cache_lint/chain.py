"""A request's hash chain: what a provider's cache compares, in the same order.

First the parameters that key the cache, then the tools one by one, the system prompt, and the messages by block. Cache
markers move from request to request and are a link of their own.
"""

from __future__ import annotations

import json
import marshal
import sys
from hashlib import sha1
from typing import TYPE_CHECKING, Any

from attrs import frozen

from pi_hookspecs.unchanged import START, Contents, first_difference
from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pi_hookspecs.unchanged import Place

    _Links = tuple[tuple[str, ...], dict[str, Any]]
    """The hashes of a message's blocks, and its cache markers by place."""

__all__ = ["Chain", "Digests", "chain_of", "message_of_block"]

_PARAMETERS = (
    "model",
    "thinking",
    "reasoning",
    "reasoning_effort",
    "output_config",
    "tool_choice",
    "toolChoice",
    "prompt_cache_key",
    "cachedContent",
    "response_format",
)
_SYSTEM = ("system", "system_prompt", "instructions", "systemInstruction")
_MESSAGES = ("messages", "input", "contents")
_SYSTEM_ROLES = frozenset({"system", "developer"})
_USUAL = frozenset({"role", "content", "parts", "text", "cache_control"})
_MINUTE = 60
_LIFETIME = 5 * _MINUTE
_LIFETIMES = {"1h": 60 * _MINUTE, "24h": 24 * 60 * _MINUTE}


@frozen(kw_only=True, eq=False, repr=False)
class Chain(ReprMixin):
    """A request's links; every hash is twelve hexadecimal digits.

    Attributes:
        parameters: Hashes of the parameters that key the cache, by name.
        tools: Name and hash of each tool, in order.
        system: Hash of the system prompt.
        messages: A hash for each block, in order; boundaries between messages do not matter to a cache.
        markers: Where the request marks what to cache, and for how long.
        lifetime: Seconds for which the provider keeps a prompt that is not requested again.
    """

    parameters: dict[str, str]
    tools: tuple[tuple[str, str], ...]
    system: str
    messages: tuple[str, ...]
    markers: tuple[str, ...] = ()
    lifetime: float = _LIFETIME


class Digests:
    """Hashes each value once: a request consists of the previous one and little more.

    Providers pass on the messages of the previous request as the same objects: their links are used again if nothing
    in them was changed. Other values are looked up by Python's own 64-bit hash, which takes a tenth of the time.
    ``turn`` drops what the latest request did not contain.
    """

    def __init__(self) -> None:
        self._known: dict[int, str] = {}
        self._used: dict[int, str] = {}
        self._known_messages: dict[int, _Links] = {}
        self._used_messages: dict[int, _Links] = {}
        self._messages: list[Any] = []
        self._contents = Contents()
        self._places: list[Place] = []
        self._links: list[str] = []
        self._ends: list[int] = []
        self._marked: list[tuple[int, dict[str, Any]]] = []
        self._seen = sys.maxsize
        """How many messages at the beginning are in the contents, so that each change in them is seen."""

    def of(self, value: Any) -> str:
        """Return the hash of plain data."""
        raw = value if isinstance(value, str) else _bytes(value)
        key = hash(raw) if raw is value else ~hash(raw)  # a text and its bytes have one hash
        found = self._known.get(key) or self._used.get(key)
        if found is None:
            data = raw.encode("utf-8", "surrogatepass") if isinstance(raw, str) else raw
            found = sha1(data, usedforsecurity=False).hexdigest()[:12]
        self._used[key] = found
        return found

    def of_message(self, message: Any) -> _Links:
        """Return the links of a message, and its cache markers; one that the last request had is not taken apart."""
        key = hash(_bytes(message))
        found = self._known_messages.get(key) or self._used_messages.get(key)
        if found is None:
            marked: dict[str, Any] = {}
            role, blocks = _role_and_blocks(message)
            links = tuple(
                self.of(_unmarked(block, "messages", marked)) + role[:1]
                for block in blocks
                if not _is_marker(block, "messages", marked)
            )
            found = links, marked
        self._used_messages[key] = found
        return found

    def of_messages(self, messages: Sequence[Any], known: int = 0) -> tuple[tuple[str, ...], dict[str, Any]]:
        """Return the links of all messages, and their cache markers; only messages that are new are looked at.

        Args:
            messages: The messages of a payload.
            known: How many at the beginning are unchanged since they were made, as whoever sent them found.
        """
        self._forget(self._unchanged(messages, known))
        for index in range(len(self._messages), len(messages)):
            links, marked = self.of_message(messages[index])
            self._places.append(self._contents.place)
            if index < known or not self._contents.add(messages[index]):
                self._seen = min(self._seen, index)
            self._messages.append(messages[index])
            self._links += links
            self._ends.append(len(self._links))
            if marked:
                self._marked.append((index, marked))
        markers: dict[str, Any] = {}
        for _, marked in self._marked:
            markers |= marked
        return tuple(self._links), markers

    def _unchanged(self, messages: Sequence[Any], known: int) -> int:
        """Return how many messages at the beginning are those of the previous request, as they were."""
        if known:
            return min(first_difference(self._messages, messages), known)
        same = min(first_difference(self._messages, messages), self._seen)
        end = self._places[same] if same < len(self._places) else None
        if self._contents.same(START, end):
            return same
        ends = [*self._places[1:], self._contents.place]
        pairs = zip(self._places[:same], ends, strict=False)
        return next((index for index, pair in enumerate(pairs) if not self._contents.same(*pair)), same)

    def _forget(self, length: int) -> None:
        """Drop what follows the first messages."""
        if length == len(self._messages):
            return
        if self._seen >= length:
            self._seen = sys.maxsize
        self._contents.cut(self._places[length])
        del self._messages[length:], self._places[length:], self._ends[length:]
        del self._links[self._ends[-1] if self._ends else 0 :]
        self._marked = [each for each in self._marked if each[0] < length]

    def turn(self) -> None:
        """Forget the values that were not used since the last call."""
        self._known, self._used = self._used, {}
        self._known_messages, self._used_messages = self._used_messages, {}


def _bytes(value: Any) -> bytes:
    try:
        return marshal.dumps(value, 2)  # version 2 has no references: equal data gives equal bytes
    except ValueError:  # not plain data, or nested too deeply
        return json.dumps(value, default=repr).encode("utf-8", "surrogatepass")


def chain_of(payload: Any, digests: Digests, declaration: Callable[[str], Any]) -> Chain | None:
    """Return the chain of a payload in any of the formats of the providers; None if it has no messages.

    Args:
        payload: What was sent.
        digests: Hashes its parts.
        declaration: Returns the declaration of a tool of which the payload contains only the name.
    """
    body = _body(payload)
    if body is None:
        return None
    marked: dict[str, Any] = {}
    system, messages = _system_and_messages(body)
    parameters = {name: digests.of(body[name]) for name in _PARAMETERS if body.get(name) is not None}
    tools = tuple(_tools(body, digests, declaration, marked))
    prompt = digests.of([_unmarked(each, "system", marked) for each in system])
    links, markers = digests.of_messages(messages, _known(body))
    marked |= markers
    chain = Chain(
        parameters=parameters,
        tools=tools,
        system=prompt,
        messages=links,
        markers=tuple(f"{place}:{json.dumps(value, sort_keys=True)}" for place, value in marked.items()),
        lifetime=_lifetime(body, marked),
    )
    digests.turn()
    return chain


def _known(body: dict[str, Any]) -> int:
    """Return how many messages after the system prompt are known to be unchanged since they were encoded."""
    from pi_provider_kit import unchanged_elements

    unchanged = unchanged_elements(_raw_messages(body))
    leading = _leading_system(body)
    return max(0, unchanged.stop - leading) if unchanged.start <= leading else 0


def message_of_block(payload: Any, number: int) -> int:
    """Return the index of the message that a block is in."""
    body = _body(payload) or {}
    _, messages = _system_and_messages(body)
    last = -1
    for index, message in enumerate(messages, _leading_system(body)):
        last += sum(not _is_marker(block, "", {}) for block in _role_and_blocks(message)[1])
        if last >= number:
            return index
    return 0


def _body(payload: Any) -> dict[str, Any] | None:
    """Return the part of a payload that contains the messages."""
    if not isinstance(payload, dict):
        return None
    if any(isinstance(payload.get(name), list) for name in _MESSAGES):
        return payload
    inner = payload.get("request")
    return {**payload, **inner} if isinstance(inner, dict) and _body(inner) is not None else None


def _system_and_messages(body: dict[str, Any]) -> tuple[list[Any], Sequence[Any]]:
    """Return the blocks of the system prompt, and the messages after it."""
    system = [block for name in _SYSTEM for block in _blocks(body.get(name))]
    raw = _raw_messages(body)
    leading = _leading_system(body)
    system += [block for each in raw[:leading] for block in _blocks(each.get("content"))]
    return system, raw[leading:]


def _role_and_blocks(message: Any) -> tuple[str, list[Any]]:
    """Return the role of a message, and its blocks."""
    if not isinstance(message, dict):
        return "", [message]
    return str(message.get("role") or message.get("type") or ""), list(_message_blocks(message))


def _raw_messages(body: dict[str, Any]) -> Sequence[Any]:
    found: Sequence[Any] = next((body[name] for name in _MESSAGES if isinstance(body.get(name), list)), ())
    return found


def _leading_system(body: dict[str, Any]) -> int:
    raw = _raw_messages(body)
    others = (at for at, each in enumerate(raw) if not isinstance(each, dict) or each.get("role") not in _SYSTEM_ROLES)
    return next(others, len(raw))


def _message_blocks(message: dict[str, Any]) -> Iterator[Any]:
    yield from _blocks(message.get("content", message.get("parts", message.get("text"))))
    if message.keys() <= _USUAL:
        return
    rest = {name: value for name, value in message.items() if name not in _USUAL and value is not None}
    if rest:
        yield rest


def _blocks(content: Any) -> list[Any]:
    """Return the blocks of a content; plain text is one block in every form."""
    if isinstance(content, dict):
        content = content.get("parts", [content])
    return [] if content is None else content if isinstance(content, list) else [content]


def _unmarked(block: Any, place: str, marked: dict[str, Any]) -> Any:
    """Return a block without its cache marker, which is recorded; a block that is only text becomes that text."""
    if not isinstance(block, dict):
        return block
    if "cache_control" in block:
        marked[place] = block["cache_control"]
        block = {name: value for name, value in block.items() if name != "cache_control"}
    text = block.get("text")
    return text if isinstance(text, str) and block.keys() <= {"type", "text"} else block


def _is_marker(block: Any, place: str, marked: dict[str, Any]) -> bool:
    """Return whether a block is only a cache marker, and record the marker."""
    if isinstance(block, dict) and "cachePoint" in block:
        marked[place] = block["cachePoint"]
        return True
    return False


def _tools(
    body: dict[str, Any], digests: Digests, declaration: Callable[[str], Any], marked: dict[str, Any]
) -> Iterator[tuple[str, str]]:
    configured = body.get("toolConfig")
    tools = body.get("tools") or (configured.get("tools") if isinstance(configured, dict) else None)
    for each in tools if isinstance(tools, list) else ():
        if isinstance(each, str):
            yield each, digests.of([each, declaration(each)])
        elif isinstance(each, dict) and not _is_marker(each, "tools", marked):
            declared = each.get("functionDeclarations", each.get("function_declarations"))
            for tool in declared if isinstance(declared, list) else [each]:
                yield _tool_name(tool), digests.of(_unmarked(tool, "tools", marked))


def _tool_name(tool: dict[str, Any]) -> str:
    for inner in (tool, tool.get("function"), tool.get("toolSpec")):
        if isinstance(inner, dict) and isinstance(inner.get("name"), str):
            return str(inner["name"])
    return str(tool.get("type", "?"))


def _lifetime(body: dict[str, Any], marked: dict[str, Any]) -> float:
    named = [value.get("ttl") for value in marked.values() if isinstance(value, dict)]
    return max(_LIFETIMES.get(str(each), _LIFETIME) for each in [*named, body.get("prompt_cache_retention")])
