"""The options that say what the model is told: their grammar, and the resource loader that they make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pi_cli._options import Told

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_core.resources import DefaultResourceLoader

__all__ = ["resource_loader", "told", "told_options"]


def told_options() -> list[click.Option]:
    """Return the options."""
    return [
        _text("--system-prompt", metavar="TEXT|FILE", help="Say this in place of pi's own system prompt"),
        _text("--append-system-prompt", metavar="TEXT|FILE", multiple=True, help="Say this, too *"),
        _switch("-nc", "--no-context-files", help="Leave AGENTS.md and CLAUDE.md out"),
        _text("--skill", metavar="PATH", multiple=True, help="Use this skill, or the skills in this folder *"),
        _switch("-ns", "--no-skills", help="Use no skills but those of --skill"),
        _text("--prompt-template", metavar="PATH", multiple=True, help="Use this template or folder *"),
        _switch("-np", "--no-prompt-templates", help="Use no templates but those of --prompt-template"),
        _text("--theme", metavar="PATH", multiple=True, help="Use this theme or folder *"),
        _switch("--no-themes", help="Use no theme files but those of --theme"),
    ]


def told(params: Mapping[str, Any]) -> Told:
    """Return what the parsed options say."""
    return Told(
        system_prompt=params["system_prompt"],
        append_system_prompt=tuple(params["append_system_prompt"] or ()),
        no_context_files=params["no_context_files"],
        skills=tuple(params["skill"] or ()),
        no_skills=params["no_skills"],
        prompt_templates=tuple(params["prompt_template"] or ()),
        no_prompt_templates=params["no_prompt_templates"],
        themes=tuple(params["theme"] or ()),
        no_themes=params["no_themes"],
    )


def resource_loader(said: Told, environ: Mapping[str, str] | None = None) -> DefaultResourceLoader:
    """Return the loader that looks where the options say; the session adds what it knows."""
    from pi_core.resources import DefaultResourceLoader

    return DefaultResourceLoader(
        no_context_files=said.no_context_files,
        no_skills=said.no_skills,
        no_prompt_templates=said.no_prompt_templates,
        no_themes=said.no_themes,
        additional_skill_paths=said.skills,
        additional_prompt_template_paths=said.prompt_templates,
        additional_theme_paths=said.themes,
        additional_source="cli",
        system_prompt=said.system_prompt,
        append_system_prompt=said.append_system_prompt,
        environ=environ,
    )


def _switch(*declarations: str, **how: Any) -> click.Option:
    return click.Option(declarations, is_flag=True, **how)


def _text(*declarations: str, **how: Any) -> click.Option:
    return click.Option(declarations, **how)
