"""The options about system prompt, skills, templates and themes: their definition, and the resource loader for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pi_cli._options import PromptOptions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_core.resources import DefaultResourceLoader

__all__ = ["parsed_prompt_options", "prompt_options", "resource_loader"]


def prompt_options() -> list[click.Option]:
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


def parsed_prompt_options(params: Mapping[str, Any]) -> PromptOptions:
    """Return the values of the parsed options."""
    return PromptOptions(
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


def resource_loader(chosen: PromptOptions, environ: Mapping[str, str] | None = None) -> DefaultResourceLoader:
    """Return a loader for the paths of the options; the session adds its folder, settings and plugins."""
    from pi_core.resources import DefaultResourceLoader

    return DefaultResourceLoader(
        no_context_files=chosen.no_context_files,
        no_skills=chosen.no_skills,
        no_prompt_templates=chosen.no_prompt_templates,
        no_themes=chosen.no_themes,
        additional_skill_paths=chosen.skills,
        additional_prompt_template_paths=chosen.prompt_templates,
        additional_theme_paths=chosen.themes,
        additional_source="cli",
        system_prompt=chosen.system_prompt,
        append_system_prompt=chosen.append_system_prompt,
        environ=environ,
    )


def _switch(*declarations: str, **how: Any) -> click.Option:
    return click.Option(declarations, is_flag=True, **how)


def _text(*declarations: str, **how: Any) -> click.Option:
    return click.Option(declarations, **how)
