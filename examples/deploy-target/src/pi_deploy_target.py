"""Tells the user and the model where `./deploy.toml` deploys to; not loaded in folders without that file."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

from pi_hookspecs import PromptSection, SystemPromptResult, hookimpl

if TYPE_CHECKING:
    from pathlib import Path

    from pi_hookspecs import PiContext

__all__ = ["pi_when", "session_start", "system_prompt"]

FILE = "deploy.toml"
pi_when = {"files": ["./deploy.toml"]}


def target(cwd: Path) -> str:
    """Return the target that the file names."""
    return str(tomllib.loads((cwd / FILE).read_text(encoding="utf-8")).get("target", "nowhere"))


@hookimpl
def session_start(ctx: PiContext) -> None:
    """Show the target in the status line."""
    ctx.ui.set_status("deploy-target", f"deploys to {target(ctx.cwd)}")


@hookimpl
def system_prompt(ctx: PiContext) -> SystemPromptResult:
    """Add a section for the model."""
    text = f"This project deploys to {target(ctx.cwd)}. Ask before you deploy."
    return SystemPromptResult(sections=(PromptSection(name="deploy_target", text=text, source=str(ctx.cwd / FILE)),))
