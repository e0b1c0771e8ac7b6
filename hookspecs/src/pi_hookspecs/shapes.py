"""Python types as JSON: the JSON schema of a type, and the conversion of valid JSON to its values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs._annotations import Shape, UnsupportedAnnotation, describe

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Shape", "UnsupportedAnnotation", "shape_of"]


def shape_of(annotation: Any, schemas: Mapping[Any, Mapping[str, Any]] | None = None) -> Shape:
    """Return the JSON form of a type, by the rules for tool parameters.

    Args:
        annotation: ``str``, ``int``, ``float``, ``bool``, ``Path``, a list, tuple or dict of these, ``Literal``, an
            ``Enum``, a ``TypedDict``, an attrs class, a dataclass, or a union of these.
        schemas: JSON schemas of other types that occur in it, or of these types in place of their own. Values of
            such a type are loaded as the JSON that they are.

    Raises:
        UnsupportedAnnotation: It has no JSON schema; the message says which part.
    """
    return describe(annotation, schemas)
