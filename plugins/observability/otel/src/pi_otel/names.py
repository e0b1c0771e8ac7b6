"""The names of the GenAI conventions that pi uses, its own names, and what providers and stop reasons are called there.

The names are those of ``opentelemetry-semantic-conventions`` 0.66b2. That version marks all of them as moved to
``open-telemetry/semantic-conventions-genai``, which has the status Development and no release yet, so nothing is
imported from there: when the names change, this module changes.
"""

from __future__ import annotations

__all__ = ["FINISH_REASONS", "PROVIDERS", "REVISION", "provider_name"]

REVISION = "opentelemetry-semantic-conventions 0.66b2"

AGENT = "pi"

OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
AGENT_NAME = "gen_ai.agent.name"
AGENT_VERSION = "gen_ai.agent.version"
CONVERSATION = "gen_ai.conversation.id"

REQUEST_MODEL = "gen_ai.request.model"
REQUEST_MAX_TOKENS = "gen_ai.request.max_tokens"
REQUEST_TEMPERATURE = "gen_ai.request.temperature"
REQUEST_TOP_P = "gen_ai.request.top_p"
RESPONSE_ID = "gen_ai.response.id"
RESPONSE_MODEL = "gen_ai.response.model"
RESPONSE_FINISH_REASONS = "gen_ai.response.finish_reasons"
RESPONSE_FIRST_CHUNK = "gen_ai.response.time_to_first_chunk"

INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
CACHE_READ_TOKENS = "gen_ai.usage.cache_read.input_tokens"
CACHE_WRITE_TOKENS = "gen_ai.usage.cache_creation.input_tokens"
REASONING_TOKENS = "gen_ai.usage.reasoning.output_tokens"
TOKEN_TYPE = "gen_ai.token.type"  # noqa: S105 - input or output

TOOL_NAME = "gen_ai.tool.name"
TOOL_TYPE = "gen_ai.tool.type"
TOOL_CALL = "gen_ai.tool.call.id"
TOOL_ARGUMENTS = "gen_ai.tool.call.arguments"
TOOL_RESULT = "gen_ai.tool.call.result"

INPUT_MESSAGES = "gen_ai.input.messages"
OUTPUT_MESSAGES = "gen_ai.output.messages"
SYSTEM_INSTRUCTIONS = "gen_ai.system_instructions"

ERROR = "error.type"
OTHER_ERROR = "_OTHER"
SERVER_ADDRESS = "server.address"
SERVER_PORT = "server.port"
HTTP_STATUS = "http.response.status_code"
MCP_METHOD = "mcp.method.name"
MCP_PROTOCOL = "mcp.protocol.version"
TRANSPORT = "network.transport"

TOKEN_USAGE = "gen_ai.client.token.usage"  # noqa: S105 - a metric
OPERATION_DURATION = "gen_ai.client.operation.duration"
FIRST_CHUNK = "gen_ai.client.operation.time_to_first_chunk"
AGENT_DURATION = "gen_ai.invoke_agent.duration"
TOOL_DURATION = "gen_ai.execute_tool.duration"

# pi's own

TURNS = "pi.turns"
STOP_REASON = "pi.stop_reason"
ABORTED = "pi.aborted"
RETRY = "pi.retry.attempt"
PURPOSE = "pi.request.purpose"
PLUGIN = "pi.plugin"
HOOK = "pi.hook"
HOOK_CHANGED = "pi.hook.changed"
HOOK_OUTCOME = "pi.hook.outcome"
REASON = "pi.compaction.reason"
TOKENS_BEFORE = "pi.compaction.tokens_before"
TOKENS_AFTER = "pi.compaction.tokens_after"
HOOK_DURATION = "pi.hook.duration"
COST = "pi.cost"
COMPACTIONS = "pi.compaction.count"

PROVIDERS = {
    "amazon-bedrock": "aws.bedrock",
    "azure-openai-responses": "azure.ai.openai",
    "google": "gcp.gemini",
    "google-gemini-cli": "gcp.gemini",
    "google-vertex": "gcp.vertex_ai",
    "mistral": "mistral_ai",
    "openai-codex": "openai",
    "xai": "x_ai",
}
"""pi's providers that the conventions call otherwise."""

FINISH_REASONS = {"toolUse": "tool_calls", "aborted": "error"}
"""pi's stop reasons that the conventions call otherwise."""

DURATION_BUCKETS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
FIRST_CHUNK_BUCKETS = (0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0)
TOKEN_BUCKETS = tuple(4**power for power in range(14))


def provider_name(provider: str) -> str:
    """Return what the conventions call a provider, else its id in pi."""
    return PROVIDERS.get(provider, provider)
