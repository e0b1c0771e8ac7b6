"""Project trust: whether a project's own settings, extensions and instructions are used.

A cloned folder can contain settings, code and instructions. They are not used before the project is trusted by
an option, a plugin, ``trust.json`` or the user's setting ``defaultProjectTrust``, in this order of precedence.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pi_core.base.json_file import UnusableFile, change_text, format_object, parse_object, read_text, short_json
from pi_core.base.paths import home_dir
from pi_hookspecs import UserError
from pi_hookspecs.deferred import frozen
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["ProjectTrust", "TrustStore", "project_resources"]

_IN_PI = (
    "settings.json",
    "mcp.json",
    "hooks.json",
    "pylock.pi.toml",
    "agents",
    "extensions",
    "skills",
    "prompts",
    "themes",
    "SYSTEM.md",
    "APPEND_SYSTEM.md",
)
"""Names in ``.pi`` that are only used in a trusted project."""

_DECIDE = "Run pi trust to use them from now on"
_REPAIR = "Repair or remove trust.json, which decides nothing as it is"


@frozen(kw_only=True, eq=False, repr=False)
class ProjectTrust(Value):
    """A trust decision about one project.

    Attributes:
        cwd: The project's folder, without symbolic links.
        is_trusted: Whether the project is trusted. False while it is undecided, even if the project has no files
            that need trust, because such files may be added at any time.
        why: The reason for the decision, as a sentence without its full stop.
        decided: Whether there is a decision.
        resources: The project's files and folders that need trust.
        remedy: What the user can do if it is undecided, as a sentence without its full stop.
    """

    cwd: Path
    is_trusted: bool
    why: str
    decided: bool = True
    resources: tuple[Path, ...] = ()
    remedy: str = _DECIDE

    @classmethod
    def given(cls, cwd: str | Path, *, is_trusted: bool, why: str = "set by the program") -> ProjectTrust:
        """Return a decision that was made elsewhere."""
        folder = _resolved(cwd)
        return cls(cwd=folder, is_trusted=is_trusted, why=why, resources=tuple(project_resources(folder)))

    @classmethod
    def decide(
        cls, cwd: str | Path, agent_dir: str | Path, *, default: str = "ask", environ: Mapping[str, str] | None = None
    ) -> ProjectTrust:
        """Return the decision in ``trust.json``, else the user's default, without asking the user.

        Args:
            cwd: The project's folder.
            agent_dir: The folder with ``trust.json``.
            default: ``always``, ``never`` or ``ask``, the setting ``defaultProjectTrust``.
            environ: Environment variables, for the home folder, whose own skills need no trust.
        """
        folder = _resolved(cwd)
        is_trusted: bool | None = None
        why, remedy = "it has not been decided yet", _DECIDE
        try:
            saved = TrustStore(agent_dir).decision(folder) or _of_repository(folder, agent_dir)
        except UserError as error:  # it may contain a refusal, so the default is not used either
            why, remedy = str(error), _REPAIR
        else:
            if saved is not None:
                is_trusted, why = saved[1], f"saved in trust.json for {saved[0]}"
            elif default in ("always", "never"):
                is_trusted, why = default == "always", f"the setting defaultProjectTrust is {default}"
        return cls(
            cwd=folder,
            is_trusted=bool(is_trusted),
            why=why,
            decided=is_trusted is not None,
            resources=tuple(project_resources(folder, environ)),
            remedy=remedy,
        )

    def is_about(self, cwd: str | Path) -> bool:
        """Whether this decision is about a folder."""
        return str(cwd) == str(self.cwd) or _resolved(cwd) == self.cwd  # the usual folder is resolved already

    @property
    def skipped(self) -> tuple[Path, ...]:
        """The resources that are not used."""
        return () if self.is_trusted else self.resources

    @property
    def notice(self) -> str | None:
        """A message on the skipped resources and what to do, for an undecided project; else None."""
        if self.decided or not self.skipped:
            return None
        return (
            f"{self.cwd} is not trusted ({self.why}); not used: {self.named_resources}."
            f" {self.remedy}, or add --approve for this run (see pi help security)"
        )

    @property
    def named_resources(self) -> str:
        """The resources as a list in words, relative to the project's folder if they are in it."""
        paths = (path.relative_to(self.cwd) if path.is_relative_to(self.cwd) else path for path in self.resources)
        return ", ".join(map(str, paths))


