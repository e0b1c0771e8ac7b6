"""Reads the metadata of a GGUF file without reading the model: the pairs before the first long list.

Lists of a vocabulary have hundreds of thousands of texts, which only a walk through all of them would skip. What is
wanted from behind them, the chat template above all, is looked for by its name instead.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from pi_hookspecs.errors import UserError

if TYPE_CHECKING:
    from io import BufferedReader
    from pathlib import Path

__all__ = ["Header", "read_header"]

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_PIECE = 1 << 20
_LIMIT = 64 << 20
"""Bytes of a header that are read at most; the largest vocabularies take some 20 MB."""
_MOST_PAIRS = 100_000
_LONGEST_TEXT = 4 << 20
_LONG_LIST = 64
"""Elements of a list of texts from which on it is not walked through."""
_TEMPLATE = "tokenizer.chat_template"
_NUMBERS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
"""Types of values that have a fixed size, by the format's number of them."""
_TEXT, _LIST = 8, 9


@frozen(kw_only=True)
class Header:
    """What is known of a model.

    Attributes:
        architecture: ``llama``, ``qwen2`` and so on.
        name: As its makers call it; may be empty.
        kind: ``model``, or what else the file is: ``adapter``, ``mmproj``.
        context_length: Tokens that it was trained for; 0 if the file does not say.
        layers: Blocks of the network; 0 if the file does not say.
        cache_width: Values that the cache keeps of a token in one layer.
        thinks: Whether the template has marks of thinking.
        template: The chat template, in Jinja; empty if there is none.
        tensors: How many there are.
    """

    architecture: str
    name: str = ""
    kind: str = "model"
    context_length: int = 0
    layers: int = 0
    cache_width: int = 0
    thinks: bool = False
    template: str = field(default="", repr=False)
    tensors: int = 0


def read_header(path: Path) -> Header:
    """Return the header of a file.

    Raises:
        UserError: The file cannot be read, or is not a GGUF file, or is damaged; the message says which, and names it.
    """
    try:
        with path.open("rb") as file:
            reading = _Reading(file)
            tensors, pairs = reading.pairs()
            if _TEMPLATE not in pairs:
                pairs[_TEMPLATE] = reading.find(_TEMPLATE)
    except OSError as error:
        raise UserError(f"The model file {str(path)!r} cannot be read: {error.strerror or error}.") from error
    except (ValueError, struct.error) as error:
        raise UserError(
            f"The model file {str(path)!r} is damaged or not a GGUF file: {error}. Download it again, or delete it."
        ) from error
    return _header(tensors, pairs)


def _header(tensors: int, pairs: dict[str, Any]) -> Header:
    architecture, template = _text(pairs, "general.architecture"), _text(pairs, _TEMPLATE)

    def number(name: str) -> int:
        value = pairs.get(f"{architecture}.{name}")
        value = max(value, default=0) if isinstance(value, list) else value  # of each layer
        return value if isinstance(value, int) and value > 0 else 0

    heads = number("attention.head_count")
    size = number("embedding_length") // heads if heads else 0
    keys, values = number("attention.key_length") or size, number("attention.value_length") or size
    return Header(
        architecture=architecture,
        name=_text(pairs, "general.name"),
        kind=_text(pairs, "general.type") or "model",
        context_length=number("context_length"),
        layers=number("block_count"),
        cache_width=(number("attention.head_count_kv") or heads) * (keys + values),
        thinks="<think>" in template,
        template=template,
        tensors=tensors,
    )


def _text(pairs: dict[str, Any], name: str) -> str:
    value = pairs.get(name)
    return value if isinstance(value, str) else ""


class _Reading:
    """A file that is read from its beginning, only as far as needed."""

    def __init__(self, file: BufferedReader) -> None:
        self._file = file
        self._read = bytearray()
        self._at = 0

    def pairs(self) -> tuple[int, dict[str, Any]]:
        """Return the number of tensors, and the pairs up to the first long list of texts.

        Raises:
            ValueError: It is not a GGUF file, or is damaged.
        """
        if self._take(4) != _MAGIC:
            raise ValueError("it does not begin with the letters GGUF")
        version = self._number("<I")
        if version not in _VERSIONS:
            known = " and ".join(map(str, _VERSIONS))
            raise ValueError(f"its format has version {version}, and pi reads {known}")
        tensors, count = self._number("<Q"), self._number("<Q")
        if count > _MOST_PAIRS:
            raise ValueError(f"its header claims {count:,} entries")
        pairs: dict[str, Any] = {}
        for _ in range(count):
            name, kind = self._string(), self._number("<I")
            if kind == _LIST and self._is_long():
                break
            pairs[name] = self._value(kind)
        return tensors, pairs

    def find(self, name: str) -> str:
        """Return a text by its name from wherever it is in the header; empty if it is not found."""
        wanted = struct.pack("<Q", len(name)) + name.encode() + struct.pack("<I", _TEXT)
        start = self._at
        while (place := self._read.find(wanted, start)) < 0:
            start = max(len(self._read) - len(wanted), self._at)
            if not self._more():
                return ""
        self._at = place + len(wanted)
        return self._string()

    def _is_long(self) -> bool:
        """Whether the list that follows has many texts; a list of numbers is short enough to be skipped."""
        self._have(12)
        kind, count = struct.unpack_from("<IQ", self._read, self._at)
        return kind in (_TEXT, _LIST) and count > _LONG_LIST

    def _value(self, kind: int) -> Any:
        if kind in _NUMBERS:
            return self._number(_NUMBERS[kind])
        if kind == _TEXT:
            return self._string()
        if kind != _LIST:
            raise ValueError(f"a value has the unknown type {kind}")
        kind, count = self._number("<I"), self._number("<Q")
        if kind in _NUMBERS:
            size = struct.calcsize(_NUMBERS[kind])
            raw = self._take(count * size)
            if count > _LONG_LIST * _LONG_LIST:  # scores and types of tokens
                return None
            return [each for (each,) in struct.iter_unpack(_NUMBERS[kind], raw)]
        return [self._value(kind) for _ in range(min(count, _LONG_LIST))]

    def _string(self) -> str:
        length = self._number("<Q")
        if length > _LONGEST_TEXT:
            raise ValueError(f"a string claims {length:,} bytes")
        return self._take(length).decode("utf-8", "replace")

    def _number(self, form: str) -> Any:
        return struct.unpack(form, self._take(struct.calcsize(form)))[0]

    def _take(self, size: int) -> bytes:
        self._have(size)
        taken = bytes(self._read[self._at : self._at + size])
        self._at += size
        return taken

    def _have(self, size: int) -> None:
        if self._at + size > _LIMIT:
            raise ValueError(f"its header claims more than {_LIMIT:,} bytes")
        while len(self._read) < self._at + size:
            if not self._more():
                raise ValueError(f"it ends after {len(self._read):,} bytes, in its header")

    def _more(self) -> bool:
        """Read on; return False if there is no more, or enough was read."""
        piece = self._file.read(_PIECE) if len(self._read) < _LIMIT else b""
        self._read += piece
        return bool(piece)
