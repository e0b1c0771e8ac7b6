"""Loads extensions as plugin objects and runs them anew each time: files under unique names, projects under theirs."""

from __future__ import annotations

import importlib.util
import sys
from contextlib import contextmanager
from functools import reduce
from importlib.machinery import ModuleSpec, SourceFileLoader
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_hookspecs import PiError, UserError, hookimpl

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType, ModuleType

__all__ = ["forget", "load", "load_entry_point"]

_PREFIX = "_pi_extensions_"
_numbers = count(1)


class _Fresh(SourceFileLoader):
    """Always compiles the current file, because bytecode is dated in whole seconds and users edit faster."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def load(path: Path, name: str) -> ModuleType:
    """Run an extension's file or package and return the module; its exceptions are not caught.

    An ``activate`` without ``@hookimpl`` is marked, because in an extension it cannot mean anything else.
    """
    module_name = f"{_PREFIX}{next(_numbers)}_{''.join(each if each.isidentifier() else '_' for each in name)}"
    spec = importlib.util.spec_from_file_location(
        module_name,
        path,
        loader=_Fresh(module_name, str(path)),
        submodule_search_locations=[str(path.parent)] if path.name == "__init__.py" else None,
    )
    if spec is None:
        raise PiError(f"{path} is not a Python file")
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


def load_entry_point(value: str, root: Path) -> object:
    """Import the plugin of a project that is not installed, and return it; its exceptions are not caught.

    Its modules keep their names, by which they import each other. The modules of an earlier load are dropped, unless
    this load fails.

    Args:
        value: ``module`` or ``module:attribute``.
        root: The folder to import from; it is appended to the import path.

    Raises:
        UserError: A module of this name is installed and would be imported instead.
    """
    name, _, attribute = value.partition(":")
    outermost = name.partition(".")[0]
    if str(root) not in sys.path:
        sys.path.append(str(root))
    importlib.invalidate_caches()
    spec = importlib.util.find_spec(outermost)
    if spec is not None and spec.origin is not None and not Path(spec.origin).is_relative_to(root):
        raise UserError(f"a module {outermost!r} is already installed as {spec.origin}. Uninstall it to use this one")
    before = {each: sys.modules.pop(each) for each in _below(outermost)}
    try:
        with _no_bytecode():
            module: object = importlib.import_module(name)
        return reduce(getattr, filter(None, attribute.split(".")), module)
    except BaseException:
        for each in _below(outermost):
            del sys.modules[each]
        sys.modules.update(before)
        raise


def _below(name: str) -> list[str]:
    return [each for each in sys.modules if each == name or each.startswith(f"{name}.")]


def forget(module: object) -> None:
    """Remove an extension's module that is no longer used, and its submodules, from ``sys.modules``."""
    name = getattr(module, "__name__", "")
    if name.startswith(_PREFIX):
        for each in _below(name):
            del sys.modules[each]


def _run(spec: ModuleSpec, module: ModuleType) -> None:
    assert spec.loader is not None  # noqa: S101 - it was given
    spec.loader.exec_module(module)


@contextmanager
def _no_bytecode() -> Iterator[None]:
    """Write no ``__pycache__`` into the user's folders: bytecode could be stale within the second of its date."""
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        yield
    finally:
        sys.dont_write_bytecode = before
