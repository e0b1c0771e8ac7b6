"""Checks a plugin's code without running it: hooks, arguments, and effects at import."""

from __future__ import annotations

import ast
from difflib import get_close_matches
from typing import TYPE_CHECKING

from pi_cli.checking.contracts import lowest_version, read_contract
from pi_cli.checking.findings import Finding
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from pi_cli.checking.contracts import Contract
    from pi_cli.checking.findings import Level
    from pi_cli.checking.subject import Subject

__all__ = ["check_sources"]

_HEAVY = frozenset(
    {"aiohttp", "anthropic", "boto3", "botocore", "google.genai", "httpx", "langchain", "mistralai", "numpy", "openai"}
    | {"pandas", "requests", "scipy", "tensorflow", "torch", "transformers"}
)
"""Vendor clients and other libraries that are slow to import and would delay pi's start."""

_EFFECTS = ("asyncio.run", "input", "open", "os.system", "print", "requests.", "socket.", "subprocess.", "time.sleep")
"""Calls with effects at import, by prefix of their dotted names; a name without a dot must match exactly."""


def check_sources(subject: Subject, against: Contract | None) -> Iterator[Finding]:
    """Yield the problems in a plugin's files.

    Args:
        subject: The plugin.
        against: The contract to compare it with; None for the current one.
    """
    contract = against if against is not None else read_contract()
    lowest = lowest_version(subject.requires)
    floor = None
    if against is None and lowest is not None:
        try:
            floor = read_contract(lowest)
        except UserError:  # a version that this pi does not know is compared by the metadata
            floor = None
    for file in subject.sources:
        yield from _File(file, subject.shown(file), contract, floor).findings()


