"""Every setting: its type, its default and its description. The documentation is generated from it.

Fields are in snake_case, keys in the file in camelCase. Unknown keys are kept: they may belong to a plugin.
"""

# ruff: noqa: RUF009, FBT003 - every field is made by one function that takes its default first

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from attrs import field, frozen

__all__ = ["SettingsSchema"]


def _setting(
    default: Any,
    description: str,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    key: str | None = None,
) -> Any:
    """Return a field with a default, a type's own default if that is a type, and its description in the documentation.

    Args:
        default: The default value.
        description: What it does, a sentence without its full stop.
        at_least: The smallest number.
        at_most: The largest number.
        key: The key in the file, if it is not the field's name in camelCase.
    """
    limits = {"minimum": at_least, "maximum": at_most, "key": key}
    metadata = {"description": description, **{name: limit for name, limit in limits.items() if limit is not None}}
    if isinstance(default, type):
        return field(factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)


@frozen(kw_only=True)
class PackageSettings:
    """What is installed, and from where."""

    packages: list[str | dict[str, Any]] = _setting(
        list, "Packages with plugins, extensions, skills, prompts and themes"
    )
    packages_auto_install: bool = _setting(
        True, "Install locked packages that are missing when pi starts", key="packages.autoInstall"
    )
    packages_installer: list[str] = _setting(
        list, "Command of uv or pip to install packages with, as a list of words", key="packages.installer"
    )
    packages_index: str | None = _setting(
        None,
        "URL of the package index, instead of the one in the configuration of uv or pip",
        key="packages.index",
    )
    packages_find_links: list[str] = _setting(
        list, "Folders and web pages with wheels, in addition to the index", key="packages.findLinks"
    )
    packages_allow_builds: bool = _setting(
        False, "Allow building dependencies from source, which runs their code", key="packages.allowBuilds"
    )
    packages_min_age_days: float = _setting(
        0.0, "Ignore releases that are younger than this many days; needs uv", at_least=0, key="packages.minAgeDays"
    )
    packages_deny: list[str] = _setting(
        list, "Patterns of packages that are neither installed nor loaded", key="packages.deny"
    )
    packages_verify: Literal["attested"] | None = _setting(
        None,
        "Proof that packages of an index need: `attested` requires a valid attestation of their publisher",
        key="packages.verify",
    )
    packages_catalogues: list[str] = _setting(
        list, "Additional catalogues for `pi search`: paths and URLs of JSON files", key="packages.catalogues"
    )


ThinkingLevel: TypeAlias = Literal["off", "minimal", "low", "medium", "high", "xhigh", "max"]

QueueMode: TypeAlias = Literal["one-at-a-time", "all"]

Names: TypeAlias = list[str]


@frozen(kw_only=True)
class CompactionOverride:
    """Settings of one model, under its ``provider/id``."""

    enabled: bool | None = _setting(None, "Compact automatically")
    reserve_tokens: int | None = _setting(None, "Tokens kept free for the answer", at_least=0)
    keep_recent_tokens: int | None = _setting(None, "Tokens of the latest messages that are kept unchanged", at_least=0)


@frozen(kw_only=True)
class CompactionSettings:
    """When a long conversation is summarized."""

    enabled: bool = _setting(True, "Compact the conversation automatically before the model's context window is full")
    reserve_tokens: int = _setting(16_384, "Tokens kept free for the answer", at_least=0)
    keep_recent_tokens: int = _setting(20_000, "Tokens of the latest messages that are kept unchanged", at_least=0)
    model_overrides: dict[str, CompactionOverride] = _setting(dict, "The same for individual models, by `provider/id`")
    pinned: Names = _setting(list, "Sentences that every summary keeps verbatim")


@frozen(kw_only=True)
class BranchSummarySettings:
    """Summaries of abandoned branches."""

    reserve_tokens: int = _setting(16_384, "Tokens kept free for the summary of an abandoned branch", at_least=0)
    skip_prompt: bool = _setting(False, "Leave a branch without offering to summarize it; no summary is written")


@frozen(kw_only=True)
class ProviderRetrySettings:
    """Limits of a single request."""

    timeout_ms: int | None = _setting(
        None, "Milliseconds without a byte after which a request ends; `httpIdleTimeoutMs` if not set", at_least=0
    )
    max_retries: int = _setting(0, "Retries of the transport itself, in addition to pi's", at_least=0)
    max_retry_delay_ms: int = _setting(
        60_000, "Longest wait that a server may ask for, in milliseconds; 0 means no limit", at_least=0
    )


