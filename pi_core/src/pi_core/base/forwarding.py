"""``forward``: a public method of a composed object that is a method of one of its parts.

A hand-written delegate repeats signature and docstring; this one takes both from the part, for type checkers as well.
"""

from __future__ import annotations

from functools import wraps
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["forward"]

P = ParamSpec("P")
R = TypeVar("R")


def forward(part: str, method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """Return a method that calls another one on a part, looked up at each call.

    Args:
        part: The attribute that holds the part; dots lead to a part of a part, as in ``"tree.index"``.
        method: The method, as the part's class defines it.
    """
    part_of = attrgetter(part)

    @wraps(method)
    def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return method(part_of(self), *args, **kwargs)

    return call