class _File:
    """One file. ``floor`` is the contract of the oldest version that the plugin's requirement allows."""

    def __init__(self, file: Path, shown: Path, contract: Contract, floor: Contract | None) -> None:
        self._file, self._shown = file, shown
        self._contract, self._floor = contract, floor

    def findings(self) -> Iterator[Finding]:
        try:
            tree = ast.parse(self._file.read_bytes())
        except (OSError, SyntaxError, ValueError) as error:
            line = getattr(error, "lineno", None)
            yield self._found("error", f"It cannot be read: {getattr(error, 'msg', None) or error}", line)
            return
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield from self._implementation(node)
            elif isinstance(node, ast.ImportFrom):
                yield from self._imported_names(node)
            elif isinstance(node, ast.Call):
                yield from self._listener(node)
            elif isinstance(node, ast.Attribute):
                yield from self._deprecated(node)
            yield from self._private(node)
        yield from self._at_import(tree.body)

    def _found(self, level: Level, message: str, line: int | None) -> Finding:
        return Finding("static", level, message, self._shown, line)

    # Hooks

    def _implementation(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Finding]:
        mark = next((each for each in node.decorator_list if _is_hookimpl(each)), None)
        if mark is None:
            return
        keywords = {each.arg: each.value for each in mark.keywords} if isinstance(mark, ast.Call) else {}
        named = keywords.get("specname")
        hook = named.value if isinstance(named, ast.Constant) and isinstance(named.value, str) else node.name
        if "optionalhook" in keywords and hook not in self._contract.hooks:
            return
        yield from self._hook(hook, node.lineno, is_optional="optionalhook" in keywords)
        described = self._contract.hooks.get(hook)
        if described is None:
            return
        for argument in _arguments(node):
            if argument not in described["parameters"]:
                takes = ", ".join(described["parameters"]) or "no argument"
                yield self._found("error", f"{hook} has no argument {argument!r}; it has {takes}", node.lineno)
        if isinstance(node, ast.AsyncFunctionDef) and not described["async"]:
            yield self._found("error", f"{hook} cannot be async: its result is needed immediately", node.lineno)

    def _hook(self, hook: str, line: int, *, is_optional: bool = False) -> Iterator[Finding]:
        known, version = self._contract.hooks, self._contract.version
        if hook not in known:
            near = get_close_matches(hook, known, 1)
            hint = f". Did you mean {near[0]!r}?" if near else ". pi hooks lists them"
            yield self._found("error", f"pi {version} has no hook {hook!r}{hint}", line)
            return
        if mark := known[hook].get("deprecated"):
            yield self._found("error", f"{hook} is deprecated since {mark['since']}: use {mark['use']}", line)
        if self._floor is not None and hook not in self._floor.hooks and not is_optional:
            since = known[hook]["since"]
            yield self._found(
                "warning",
                f"{hook} exists since {since}, but the requirement allows {self._floor.version}: require"
                f" pluggypi-hookspecs>={since}",
                line,
            )

    def _listener(self, node: ast.Call) -> Iterator[Finding]:
        """Yield the problems of ``pi.on("hook", ...)``."""
        if _dotted(node.func) == "pi.on" and node.args:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield from self._hook(first.value, node.lineno)

    def _deprecated(self, node: ast.Attribute) -> Iterator[Finding]:
        if (
            isinstance(node.value, ast.Name)
            and node.value.id in ("ctx", "pi")
            and node.attr in self._contract.deprecated
        ):
            use = self._contract.deprecated[node.attr]
            yield self._found("error", f"{node.value.id}.{node.attr} is deprecated: use {use}", node.lineno)

    # Imports

    def _imported_names(self, node: ast.ImportFrom) -> Iterator[Finding]:
        if node.module != "pi_hookspecs" or node.level:
            return
        names = [each.name for each in node.names if each.name != "*" and not _is_module(each.name)]
        for name in names:
            if name not in self._contract.names:
                yield self._found("error", f"pi_hookspecs {self._contract.version} has no {name!r}", node.lineno)
        newer = (
            [] if self._floor is None else [name for name in names if name in self._contract.names - self._floor.names]
        )
        if self._floor is not None and newer:
            message = (
                f"pi_hookspecs {self._floor.version}, which the requirement allows, does not have {', '.join(newer)}"
            )
            yield self._found("warning", message, node.lineno)

    def _private(self, node: ast.AST) -> Iterator[Finding]:
        modules: list[str] = []
        if isinstance(node, ast.Import):
            modules = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules = [node.module, *(f"{node.module}.{each.name}" for each in node.names)]
        for module in modules:
            first, *rest = module.split(".")
            if first in ("pi_core", "pi_hookspecs") and any(each.startswith("_") for each in rest):
                message = f"{module} is private to pi, and may change with every version"
                yield self._found("error", message, getattr(node, "lineno", None))
                return

    def _at_import(self, body: Iterable[ast.stmt]) -> Iterator[Finding]:
        """Yield the effects of statements that run at import."""
        for node in body:
            if isinstance(node, ast.If):
                if not _is_not_run(node.test):
                    yield from self._at_import(node.body)
                yield from self._at_import(node.orelse)
            elif isinstance(node, ast.Try | ast.With):
                yield from self._at_import(node.body)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                yield from self._heavy(node)
            elif isinstance(node, ast.Expr | ast.Assign | ast.AnnAssign):
                value = node.value
                if isinstance(value, ast.Call) and (isinstance(node, ast.Expr) or _has_effect(_dotted(value.func))):
                    message = f"{_dotted(value.func) or 'a function'}() is called at import: move it into a hook"
                    yield self._found("warning", message, node.lineno)

    def _heavy(self, node: ast.Import | ast.ImportFrom) -> Iterator[Finding]:
        if isinstance(node, ast.ImportFrom):
            modules = (
                []
                if node.level or not node.module
                else [node.module, *(f"{node.module}.{each.name}" for each in node.names)]
            )
        else:
            modules = [each.name for each in node.names]
        for module in modules:
            if module in _HEAVY or module.partition(".")[0] in _HEAVY:
                message = (
                    f"{module} is imported with the plugin, and is slow to import: import it inside the function "
                    f"that uses it"
                )
                yield self._found("warning", message, node.lineno)
                return


def _is_hookimpl(node: ast.expr) -> bool:
    name = _dotted(node.func if isinstance(node, ast.Call) else node)
    return name.rpartition(".")[2] == "hookimpl"


def _arguments(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """Return the arguments that pluggy passes, which are those without a default."""
    given = [*node.args.posonlyargs, *node.args.args]
    required = given[: len(given) - len(node.args.defaults)]
    return [
        each.arg.lstrip("_") if each.arg.startswith("_") else each.arg
        for each in required
        if each.arg not in ("self", "cls")
    ]


def _dotted(node: ast.expr) -> str:
    """Return a dotted name, ``a.b.c``, as in the source; empty for other expressions."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = _dotted(node.value)
        return f"{before}.{node.attr}" if before else ""
    return ""


def _has_effect(name: str) -> bool:
    return any(name.startswith(each) if each.endswith(".") else name == each for each in _EFFECTS)


def _is_not_run(test: ast.expr) -> bool:
    """Whether an ``if`` block is only for type checkers or for scripts."""
    if isinstance(test, ast.Compare):
        return isinstance(test.left, ast.Name) and test.left.id == "__name__"
    return _dotted(test).rpartition(".")[2] == "TYPE_CHECKING"


def _is_module(name: str) -> bool:
    from importlib.util import find_spec

    return find_spec(f"pi_hookspecs.{name}") is not None
