"""One loaded model: checks that it fits into memory, loads it, and answers requests with chunks of completions."""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_hookspecs.errors import UserError
from pi_provider_llamacpp.engine.calls import CallSplitter
from pi_provider_llamacpp.engine.conversation import to_plain
from pi_provider_llamacpp.engine.syntax import syntax_of
from pi_provider_llamacpp.gguf import read_header
from pi_provider_llamacpp.names import INSTALL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    from pi_provider_llamacpp.engine.calls import Piece
    from pi_provider_llamacpp.gguf import Header

__all__ = ["LoadedModel", "check_memory", "needed_bytes"]

_CACHE_BYTES = 2
"""Of each value that the cache keeps (16 bits)."""
_OVERHEAD = 150 << 20
"""Bytes for buffers, the vocabulary and the process itself; a small model of 100 MB was seen to take 280 MB."""


def needed_bytes(header: Header, size: int, context: int) -> int:
    """Return how much memory a model takes: its file, the cache of its window, and buffers."""
    return size + header.layers * header.cache_width * _CACHE_BYTES * context + _OVERHEAD


def check_memory(name: str, header: Header, size: int, context: int, free: int) -> None:
    """Return when a model fits.

    Args:
        name: The file's name.
        header: Its header.
        size: Bytes of its files.
        context: Tokens of the window.
        free: Bytes that are free, of this computer and its graphics cards together.

    Raises:
        UserError: It does not fit; the message says what would.
    """
    needed = needed_bytes(header, size, context)
    if needed <= free:
        return
    a_token = header.layers * header.cache_width * _CACHE_BYTES
    left = free - size - _OVERHEAD
    fitting = left // a_token // 512 * 512 if a_token else 0
    advice = "Close other programs, or use a smaller model or quantization."
    if fitting >= 1024:  # noqa: PLR2004 - less is of no use to an agent
        advice = f"A window of {fitting:,} tokens would fit: set llamacpp.contextTokens to {fitting}."
    raise UserError(
        f"Not enough memory for {name!r}: it needs about {_gb(needed)} ({_gb(size)} of file, a window of {context:,}"
        f" tokens), and {_gb(free)} are free. {advice}"
    )


def _gb(size: int) -> str:
    return f"{max(size, 0) / 1e9:.1f} GB"


_BATCH = 512
"""Tokens of a prompt that are read at once; an abort comes into effect between two batches."""
_ERRORS_ONLY = 1


class LoadedModel:
    """A model in memory.

    Args:
        path: The GGUF file, of several the first.
        size: Bytes of all its files.
        context: Tokens of its window.

    Raises:
        UserError: It cannot be loaded; the message says why.
    """

    def __init__(self, path: str, size: int, context: int) -> None:
        header = read_header(Path(path))
        engine = _engine()
        check_memory(Path(path).name, header, size, context, _free_memory(engine))
        self._syntax = syntax_of(header.template)
        self._constrains = engine.json_schema_to_grammar({"type": "object"}).startswith("%llguidance")
        parameters = _parameters(engine, path, context)
        try:
            self._server = engine.Server(parameters)
        except RuntimeError as error:
            raise UserError(f"llama.cpp cannot load the model file {path!r}") from error  # why, it prints

    def answer(self, payload: dict[str, Any], emit: Callable[[dict[str, Any]], bool]) -> None:
        """Answer a request.

        Args:
            payload: As a chat completion.
            emit: Gets the chunks, one by one; returns whether to stop.
        """
        plain = to_plain(payload, self._syntax)
        if not self._constrains:
            plain.pop("grammar", None)
        splitter = CallSplitter(marked=self._syntax.marked) if payload.get("tools") else None
        stopped = False

        def take(raw: str) -> bool:
            nonlocal stopped
            if not stopped and raw.startswith("{"):
                chunks = _with_calls(json.loads(raw), splitter) if splitter is not None else [json.loads(raw)]
                stopped = any(emit(chunk) for chunk in chunks)
            return stopped

        answer = self._server.handle_chat_completions(json.dumps({**plain, "stream": True}), take)
        if isinstance(answer, str):
            take(answer)
        elif isinstance(answer, dict):
            take(json.dumps(answer))


def _engine() -> ModuleType:
    """Return the bindings of llama.cpp.

    Raises:
        UserError: They are not installed, or do not work here.
    """
    from importlib import import_module

    try:
        return import_module("xllamacpp")
    except ModuleNotFoundError as error:
        raise UserError(f"llama.cpp is not installed ({error}). Install it: {INSTALL}") from error
    except ImportError as error:
        raise UserError(f"llama.cpp cannot be used here: {error}. Install it again: {INSTALL}") from error


def _parameters(engine: ModuleType, path: str, context: int) -> Any:
    parameters = engine.CommonParams()
    parameters.model.path = path
    parameters.n_ctx = context
    parameters.n_parallel = 1
    parameters.n_batch = _BATCH
    parameters.ctx_shift = False  # an overflow is an error, upon which pi compacts, and not silent forgetting
    parameters.cache_ram_mib = 0  # else up to 8 GB of older prompts
    parameters.warmup = False
    parameters.verbosity = _ERRORS_ONLY
    # It listens on a port even if unused: only on the loopback interface, with a secret key.
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [secrets.token_urlsafe(32)]
    parameters.ui = parameters.endpoint_props = parameters.endpoint_slots = False
    return parameters


def _free_memory(engine: ModuleType) -> int:
    """Return the bytes that are free, of this computer and of graphics cards with memory of their own."""
    import psutil  # type: ignore[import-untyped]

    cards = sum(
        int(device.get("memory_free", 0))
        for device in engine.get_device_info()
        if str(getattr(device.get("type"), "name", "")).endswith("_GPU")  # and not IGPU, which shares the memory
    )
    return int(psutil.virtual_memory().available) + cards


def _with_calls(chunk: dict[str, Any], splitter: CallSplitter) -> Iterator[dict[str, Any]]:
    """Yield a chunk with the calls of its text as calls; its last text is that before the chunk with the reason."""
    choice = next(iter(chunk.get("choices") or ()), None)
    if choice is None:
        yield chunk
        return
    delta = choice.get("delta") or {}
    text = delta.pop("content", None) or ""
    pieces = [*splitter.feed(text)]
    if choice.get("finish_reason"):
        pieces += splitter.end()
        if splitter.calls and choice["finish_reason"] == "stop":
            choice["finish_reason"] = "tool_calls"
    for piece in pieces:
        yield {"choices": [{"delta": _delta(piece)}]}
    yield chunk


def _delta(piece: Piece) -> dict[str, Any]:
    kind, text = piece
    if kind == "text":
        return {"content": text}
    function = {"name": text} if kind == "call" else {"arguments": text}
    return {"tool_calls": [{"function": function}]}
