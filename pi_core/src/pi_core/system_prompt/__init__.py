"""What the model is told before the conversation: sections, each with who put it there."""

from __future__ import annotations

from pi_core.system_prompt.builder import SystemPromptBuilder
from pi_core.system_prompt.rendered import PromptPart, SystemPrompt

__all__ = ["PromptPart", "SystemPrompt", "SystemPromptBuilder"]