@frozen(kw_only=True)
class RetrySettings:
    """Retries of requests that fail for a temporary reason."""

    enabled: bool = _setting(True, "Retry automatically when a request fails for a temporary reason")
    max_retries: int = _setting(3, "Number of attempts after the first one", at_least=0)
    base_delay_ms: int = _setting(2000, "Milliseconds before the first retry; doubled each time", at_least=0)
    max_delay_ms: int = _setting(60_000, "Longest wait between two retries, in milliseconds", at_least=0)
    max_agent_delay_ms: int | None = _setting(None, "Alias of `retry.maxDelayMs`, which takes precedence", at_least=0)
    jitter: float = _setting(0.0, "Random part of each wait, as a fraction from 0 to 1", at_least=0)
    failover: Names = _setting(list, "Models, as `provider/id`, to continue with if retrying does not help")
    provider: ProviderRetrySettings = _setting(ProviderRetrySettings, "Limits of a single request")


@frozen(kw_only=True)
class ThinkingBudgets:
    """Tokens for thinking, by level."""

    minimal: int | None = _setting(None, "Tokens for thinking at this level", at_least=0)
    low: int | None = _setting(None, "Tokens for thinking at this level", at_least=0)
    medium: int | None = _setting(None, "Tokens for thinking at this level", at_least=0)
    high: int | None = _setting(None, "Tokens for thinking at this level", at_least=0)
    xhigh: int | None = _setting(None, "Tokens for thinking at this level", at_least=0)
    max: int | None = _setting(None, "Tokens for thinking at this level", at_least=0)


@frozen(kw_only=True)
class BashSettings:
    """The tool `bash`."""

    max_output_file_bytes: int = _setting(
        1024**3, "Maximum size, in bytes, of the file with a command's full output", at_least=0
    )
    keep_background: bool = _setting(False, "Keep background processes of a command running when it ends")


@frozen(kw_only=True)
class ImageSettings:
    """Images for the model."""

    auto_resize: bool = _setting(True, "Shrink images to at most 2000x2000")
    block_images: bool = _setting(False, "Do not send images to the model")


@frozen(kw_only=True)
class TerminalSettings:
    """Display options of front ends."""

    show_images: bool = _setting(True, "Show images if the terminal supports them")
    images: Literal["auto", "kitty", "iterm2", "none", False] = _setting(
        "auto", "Protocol of images; `none` or false draws them with half blocks; `auto` detects it"
    )
    image_width_cells: int = _setting(80, "Largest width of an image, in cells", at_least=1)
    hyperlinks: Literal["auto", True, False] = _setting("auto", "Make links clickable (OSC 8); `auto` detects it")
    true_color: Literal["auto", True, False] = _setting("auto", "Use all colours, not only 256; `auto` detects it")
    clear_on_shrink: bool = _setting(False, "Clear lines that are left over when the content shrinks")
    show_terminal_progress: bool = _setting(
        False, "Show progress in the terminal's tab (OSC 9;4) while pi is working, in the full screen"
    )


@frozen(kw_only=True)
class MarkdownSettings:
    """Display of Markdown in front ends."""

    code_block_indent: str = _setting("  ", "Indentation of each line of a code block")
    mermaid: Literal["off", "final", "streaming"] = _setting(
        "final", "Draw Mermaid diagrams: never, when the answer is complete, or when their block is"
    )


@frozen(kw_only=True)
class WarningSettings:
    """Warnings that can be turned off."""

    anthropic_extra_usage: bool = _setting(
        True, "Warn when requests with a sign-in to Anthropic may be billed as extra usage, in the full screen"
    )


@frozen(kw_only=True)
class SystemPromptSettings:
    """What pi adds to the system prompt."""

    date: bool = _setting(False, "Add today's date to the system prompt; this invalidates the prompt cache once a day")


@frozen(kw_only=True)
class MemorySettings:
    """MEMORY.md."""

    enabled: bool = _setting(False, "Offer the memory tools even if there is no MEMORY.md yet")


@frozen(kw_only=True)
class AgentSettings:
    """Tasks that the model hands to agents."""

    enabled: bool | None = _setting(
        None, "Offer the tool `task`. If not set, it is offered if there is an [agent file](agents.md)"
    )
    max_parallel: int = _setting(4, "How many agents of a session work at the same time; others wait", at_least=1)


