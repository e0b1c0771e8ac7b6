"""An extension's file as a plugin object: run fresh each time, under a module name of its own."""

from __future__ import annotations

import importlib.util
import sys
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, SourceFileLoader
from itertools import count
from typing import TYPE_CHECKING, Any

from pi_hookspecs import PiError, hookimpl

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import CodeType, ModuleType

__all__ = ["forget", "load"]

_PREFIX = "_pi_extensions_"
_numbers = count(1)


class _Fresh(SourceFileLoader):
    """Compiles what the file says now: bytecode is told apart by a time of whole seconds, and people are faster."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def load(path: Path, name: str) -> ModuleType:
    """Run an extension's file, or its package, and return the module; raises whatever it raises.

    An ``activate`` without ``@hookimpl`` is marked: in a file that is an extension nothing else can be meant.
    """
    module_name = f"{_PREFIX}{next(_numbers)}_{''.join(each if each.isidentifier() else '_' for each in name)}"
    spec = importlib.util.spec_from_file_location(
        module_name,
        path,
        loader=_Fresh(module_name, str(path)),
        submodule_search_locations=[str(path.parent)] if path.name == "__init__.py" else None,
    )
    if spec is None:
        raise PiError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module  # dataclasses, pickle and relative imports look it up there
    try:
        with _no_bytecode():
            _run(spec, module)
    except BaseException:
        forget(module)
        raise
    activate: Any = vars(module).get("activate")
    if callable(activate) and not hasattr(activate, "pi_impl"):
        hookimpl(activate)
    return module


def forget(module: object) -> None:
    """Drop a module of an extension that is not used any more, and those below it."""
    name = getattr(module, "__name__", "")
    if name.startswith(_PREFIX):
        for each in [each for each in sys.modules if each == name or each.startswith(f"{name}.")]:
            del sys.modules[each]


def _run(spec: ModuleSpec, module: ModuleType) -> None:
    assert spec.loader is not None  # noqa: S101 - it was given
    spec.loader.exec_module(module)


@contextmanager
def _no_bytecode() -> Iterator[None]:
    """Leave no ``__pycache__`` in the user's folders; what stands there could be older than the second it claims."""
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        yield
    finally:
        sys.dont_write_bytecode = before
