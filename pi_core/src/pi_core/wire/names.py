"""Names of attributes in JSON: camelCase instead of Python's snake_case."""

from __future__ import annotations

from typing import Any

import attrs

__all__ = ["keeps_unknown_fields", "wire_name"]


def wire_name(name: str) -> str:
    """Return an attribute's name in JSON: ``cache_write_1h`` is ``cacheWrite1h``, ``continue_`` is ``continue``."""
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def keeps_unknown_fields(cls: type[Any]) -> bool:
    """Whether the class stores unknown fields in its own ``extra``."""
    field = attrs.fields_dict(cls).get("extra")
    return field is not None and isinstance(field.default, attrs.Factory)  # type: ignore[arg-type]