@frozen(kw_only=True)
class GuardrailRule:
    """One of the user's own rules."""

    action: Literal["allow", "ask", "deny"] | None = _setting(None, "Action if all other fields match")
    tool: str | None = _setting(None, "Pattern of the tool's name; any tool if not set")
    command: str | None = _setting(None, "Pattern of a simple command")
    path: str | None = _setting(None, "Pattern of a file")
    reason: str | None = _setting(None, "Reason, in the user's words")


@frozen(kw_only=True)
class GuardrailAmounts:
    """How much may be spent before the next request, or call, is refused."""

    requests: float | None = _setting(None, "Requests to a model", at_least=0)
    tokens: float | None = _setting(None, "Tokens, sent and received", at_least=0)
    dollars: float | None = _setting(None, "Dollars", at_least=0)
    tool_calls_per_minute: float | None = _setting(None, "Tool calls within a minute", at_least=0)


@frozen(kw_only=True)
class GuardrailLimits:
    """What one prompt and what a session may spend."""

    run: GuardrailAmounts = _setting(GuardrailAmounts, "Limits of one prompt")
    session: GuardrailAmounts = _setting(GuardrailAmounts, "Limits of a session")


@frozen(kw_only=True)
class BudgetAmounts:
    """How much may be used."""

    dollars: float | None = _setting(None, "Dollars", at_least=0)
    tokens: float | None = _setting(None, "Tokens, sent and received", at_least=0)
    requests: float | None = _setting(None, "Requests to a model", at_least=0)
    seconds: float | None = _setting(None, "Seconds, tools included", at_least=0)
    tool_calls: float | None = _setting(None, "Tool calls", at_least=0)


@frozen(kw_only=True)
class BudgetScopes:
    """``budgets.by.NAME``: what the requests of one plugin, or of one agent, may use."""

    run: BudgetAmounts = _setting(BudgetAmounts, "Limits of one prompt")
    session: BudgetAmounts = _setting(BudgetAmounts, "Limits of a session")
    day: BudgetAmounts = _setting(BudgetAmounts, "Limits of a day")
    project: BudgetAmounts = _setting(BudgetAmounts, "Limits of a working directory")
    total: BudgetAmounts = _setting(BudgetAmounts, "Limits of everything in the ledger")


@frozen(kw_only=True)
class BudgetSettings(BudgetScopes):
    """``budgets``: of the plugin of that name."""

    by: dict[str, BudgetScopes] = _setting(
        dict, "The same limits for a plugin's requests, by its name, and for child sessions, by `agent:NAME`"
    )
    unknown_price: Literal["refuse", "tokens", "ignore"] = _setting(
        "tokens",
        "What to do with models of unknown price if dollars are limited: refuse them, count only their tokens and"
        " say so, or count without a notice",
    )


@frozen(kw_only=True)
class RedactSettings:
    """``redact``: of the plugin of that name."""

    enabled: bool = _setting(True, "Keep [secrets](redaction.md) out of stored data")
    provider: bool = _setting(False, "Also replace secrets in requests; tools get the originals")
    output: bool = _setting(False, "Also replace secrets in the output of JSON and RPC mode")
    strict: bool = _setting(False, "Also replace random-looking values of key-like names; refuse invalid patterns")
    patterns: Names = _setting(list, "Additional secrets, as regular expressions")


@frozen(kw_only=True)
class SandboxSettings:
    """``sandbox``: of the plugin of that name."""

    mode: Literal["off", "auto", "bwrap", "landlock", "seatbelt"] = _setting(
        "off", "Engine of the [sandbox](sandbox.md); `auto` selects the first one that works"
    )
    network: Literal["off", "allow", "open"] = _setting(
        "off", "What sandboxed programs can reach: nothing, the hosts in `allow`, or everything"
    )
    allow: Names = _setting(list, "Hosts to allow if `network` is `allow`: `host`, `host:port` or `*.domain`")
    write: Names = _setting(list, "Folders that programs can change, in addition to the working directory")
    deny_read: Names = _setting(list, "Paths that programs cannot read, in addition to keys and logins")
    env: Names = _setting(list, "Environment variables that programs get even though they look like keys")


@frozen(kw_only=True)
class AcpSettings:
    """``acp``: of ``pi acp``."""

    terminal: bool = _setting(False, "Run commands in the [editor's](acp.md) terminals, where pi's limits do not apply")


@frozen(kw_only=True)
class GuardrailSettings:
    """Checks before a tool runs."""

    enabled: bool = _setting(False, "Ask before dangerous commands and writes to protected paths")
    rules: list[GuardrailRule] = _setting(list, "Rules to check before pi's own; the first match applies")
    protected_paths: Names = _setting(list, "Names of additional protected files; `!name` removes one")
    limits: GuardrailLimits = _setting(GuardrailLimits, "[Budgets](budgets.md); no limit if not set")


