"""Delegation: methods and attributes of a composed object that forward to its parts.

A hand-written delegate would repeat signature and docstring; these helpers take both from the part, for type checkers
as well. ``forward`` is for parts whose class is imported anyway, ``forward_by_name`` for parts that are typed by a
protocol, and ``Method`` for parts that are created on first use.
"""

from __future__ import annotations

from functools import wraps
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Method", "attribute", "forward", "forward_by_name"]

P = ParamSpec("P")
R = TypeVar("R")


def forward(part: str, method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """Return a method that calls a method of a part, looked up at each call.

    Args:
        part: The attribute that holds the part; dots lead to a part of a part, as in ``"tree.index"``.
        method: The method that the part's class defines.
    """
    part_of = attrgetter(part)

    @wraps(method)
    def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return method(part_of(self), *args, **kwargs)

    return call


def forward_by_name(part: str, method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """Return a method that calls the method of the same name on a part; both are looked up at each call.

    Args:
        part: As for ``forward``.
        method: The method, as declared by a protocol that the part implements.
    """
    part_of, name = attrgetter(part), method.__name__

    @wraps(method)
    def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        answer: R = getattr(part_of(self), name)(*args, **kwargs)
        return answer

    return call


class Method(Generic[P, R]):
    """A method of a part: ``abort_retry = Method("parts.retry.abort", lambda: Retry.abort)``.

    Args:
        path: Dotted path of the method from the facade. The parts on that path are created on first use.
        signature: Returns the method's function. Type checkers and editors read the signature from it; it is never
            called, so the names in it need only be imported for type checkers.
    """

    def __init__(self, path: str, signature: Callable[[], Callable[Concatenate[Any, P], R]]) -> None:
        del signature
        self._find: Callable[[object], Callable[P, R]] = attrgetter(path)

    def __call__(self, facade: object, /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the method of a facade's part, as in ``AgentSession.start(session)``."""
        return self._find(facade)(*args, **kwargs)

    def __get__(self, facade: object, owner: type | None = None) -> Callable[P, R]:
        """Return the bound method of the part."""
        return self._find(facade) if facade is not None else self  # type: ignore[return-value]


def attribute(path: str, doc: str, *, writable: bool = False) -> Any:
    """Return a property that forwards to an attribute of a part; it is read-only unless ``writable``."""
    if not writable:
        return property(attrgetter(path), doc=doc)
    part, _, name = path.rpartition(".")
    part_of = attrgetter(part)

    def write(facade: object, value: Any) -> None:
        setattr(part_of(facade), name, value)

    return property(attrgetter(path), write, doc=doc)
