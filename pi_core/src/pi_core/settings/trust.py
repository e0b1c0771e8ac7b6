"""Whether a project's own files may be used: who decides, in which order, and what is left out.

A folder that was cloned from somewhere can hold settings, code and instructions. Nothing of it counts before somebody
has said so: an option, a plugin, ``trust.json`` or the user's setting ``defaultProjectTrust``, in this order.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from pi_core.base.json_file import UnusableFile, change_text, format_object, parse_object, read_text, short_json
from pi_core.base.paths import home_dir
from pi_hookspecs import UserError
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["ProjectTrust", "TrustStore", "project_resources"]

_IN_PI = ("settings.json", "mcp.json", "extensions", "skills", "prompts", "themes", "SYSTEM.md", "APPEND_SYSTEM.md")
"""What in ``.pi`` needs trust."""

_DECIDE = "Run pi trust to use them from now on"
_REPAIR = "Repair or remove trust.json, which decides for no folder as it is"


@frozen(kw_only=True, eq=False, repr=False)
class ProjectTrust(Value):
    """A decision about one project.

    Attributes:
        cwd: The project's folder, without symbolic links.
        is_trusted: Whether somebody said yes. Where nobody has decided, the answer is no, also while the project has
            nothing that needs trust: it may get something at any time.
        why: Who decided, as a sentence without its full stop.
        decided: Whether anybody did.
        resources: What the project has that needs trust.
        remedy: What to do about it where nobody decided, as a sentence without its full stop.
    """

    cwd: Path
    is_trusted: bool
    why: str
    decided: bool = True
    resources: tuple[Path, ...] = ()
    remedy: str = _DECIDE

    @classmethod
    def given(cls, cwd: str | Path, *, is_trusted: bool, why: str = "the program says so") -> ProjectTrust:
        """Return a decision that was made elsewhere."""
        folder = _resolved(cwd)
        return cls(cwd=folder, is_trusted=is_trusted, why=why, resources=tuple(project_resources(folder)))

    @classmethod
    def decide(
        cls, cwd: str | Path, agent_dir: str | Path, *, default: str = "ask", environ: Mapping[str, str] | None = None
    ) -> ProjectTrust:
        """Decide as ``trust.json`` says, else as the user's default does; nobody is asked.

        Args:
            cwd: The project's folder.
            agent_dir: The folder with ``trust.json``.
            default: ``always``, ``never`` or ``ask``, the setting ``defaultProjectTrust``.
            environ: Where the home folder is looked up, whose own skills need no trust.
        """
        folder = _resolved(cwd)
        is_trusted: bool | None = None
        why, remedy = "it has not been decided yet", _DECIDE
        try:
            saved = TrustStore(agent_dir).decision(folder, environ)
        except UserError as error:  # what it says may be no: the default does not count either
            why, remedy = str(error), _REPAIR
        else:
            if saved is not None:
                is_trusted, why = saved[1], f"trust.json says so of {saved[0]}"
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
        return _resolved(cwd) == self.cwd

    @property
    def skipped(self) -> tuple[Path, ...]:
        """What is there and does not count."""
        return () if self.is_trusted else self.resources

    @property
    def notice(self) -> str | None:
        """What the user should know where nobody has decided: what was left out, and what to do about it; else None."""
        if self.decided or not self.skipped:
            return None
        return (
            f"{self.cwd} is not trusted ({self.why}); not used: {self.named_resources}."
            f" {self.remedy}, or add --approve for this run"
        )

    @property
    def named_resources(self) -> str:
        """The resources, named from the project's folder where they are in it."""
        paths = (path.relative_to(self.cwd) if path.is_relative_to(self.cwd) else path for path in self.resources)
        return ", ".join(map(str, paths))


class TrustStore:
    """``trust.json``: an object of folders, each true or false; null is no decision.

    Args:
        agent_dir: The folder it is in.
    """

    def __init__(self, agent_dir: str | Path) -> None:
        self.file = Path(agent_dir, "trust.json")

    def decisions(self) -> dict[str, bool]:
        """Return every decision by its folder.

        Raises:
            UserError: The file cannot be used.
        """
        values = self._checked(read_text(self.file))
        return {folder: value for folder, value in values.items() if value is not None}

    def decision(self, cwd: str | Path, environ: Mapping[str, str] | None = None) -> tuple[Path, bool] | None:
        """Return what is decided for a folder, or for the closest above it, and which folder that is.

        Trust ends where another git repository begins that has files which need trust: a clone that a trusted folder
        holds is somebody else's work. A refusal covers clones, too.

        Args:
            cwd: The folder.
            environ: Where the home folder is looked up, whose own skills need no trust.

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
            if not in_other_repository and os.path.lexists(each / ".git"):
                in_other_repository = any(project_resources(folder, environ))
        return None

    def remember(self, folder: str | Path, *, trusted: bool | None) -> None:
        """Decide for a folder and all below it; None forgets the decision. Those of other folders stay.

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

    def _checked(self, text: str | None) -> dict[str, bool | None]:
        values = parse_object(text or "", str(self.file))
        wrong = next((key for key, value in values.items() if not isinstance(value, bool | None)), None)
        if wrong is not None:
            raise UnusableFile(f"{self.file}: {wrong!r} must be true, false or null, not {short_json(values[wrong])}")
        return values


def project_resources(cwd: Path, environ: Mapping[str, str] | None = None) -> Iterator[Path]:
    """Go through what a project has that needs trust: in ``.pi``, and ``.agents/skills`` up to the root of its git.

    Args:
        cwd: The project's folder, without symbolic links.
        environ: Where the home folder is looked up: the skills in its own ``.agents`` are the user's.
    """
    folder = cwd / ".pi"
    if os.path.lexists(folder):
        yield from (folder / name for name in _IN_PI if os.path.lexists(folder / name))
    home = os.path.realpath(home_dir(environ))
    for each in (cwd, *cwd.parents):
        skills = each / ".agents" / "skills"
        if os.path.lexists(skills) and os.path.realpath(each) != home:
            yield skills
        if os.path.lexists(each / ".git"):
            return


def _comparable(folder: str | Path) -> str:
    return os.path.normcase(os.path.normpath(folder))


def _resolved(folder: str | Path) -> Path:
    """Return a folder without symbolic links, so that a link is as trusted as what it leads to."""
    try:
        return Path(folder).resolve()
    except (OSError, ValueError, RuntimeError):  # it is gone, or no folder can have this name
        return Path(folder)
