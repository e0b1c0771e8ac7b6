"""Conversion between JSON values and the contract's classes, for session files, RPC and JSON mode."""

from pi_core.wire.converter import (
    content_from_wire,
    dumps,
    entry_from_wire,
    from_wire,
    header_from_wire,
    is_on_wire,
    lost_on_wire,
    message_from_wire,
    model_from_wire,
    to_wire,
    wire_name,
)

__all__ = [
    "content_from_wire",
    "dumps",
    "entry_from_wire",
    "from_wire",
    "header_from_wire",
    "is_on_wire",
    "lost_on_wire",
    "message_from_wire",
    "model_from_wire",
    "to_wire",
    "wire_name",
]
