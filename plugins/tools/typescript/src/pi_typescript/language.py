"""The service that makes plugins of files in TypeScript and JavaScript: which Node.js runs them, and how."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from pi_hookspecs import PluginManifest, UserError
from pi_typescript.options import NODE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pi_hookspecs import SettingsView

__all__ = ["TypeScript"]

_HOST = Path(__file__).parent / "host" / "main.js"
_MOST_MEMORY = 1024
"""Megabytes that all extensions together may allocate: one that needs more ends the process, not the computer."""

_PIPES = 'export NODE_USE_ENV_PROXY=1 NODE_COMPILE_CACHE="$0"; exec "$@" 3>&1 4<&0 1>&2 0</dev/null'
"""Moves pi's pipes to descriptors 3 and 4, so that what extensions print is not taken for messages."""


class TypeScript:
    """Runs extensions of the original pi (``ExtensionLanguage``)."""

    suffixes: tuple[str, ...] = (".ts", ".mts", ".cts", ".js", ".mjs", ".cjs")

    def manifest_of(self, file: Path, name: str, settings: SettingsView) -> PluginManifest:
        """Return the plugin of a file.

        Raises:
            UserError: There is no Node.js.
        """
        node = find_node(settings)
        packages = packages_folder(settings.agent_dir)
        options = (f"--max-old-space-size={_MOST_MEMORY}", "--no-warnings")
        cache = str(settings.agent_dir / "cache" / "node")
        command = ("/bin/sh", "-c", _PIPES, cache, node, *options, str(_HOST))
        return PluginManifest(
            name=name,
            command=command,
            contract="1.1",
            folder=file.parent.absolute(),
            agent_dir=settings.agent_dir,
            entry=file.absolute(),
            options={"packages": str(packages) if packages.is_dir() else None},
            registers={"flags": flags_of_source(file)},
        )

    def check(self, file: Path, settings: SettingsView) -> list[tuple[str, str]]:
        """Load a file, and return what is wrong with it and what it registers."""
        from pi_typescript.checking import check_extension

        return check_extension(self.manifest_of(file.absolute(), file.stem, settings))

    def diagnose(self, files: Sequence[Path], settings: SettingsView) -> list[tuple[str, str, str]]:
        """Return which Node.js runs extensions, and what is missing for these files: rows of ``pi doctor``."""
        from pi_typescript.checking import diagnose

        return diagnose(files, settings)

    def install_packages(
        self,
        settings: SettingsView,
        environ: Mapping[str, str],
        say: Callable[[str], object],
        scripts: Sequence[str] | None,
    ) -> None:
        """Fetch the packages that extensions import; nothing if these do not import any.

        Raises:
            UserError: They cannot be fetched.
        """
        from pi_typescript.packages import install_packages, needs_packages

        if scripts is None or any(needs_packages(Path(each)) for each in scripts):
            install_packages(settings, environ, say)


def packages_folder(agent_dir: Path) -> Path:
    """Return the folder that has the packages that extensions import, in ``node_modules``."""
    return agent_dir / "typescript"


def flags_of_source(file: Path) -> list[dict[str, str]]:
    """Return the options that an extension registers, as far as its text says it: they exist before it has run once."""
    try:
        source = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    if "registerFlag" not in source:
        return []
    import re

    found = re.finditer(r"""registerFlag\(\s*["'`]([\w-]+)["'`]\s*,\s*\{([^}]*)\}""", source)
    kinds = {each[1]: re.search(r"""type:\s*["'`](boolean|string)["'`]""", each[2]) for each in found}
    return [{"name": name, "type": kind[1] if kind else "boolean"} for name, kind in kinds.items()]


def find_node(settings: SettingsView) -> str:
    """Return the path of Node.js.

    Raises:
        UserError: There is none.
    """
    configured = settings.get_str(NODE.name, None)
    named = os.path.expanduser(configured) if configured else "node"  # noqa: PTH111 - may be a name to look up
    found = shutil.which(named)
    if found is None:
        why = f"typescript.node in the settings is {configured!r}, not a program" if configured else "no Node.js"
        raise UserError(
            f"{why}. Extensions in TypeScript need Node.js: install 22.18 or newer, or set typescript.node. Everything"
            " else works without it"
        )
    return found
