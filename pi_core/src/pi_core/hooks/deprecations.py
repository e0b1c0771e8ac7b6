"""Reports uses of deprecated members by plugins, once for each plugin, with the place in its code.

As long as nothing is deprecated, this costs nothing: objects with deprecated members get a special class whose members
report their use, and all other objects keep their class.
"""

from __future__ import annotations

from functools import wraps
from inspect import currentframe, isroutine
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pi_hookspecs import Deprecated

    Note = Callable[[str, Deprecated, str], None]
    NoteOf = Callable[[Any, str, Deprecated, str], None]

__all__ = ["deprecated_members", "noting_fields", "noting_members", "place_of"]


def deprecated_members(protocol: type) -> dict[str, Deprecated]:
    """Return the marked members of a protocol, including inherited ones."""
    found: dict[str, Deprecated] = {}
    for base in reversed(protocol.__mro__):
        for name, member in vars(base).items():
            mark = getattr(getattr(member, "fget", member), "pi_deprecated", None)
            if mark is not None:
                found[name] = mark
    return found


def place_of(function: Any) -> str:
    """Return where a function is defined, such as ``FILE, line 3``; empty if unknown."""
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return f"{code.co_filename}, line {code.co_firstlineno}" if code is not None else ""


def noting_members(cls: type, marks: Mapping[str, Deprecated], note: NoteOf) -> Any:
    """Return a subclass of ``cls`` whose marked members also report their use; ``cls`` itself without marks.

    Args:
        cls: The class.
        marks: Marks by the names of the members.
        note: Called with the object, the member, its mark, and the place of the use.
    """
    if not marks:
        return cls
    members = {name: _noting(name, getattr(cls, name, None), mark, note) for name, mark in marks.items()}
    return type(cls.__name__, (cls,), {"__doc__": cls.__doc__, "__module__": cls.__module__, **members})


def _noting(name: str, member: Any, mark: Deprecated, note: NoteOf) -> Any:
    if isroutine(member):
        called: Any = member

        @wraps(called)
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            note(self, name, mark, _caller())
            return called(self, *args, **kwargs)

        return call

    def read(self: Any) -> Any:
        note(self, name, mark, _caller())
        if member is not None:
            return member.__get__(self)
        return vars(self)[name] if name in vars(self) else self.__getattr__(name)

    def write(self: Any, value: Any) -> None:
        vars(self)[name] = value

    return property(read, write if member is None else None)


def noting_fields(
    call: Callable[[Any, Any], Any], marks: Mapping[str, Deprecated], note: Note
) -> Callable[[Any, Any], Any]:
    """Return a function of event and context that calls another with an event whose marked fields report reads."""
    classes: dict[type, type] = {}

    def called(event: Any, ctx: Any) -> Any:
        cls = type(event)
        if cls not in classes:
            classes[cls] = noting_members(cls, marks, lambda _event, name, mark, place: note(name, mark, place))
        return call(_copied(event, classes[cls]), ctx)

    return called


def _copied(event: Any, cls: type) -> Any:
    """Return an instance of a subclass with the values in the slots of another object."""
    copied: Any = object.__new__(cls)
    for base in type(event).__mro__:
        for slot in vars(base).get("__slots__", ()):
            if slot != "__weakref__":
                descriptor = vars(base)[slot]
                descriptor.__set__(copied, descriptor.__get__(event))
    vars(copied).update(getattr(event, "__dict__", {}))  # a class without slots of its own has a dict
    return copied


def _caller() -> str:
    """Return the place of the code that uses the member."""
    frame = currentframe()
    for _ in range(2):  # the reporting member, and its caller
        frame = frame.f_back if frame is not None else None
    return f"{frame.f_code.co_filename}, line {frame.f_lineno}" if frame is not None else ""
