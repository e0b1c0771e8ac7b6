"""The overlay: folders of installed plugins in the agent directory, which join the end of the import path.

``packages/TAG`` belongs to the user, ``packages/projects/KEY/TAG`` to a trusted project, and ``packages/runs/KEY/TAG``
contains what ``-e`` has installed; TAG is the interpreter and the machine. Each contains ``gen/ID``, an import folder
that is never changed, ``gen/ID.json``, which describes it, and ``current``, which names the current generation. If
nothing is installed, the only cost is one failed ``open``.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from pi_core.settings import Settings

__all__ = [
    "current_generation",
    "describe_generation",
    "join_more",
    "join_overlay",
    "join_packages",
    "joined_generations",
    "leave_overlay",
    "platform_tag",
    "project_root",
    "read_pth",
    "run_root",
    "stable_path",
    "user_root",
]

CURRENT = "current"
GENERATIONS = "gen"


def platform_tag() -> str:
    """Return the interpreter and the machine, such as ``cp311-linux_x86_64``."""
    implementation = "cp" if sys.implementation.name == "cpython" else sys.implementation.name
    version = f"{implementation}{sys.version_info[0]}{sys.version_info[1]}{getattr(sys, 'abiflags', '')}"
    if hasattr(os, "uname"):
        return f"{version}-{sys.platform}_{os.uname().machine}"
    from sysconfig import get_platform  # only on Windows, because the import is slow

    return f"{version}-{get_platform().replace('-', '_')}"


def user_root(agent_dir: Path) -> Path:
    """Return the folder of the user's generations."""
    return agent_dir / "packages" / platform_tag()


def project_root(agent_dir: Path, project: Path) -> Path:
    """Return the folder of a project's generations, by the project's real path.

    It is in the agent directory, so that a cloned repository cannot contain an installed folder.
    """
    from hashlib import sha256

    key = sha256(os.fsencode(os.path.realpath(project))).hexdigest()[:16]
    return agent_dir / "packages" / "projects" / key / platform_tag()


def run_root(agent_dir: Path, source: str) -> Path:
    """Return the folder of what ``-e`` installs for single runs, named after the text given to ``-e``."""
    from hashlib import sha256

    return agent_dir / "packages" / "runs" / sha256(source.encode()).hexdigest()[:16] / platform_tag()


def current_generation(root: Path) -> str | None:
    """Return the name of the current generation; None if nothing is installed."""
    try:
        with open(os.path.join(root, CURRENT), encoding="ascii") as file:  # noqa: PTH118, PTH123 - runs at every start
            name = file.read(100).strip()
    except (OSError, ValueError):
        return None
    return name if name.isalnum() else None


def describe_generation(root: Path, name: str | None) -> dict[str, Any]:
    """Return the content of ``gen/NAME.json``; empty if it does not exist or cannot be read."""
    if name is None:
        return {}
    import orjson

    with suppress(OSError, ValueError):
        described = orjson.loads((root / GENERATIONS / f"{name}.json").read_bytes())
        if isinstance(described, dict):
            return described
    return {}


def join_overlay(root: Path, ahead_of: Path | None = None) -> str | None:
    """Make what is installed below a root importable, and hold its generation until this process ends.

    A process that has joined a generation keeps it, because modules of two generations are not compatible.

    Args:
        root: A result of ``user_root`` or ``project_root``.
        ahead_of: A root that, if it has joined, must come later in the import path, because the project's plugins come
            before the user's.

    Returns:
        The generation's folder; None if nothing is installed.
    """
    root = root.absolute()  # the working directory may change
    known = _joined(root)
    if known is not None:
        return known
    name = current_generation(root)
    while name is not None:
        folder = os.path.join(root, GENERATIONS, name)  # noqa: PTH118 - as above
        if _hold(f"{folder}.json") and os.path.isdir(folder):  # noqa: PTH112 - as above
            later = _joined(ahead_of) if ahead_of is not None else None
            place = sys.path.index(later) if later is not None else len(sys.path)
            sys.path[place:place] = [folder, *(each for each in read_pth(folder)[0] if each not in sys.path)]
            return folder
        former, name = name, current_generation(root)  # removed since ``current`` was read
        if name == former:
            return None
    return None