class TrustStore:
    """``trust.json``: an object of folders, each true or false; null is not a decision.

    Args:
        agent_dir: The folder of the file.
    """

    def __init__(self, agent_dir: str | Path) -> None:
        self.file = Path(agent_dir, "trust.json")

    def decisions(self) -> dict[str, bool]:
        """Return all decisions by folder.

        Raises:
            UserError: The file cannot be used.
        """
        values = self._checked(read_text(self.file))
        return {folder: value for folder, value in values.items() if value is not None}

    def decision(self, cwd: str | Path) -> tuple[Path, bool] | None:
        """Return the decision about a folder or its closest parent with a decision, and the folder of that decision.

        Trust does not extend to another git repository below the folder, because a clone in a trusted folder is other
        people's code: files that need trust may arrive in it later. A refusal extends to clones.

        Args:
            cwd: The folder.

        Raises:
            UserError: The file cannot be used.
        """
        decisions = {_comparable(folder): trusted for folder, trusted in self.decisions().items()}
        if not decisions:
            return None
        folder = _resolved(cwd)
        in_other_repository = False
        for each in (folder, *folder.parents):
            trusted = decisions.get(_comparable(each))
            if trusted is not None:
                return None if trusted and in_other_repository else (each, trusted)
            in_other_repository = in_other_repository or os.path.lexists(each / ".git")
        return None

    def remember(self, folder: str | Path, *, trusted: bool | None) -> None:
        """Store the decision for a folder and everything below it; None removes it. Other decisions are kept.

        Raises:
            UserError: The file cannot be read or written; nothing was changed.
            PiError: Another process holds the file's lock.
        """
        key = str(_resolved(folder))

        def edit(text: str | None) -> str:
            values = self._checked(text)
            values.pop(key, None)
            if trusted is not None:
                values[key] = trusted
            return format_object(values)

        try:
            change_text(self.file, edit, folder_mode=0o700, file_mode=0o600)
        except UnusableFile as error:
            raise UserError(f"{error}. Nothing was changed. {_REPAIR}.") from error

    def remember_parent(self, folder: str | Path) -> None:
        """Store trust in the parent of a folder, and in the folder itself if the parent's trust does not extend to it.

        Raises:
            UserError: The file cannot be read or written.
            PiError: Another process holds the file's lock.
        """
        child = _resolved(folder)
        self.remember(child.parent, trusted=True)
        found = self.decision(child)
        if found is None or not found[1]:
            self.remember(child, trusted=True)

    def _checked(self, text: str | None) -> dict[str, bool | None]:
        values = parse_object(text or "", str(self.file))
        wrong = next((key for key, value in values.items() if not isinstance(value, bool | None)), None)
        if wrong is not None:
            raise UnusableFile(f"{self.file}: {wrong!r} must be true, false or null, not {short_json(values[wrong])}")
        return values


def project_resources(cwd: Path, environ: Mapping[str, str] | None = None) -> Iterator[Path]:
    """Yield the files of a project that need trust.

    They are in ``.pi``, ``.mcp.json``, which names programs to start, ``.claude/agents``, and ``.agents/skills`` up to
    its git repository's root.

    Args:
        cwd: The project's folder, without symbolic links.
        environ: Environment variables, for the home folder: the skills in its ``.agents`` are the user's own.
    """
    folder = cwd / ".pi"
    if os.path.lexists(folder):
        yield from (folder / name for name in _IN_PI if os.path.lexists(folder / name))
    if os.path.lexists(cwd / ".mcp.json"):
        yield cwd / ".mcp.json"
    home = os.path.realpath(home_dir(environ))
    agents = cwd / ".claude" / "agents"
    if os.path.lexists(agents) and os.path.realpath(cwd) != home:
        yield agents
    for each in (cwd, *cwd.parents):
        skills = each / ".agents" / "skills"
        if os.path.lexists(skills) and os.path.realpath(each) != home:
            yield skills
        if os.path.lexists(each / ".git"):
            return


def _of_repository(folder: Path, agent_dir: str | Path) -> tuple[Path, bool] | None:
    """Return the decision about the repository of a folder that is in one of pi's worktrees."""
    if "worktrees" not in folder.parts:
        return None
    from pi_core.base.worktrees import repository_folder

    origin = repository_folder(folder, agent_dir)
    return TrustStore(agent_dir).decision(origin) if origin is not None else None


def _comparable(folder: str | Path) -> str:
    return os.path.normcase(os.path.normpath(folder))


def _resolved(folder: str | Path) -> Path:
    """Return a folder with symbolic links resolved, so that a link is as trusted as its target."""
    try:
        return Path(folder).resolve()
    except (OSError, ValueError, RuntimeError):  # it was removed, or the name is invalid
        return Path(folder)
