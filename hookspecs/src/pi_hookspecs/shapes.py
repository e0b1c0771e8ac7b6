"""Python types as JSON: the schema that a type has, and its value for JSON that fits the schema."""

from __future__ import annotations

from typing import Any

from pi_hookspecs._annotations import Shape, UnsupportedAnnotation, describe

__all__ = ["Shape", "UnsupportedAnnotation", "shape_of"]


def shape_of(annotation: Any) -> Shape:
    """Return the JSON that a type takes, by the rules for the parameters of tools.

    Args:
        annotation: ``str``, ``int``, ``float``, ``bool``, ``Path``, a list, tuple or dict of these, ``Literal``, an
            ``Enum``, a ``TypedDict``, an attrs class, a dataclass, or a union of these.

    Raises:
        UnsupportedAnnotation: JSON schema has no word for it; the message says which part.
    """
    return describe(annotation)