def join_more(settings: Settings, cwd: Path) -> bool:
    """Make what was installed since the start importable, too; return whether there is anything.

    A later generation joins behind the earlier one only if it merely adds to it, because modules of two versions of a
    distribution are not compatible. A changed version takes effect at the next start.
    """
    user = user_root(settings.agent_dir)
    found = _join_later(user)
    if settings.trust_of(cwd).is_trusted:
        found = _join_later(project_root(settings.agent_dir, cwd), ahead_of=user) or found
    return found


def _join_later(root: Path, ahead_of: Path | None = None) -> bool:
    root = root.absolute()
    prefix = os.path.join(root, GENERATIONS, "")  # noqa: PTH118 - as above
    joined = [entry for entry in sys.path if entry.startswith(prefix)]
    if not joined:
        return join_overlay(root, ahead_of) is not None
    name = current_generation(root)
    folder = f"{prefix}{name}"
    if name is None or folder in joined or not _only_adds(root, joined[-1].removeprefix(prefix), name):
        return False
    if not _hold(f"{folder}.json"):
        return False
    place = sys.path.index(joined[-1]) + 1
    sys.path[place:place] = [folder, *(each for each in read_pth(folder)[0] if each not in sys.path)]
    return True


def _only_adds(root: Path, before: str, name: str) -> bool:
    former = describe_generation(root, before).get("distributions", {})
    latter = describe_generation(root, name).get("distributions", {})
    return all(latter.get(each, {}).get("version") == found["version"] for each, found in former.items())


def leave_overlay(root: Path) -> None:
    """Remove what is installed below a root from the import path, before anything was imported from it."""
    folder = _joined(root)
    if folder is not None:
        paths = {folder, *read_pth(folder)[0]}
        sys.path[:] = [each for each in sys.path if each not in paths]


def join_packages(settings: Settings, cwd: Path | None = None) -> None:
    """Make the user's installed plugins importable, and the project's if its folder is given and trusted."""
    user = user_root(settings.agent_dir)
    join_overlay(user)
    if cwd is not None and settings.trust_of(cwd).is_trusted:
        join_overlay(project_root(settings.agent_dir, cwd), ahead_of=user)


def joined_generations() -> list[str]:
    """Return the folders of the generations that this process has joined."""
    return [each for each in sys.path if stable_path(each) != each and os.path.exists(f"{each}.json")]  # noqa: PTH110


def stable_path(entry: str) -> str:
    """Return an entry of the import path; for a generation the folder of all generations, which never changes."""
    head, between, name = entry.rpartition(f"{os.sep}{GENERATIONS}{os.sep}")
    return head + between if between and name.isalnum() and f"{os.sep}packages{os.sep}" in head else entry


def read_pth(folder: str) -> tuple[list[str], list[str]]:
    """Return the folders that ``.pth`` files add, such as those of editable installs, and lines that would run code.

    Such lines are not run, because a file that an installer left must not decide what runs at each start.
    """
    paths: list[str] = []
    code: list[str] = []
    with suppress(OSError):
        names = sorted(name for name in os.listdir(folder) if name.endswith(".pth"))  # noqa: PTH208 - as above
        for name in names:
            with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:  # noqa: PTH118, PTH123
                lines = [line.strip() for line in file]
            for line in lines:
                if line.startswith(("import ", "import\t")):
                    code.append(f"{name}: {line}")
                elif line and not line.startswith("#"):
                    paths.append(os.path.normpath(os.path.join(folder, line)))  # noqa: PTH118 - as above
    return [path for path in paths if os.path.isdir(path)], code  # noqa: PTH112 - as above


def _joined(root: Path) -> str | None:
    prefix = os.path.join(root.absolute(), GENERATIONS, "")  # noqa: PTH118 - as above
    return next((entry for entry in sys.path if entry.startswith(prefix)), None)


def _hold(file: str) -> bool:
    """Hold a shared lock on a file until this process ends; return False if the file does not exist.

    The descriptor stays open on purpose. A held generation is not removed, because that would break later imports of a
    plugin.
    """
    try:
        descriptor = os.open(file, os.O_RDONLY)
    except FileNotFoundError:
        return False
    except OSError:
        return True  # it exists, but cannot be locked
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:  # it is being removed
        os.close(descriptor)
        return False
    except (ImportError, OSError):  # Windows cannot remove open files; some file systems have no locks
        pass
    return True
