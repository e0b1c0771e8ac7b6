"""The system prompt: sections of text, each with the plugin or option that it comes from."""

from __future__ import annotations

from pi_core.system_prompt.builder import PromptInputs, SystemPromptBuilder
from pi_core.system_prompt.render import PromptPart, SystemPrompt

__all__ = ["PromptInputs", "PromptPart", "SystemPrompt", "SystemPromptBuilder"]
