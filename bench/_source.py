"""Figures read from the source of all members: what a change has to be written in how many places.

``house.py`` prints them. Nothing is imported; the files are parsed, those of tests and examples are not.
"""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).parent.parent

VERBS: Mapping[str, tuple[str, ...]] = {
    "navigate_tree": ("navigate",),
    "compact": (),
    "set_session_name": ("set_name",),
    "fork": (),
    "clone": (),
    "set_model": (),
    "set_thinking_level": ("set_level",),
    "abort": ("request_abort",),
    "steer": (),
    "follow_up": (),
}
"""Verbs of a session, and the names that the parts of the engine have for them."""


def source_folders(root: Path = ROOT) -> dict[str, Path]:
    """Return the folder of each distribution's package, by the package's name."""
    members = [root / "hookspecs", root / "pi_core", *sorted(root.glob("plugins/*/*"))]
    found = (package for member in members for package in sorted((member / "src").glob("*/")))
    return {package.name: package for package in found if (package / "__init__.py").exists()}


def parse(package: Path) -> dict[str, ast.Module]:
    """Return the syntax tree of each module of a package, by dotted name; templates of new plugins are left out."""
    trees = {}
    for file in sorted(package.rglob("*.py")):
        parts = (package.name, *file.relative_to(package).with_suffix("").parts)
        if "new_plugin_files" not in parts:
            trees[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = ast.parse(file.read_text())
    return trees


def imports(trees: Mapping[str, ast.Module], *, type_checking: bool = True) -> dict[str, set[str]]:
    """Return which modules of a package each of its modules imports, wherever in the file.

    Args:
        trees: The modules of the package.
        type_checking: Whether to include imports under ``if TYPE_CHECKING:``.
    """
    root = next(iter(trees)).partition(".")[0]
    known: dict[str, set[str]] = {}
    for name, tree in trees.items():
        known[name] = set()
        for node in _nodes(tree, type_checking=type_checking):
            if isinstance(node, ast.ImportFrom) and node.module:
                found = {f"{node.module}.{each.name}" for each in node.names}
                known[name] |= {each if each in trees else node.module for each in found}
            elif isinstance(node, ast.Import):
                known[name] |= {each.name for each in node.names}
        known[name] = (known[name] & set(trees)) - {name}
        if root == "pi_core":
            known[name].discard(root)  # it only names what others define, and imports it when it is used
    return known


def _nodes(tree: ast.AST, *, type_checking: bool) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if not type_checking and isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            continue
        yield node
        yield from _nodes(node, type_checking=type_checking)


def cycles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the strongly connected groups of more than one module, the largest first."""
    reached = {name: _reach(name, graph) for name in graph}
    groups = {frozenset(other for other in reached[name] if name in reached[other]) | {name} for name in graph}
    return sorted((sorted(group) for group in groups if len(group) > 1), key=len, reverse=True)


def _reach(start: str, graph: Mapping[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        for name in graph[waiting.pop()] - seen:
            seen.add(name)
            waiting.append(name)
    return seen


def methods(trees: Mapping[str, ast.Module]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield the methods and properties of all classes, those of protocols included."""
    for tree in trees.values():
        for cls in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
            yield from (node for node in cls.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def passes_on(method: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether all that a method does is to call one of a part: ``[return] [await] self.part.name(...)``.

    The arguments are names, as the method's own parameters are, or constants.
    """
    body = _body(method)
    if len(body) != 1 or not isinstance(body[0], ast.Return | ast.Expr):
        return False
    call = body[0].value.value if isinstance(body[0].value, ast.Await) else body[0].value
    if not isinstance(call, ast.Call):
        return False
    given = [*call.args, *(each.value for each in call.keywords)]
    plain = (each.value if isinstance(each, ast.Starred) else each for each in given)
    return _is_member_of_part(call.func) and all(isinstance(each, ast.Name | ast.Constant) for each in plain)


def _body(method: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
    """Return the statements of a method without its docstring and without ``...``."""
    return [each for each in method.body if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))]


def _is_member_of_part(value: ast.expr) -> bool:
    """Whether an expression is ``self.part.name``, or deeper."""
    depth = 0
    while isinstance(value, ast.Attribute):
        value, depth = value.value, depth + 1
    return depth > 1 and isinstance(value, ast.Name) and value.id == "self"


def definitions(trees: Mapping[str, ast.Module]) -> dict[str, list[str]]:
    """Return the modules that define each verb, one for each ``def``."""
    verb_of = {name: verb for verb, others in VERBS.items() for name in (verb, *others)}
    found: dict[str, list[str]] = {verb: [] for verb in VERBS}
    for module, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name in verb_of:
                found[verb_of[node.name]].append(module)
    return found


def inner_imports(trees: Mapping[str, ast.Module]) -> int:
    """Return how many import statements name a module inside ``pi_core``."""
    return sum(
        _is_inner(node.module or "") if isinstance(node, ast.ImportFrom) else any(_is_inner(a.name) for a in node.names)
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom | ast.Import)
    )


def _is_inner(module: str) -> bool:
    return module.startswith("pi_core.")


def plugin_names(root: Path = ROOT) -> set[str]:
    """Return the names of the plugins' entry points."""
    found: set[str] = set()
    for file in root.glob("plugins/*/*/pyproject.toml"):
        found |= set(tomllib.loads(file.read_text())["project"].get("entry-points", {}).get("pi", {}))
    return found


def named_plugins(trees: Mapping[str, ast.Module], plugins: set[str]) -> list[str]:
    """Return the strings that name a plugin or its distribution, docstrings excluded.

    A name that is also a word counts only among others: in a set, list or tuple of which most are such names.
    """
    found = []
    for tree in trees.values():
        texts = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Set | ast.List | ast.Tuple):
                names = [each.value for each in node.elts if isinstance(each, ast.Constant) and each.value in plugins]
                found += [name for name in names if "-" not in name] if len(names) * 2 > len(node.elts) > 2 else []
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in texts:
                words = [word.partition("pluggypi-")[2].rstrip("()'\".,:;") for word in node.value.split()]
                found += [name for name in words if name in plugins]
                found += [node.value] if "-" in node.value and node.value in plugins else []
    return found