@frozen(kw_only=True)
class PluginSettings:
    """Which plugins are used, and in which order."""

    disabled: Names = _setting(list, "Plugins to leave out")
    allow: Names | None = _setting(
        None,
        "Patterns of plugins to load; if set, only these and pi's own are loaded. A project can only narrow the list",
    )
    required: Names = _setting(list, "Plugins that must be loaded for a session to start")
    watch: bool = _setting(False, "Log what plugins open, start and connect to without [declaring it](packages.md)")
    order: Names = _setting(list, "Load order of plugins; plugins that are not named keep their positions")
    prefer: dict[str, str] = _setting(
        dict, 'Which plugin wins if several register the same name, for example `{"tool:grep": "tools-fast"}`'
    )


@frozen(kw_only=True)
class HookTimeout:
    """The deadline of one plugin, or of one hook."""

    timeout: float | None = _setting(None, "Seconds that a call may take", at_least=0.001)


@frozen(kw_only=True)
class HookSettings:
    """Deadlines of plugins."""

    timeout: float | None = _setting(
        None, "Seconds that a plugin may take to load or to answer a hook; if not set, 30 or 600", at_least=0.001
    )
    plugins: dict[str, HookTimeout] = _setting(dict, "The same for individual plugins, by name")
    specs: dict[str, HookTimeout] = _setting(dict, "The same for individual hooks, by name")


