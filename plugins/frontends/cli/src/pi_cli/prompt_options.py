"""The options about system prompt, skills, templates and themes: their values, and the resource loader for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_cli.options import PromptOptions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_core import DefaultResourceLoader

__all__ = ["parsed_prompt_options", "resource_loader"]


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
    from pi_core import DefaultResourceLoader

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