@frozen(kw_only=True)
class SettingsSchema(PackageSettings):
    """All of ``settings.json``."""

    # Model
    default_provider: str | None = _setting(None, "Provider of new sessions")
    default_model: str | None = _setting(None, "Model of new sessions")
    default_thinking_level: ThinkingLevel = _setting("medium", "Reasoning effort of new sessions")
    model_thinking_levels: dict[str, ThinkingLevel] = _setting(
        dict, "Reasoning effort of new sessions by model, as `provider/id`; `defaultThinkingLevel` for others"
    )
    enabled_models: Names = _setting(list, "Patterns of the models to cycle through, as for `--models`")
    persist_model_choice: bool = _setting(False, "Make a model or thinking level the default when the user selects it")
    cache_warming: Literal["off", "streaming", "idle"] = _setting(
        "streaming",
        "When to keep long prompts in their provider's [cache](cache.md): never, while a prompt is being answered, or"
        " also while pi waits for the next one",
    )
    thinking_budgets: ThinkingBudgets = _setting(ThinkingBudgets, "Tokens for thinking, by level")
    transport: str | None = _setting(
        None, "Transport for requests, if a provider offers several: `auto`, `sse`, `websocket` or `sdk`"
    )
    http_proxy: str | None = _setting(
        None, "Proxy for all requests, instead of the one that the environment names, as `http://host:port`"
    )
    http_idle_timeout_ms: int = _setting(
        300_000, "Milliseconds that a server may stay silent; 0 means no limit", at_least=0
    )
    http_progress_timeout_ms: int | None = _setting(
        None,
        "Milliseconds within which an answer has to make progress, not counting pings; if not set, ten minutes, or"
        " `httpIdleTimeoutMs` if that is longer; 0 means no limit",
        at_least=0,
    )

    local_servers_timeout_ms: int = _setting(
        200, "Milliseconds that local servers have to list their models", at_least=0
    )

    # Messages and tools
    steering_mode: QueueMode = _setting("one-at-a-time", "How many queued messages interrupt a run at a time")
    follow_up_mode: QueueMode = _setting("one-at-a-time", "How many queued messages are sent when a run ends")
    steering_interrupt: Literal["wait", "skip"] | None = _setting(
        None,
        "Whether a steering message waits for running tools or skips unstarted ones; default: depends on "
        "`toolExecution`",
    )
    tool_execution: Literal["parallel", "sequential"] = _setting("parallel", "How to run the tool calls of one answer")
    default_tools: Names | None = _setting(
        None,
        "Which of read, bash, powershell, edit, write, grep, find, ls and process to offer; does not affect tools of "
        "other plugins",
    )
    shell_path: str | None = _setting(None, "The shell that the tool `bash` uses, instead of the system's")
    shell_command_prefix: str | None = _setting(None, "Text to insert before every shell command, on a separate line")
    bash: BashSettings = _setting(BashSettings, "The tool `bash`")
    images: ImageSettings = _setting(ImageSettings, "Images for the model")

    # Long conversations and failures
    compaction: CompactionSettings = _setting(CompactionSettings, "When a conversation is summarized")
    branch_summary: BranchSummarySettings = _setting(BranchSummarySettings, "Summaries of abandoned branches")
    retry: RetrySettings = _setting(RetrySettings, "Requests that failed")

    show_cache_miss_notices: bool = _setting(
        False,
        "Show notices about prompts that missed the provider's cache, the cost of summaries, and repeated requests",
    )
    warnings: WarningSettings = _setting(WarningSettings, "Warnings")

    # Sessions
    session_dir: str | None = _setting(None, "Folder for sessions, instead of the one in the agent directory")
    session_store: str = _setting("jsonl", "Name of the session store")
    session_sync: Literal["never", "turn", "entry"] = _setting("turn", "When entries are synced to disk")

    # Plugins
    plugins: PluginSettings = _setting(PluginSettings, "Which plugins are used")
    hooks: HookSettings = _setting(HookSettings, "How long plugins may take")
    agents: AgentSettings = _setting(AgentSettings, "Tasks that the model hands to agents")
    acp: AcpSettings = _setting(AcpSettings, "pi inside editors")
    budgets: BudgetSettings = _setting(BudgetSettings, "[Budgets](budgets.md); no limit if not set")
    guardrails: GuardrailSettings = _setting(GuardrailSettings, "Checks before a tool runs")
    redact: RedactSettings = _setting(RedactSettings, "Secrets in stored data")
    sandbox: SandboxSettings = _setting(SandboxSettings, "Where programs can write and connect")
    memory: MemorySettings = _setting(MemorySettings, "MEMORY.md")

    # Resources
    default_project_trust: Literal["ask", "always", "never"] = _setting(
        "ask", "Whether to use a project's own files if no decision is stored"
    )
    extensions: Names = _setting(list, "Additional extensions: files and folders; `!` and `-` exclude, `+` forces")
    skills: Names = _setting(list, "Additional skills, in the same form as `extensions`")
    prompts: Names = _setting(list, "Additional prompt templates, in the same form as `extensions`")
    themes: Names = _setting(list, "Additional themes, in the same form as `extensions`")
    enable_skill_commands: bool = _setting(True, "Offer each skill as `/skill:name`")
    enable_skill_creation: bool = _setting(False, "Let the model write skills with the tool `create_skill`")
    npm_command: Names = _setting(list, "Command that replaces `npm`, as a list of words")
    system_prompt: SystemPromptSettings = _setting(SystemPromptSettings, "What pi adds to the system prompt")

    # Front ends that draw
    tui_mode: str | None = _setting(
        None,
        "Front end of `pi`: `fullscreen` (the first front end), `regular` (the line mode), or the name of one",
    )
    theme: str | None = _setting(None, "Name of the theme; `light-theme/dark-theme` follows the terminal")
    fullscreen_exit_output: Literal["transcript", "resume-hint"] = _setting(
        "transcript", "What the full screen leaves in the terminal when it ends"
    )
    fullscreen_mouse: bool = _setting(True, "Handle the mouse in the full screen; if false, the terminal handles it")
    fullscreen_copy_on_select: bool = _setting(True, "Copy text in the full screen when the mouse selects it")
    fullscreen_scrollbar: Literal["auto", "always", "hidden"] = _setting(
        "auto", "Scrollbar of the full screen: while scrolled up, always, or never"
    )
    output_pad: int = _setting(1, "Empty columns on both sides of answers", at_least=0)
    hide_thinking_block: bool = _setting(False, "Hide the model's thinking")
    show_hardware_cursor: bool = _setting(False, "Show the terminal's own cursor, which input methods need")
    quiet_startup: bool = _setting(False, "Do not show a header at the start")
    collapse_changelog: bool = _setting(False, "Show a short changelog after an update")
    double_escape_action: Literal["fork", "tree", "none"] = _setting("tree", "What pressing Escape twice does")
    tree_filter_mode: Literal["default", "no-tools", "user-only", "labeled-only", "all"] = _setting(
        "default", "Initial filter of the session tree"
    )
    editor_padding_x: int = _setting(0, "Empty columns on both sides of the editor", at_least=0)
    autocomplete_max_visible: int = _setting(5, "How many suggestions are visible at once", at_least=1)
    external_editor: str | None = _setting(None, "Editor command; takes precedence over `$VISUAL` and `$EDITOR`")
    terminal: TerminalSettings = _setting(TerminalSettings, "The terminal")
    markdown: MarkdownSettings = _setting(MarkdownSettings, "Markdown")
