"""Every setting: its type, its default, its description, and what a project may do to it.

Fields are in snake_case, keys in the file in camelCase. Unknown keys are kept: they may belong to a plugin. The
documentation and the JSON schema are generated from this module (``schema_info``). The classes only group declarations:
nothing creates instances of them, and attrs would take longer to build them than a project's settings take to be read.
"""

# ruff: noqa: FBT003 - every setting is declared by one function that takes its default first

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from pi_core.settings.project_limits import ProjectRule, RuleTree, add_rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_core.settings.declared import DeclaredSetting

__all__ = ["Declaration", "SettingsSchema", "declarations", "key_of", "project_rules"]


class Declaration(NamedTuple):
    """One setting, part of a list's items, or group of settings.

    Attributes:
        default: The default value; None if there is none.
        description: What it does, a sentence without its full stop.
        project: What a trusted project's file may do to it; None for groups and parts.
        unset: The value that a project's is compared with if the user has not set it, instead of the default.
        consent: Whether plugins need the user's consent to change it although a project may set it.
        limits: ``minimum`` and ``maximum`` of numbers.
        key: The key in the file, if it is not the field's name in camelCase.
        group: The class with the settings of a group.
        each: Whether the group's settings stand below any name.
    """

    default: Any
    description: str
    project: Any = None
    unset: Any = None
    consent: bool = False
    limits: dict[str, float] = {}  # noqa: RUF012 - never changed
    key: str | None = None
    group: type | None = None
    each: bool = False


def _setting(
    default: Any,
    description: str,
    *,
    project: str | tuple[str, ...],
    at_least: float | None = None,
    at_most: float | None = None,
    key: str | None = None,
    unset: Any = None,
    consent: bool = False,
) -> Any:
    """Declare a setting; every one says what a project may do to it (``pi_hookspecs.ProjectMay``)."""
    value = default() if isinstance(default, type) else default
    limits = {name: limit for name, limit in (("minimum", at_least), ("maximum", at_most)) if limit is not None}
    return Declaration(value, description, project, unset, consent, limits, key)


def _group(group: type, description: str, *, each: bool = False, key: str | None = None) -> Any:
    """Declare the settings of a class as a group; ``each`` has them once below any name."""
    return Declaration(None, description, group=group, each=each, key=key)


def _part(default: Any, description: str, *, at_least: float | None = None) -> Any:
    """Declare a field of the objects in a list."""
    return Declaration(default, description, limits={} if at_least is None else {"minimum": at_least})


def declarations(group: type) -> dict[str, Declaration]:
    """Return the declarations of a class and its bases by field name, those of the bases first."""
    return {
        name: value
        for base in reversed(group.__mro__)
        for name, value in vars(base).items()
        if isinstance(value, Declaration)
    }


def key_of(name: str, declaration: Declaration) -> str:
    """Return a setting's key in the file."""
    first, *further = name.split("_")
    return declaration.key or first + "".join(word.capitalize() for word in further)


def project_rules(group: type | None = None, declared: Sequence[DeclaredSetting] = ()) -> RuleTree:
    """Return what a project may do to each setting, nested like the files; ``*`` is any name.

    Args:
        group: The class of the settings; by default all of pi's own.
        declared: Settings of plugins to add.
    """
    tree: RuleTree = {}
    for name, own in declarations(SettingsSchema if group is None else group).items():
        if own.group is not None:
            below = project_rules(own.group)
            tree[key_of(name, own)] = {"*": below} if own.each else below
        else:
            unset = own.default if own.unset is None else own.unset
            tree[key_of(name, own)] = ProjectRule(own.project, unset, own.consent)
    add_rules(tree, declared)
    return tree


class PackageSettings:
    """What is installed, and from where."""

    packages: list[str | dict[str, Any]] = _setting(
        list, "Packages with plugins, extensions, skills, prompts and themes", project="set", consent=True
    )
    packages_deny: list[str] = _setting(
        list, "Patterns of packages that are neither installed nor loaded", key="packages.deny", project="add"
    )


ThinkingLevel: TypeAlias = Literal["off", "minimal", "low", "medium", "high", "xhigh", "max"]

QueueMode: TypeAlias = Literal["one-at-a-time", "all"]

Names: TypeAlias = list[str]


class ProviderRetrySettings:
    """Limits of a single request."""

    timeout_ms: int | None = _setting(
        None,
        "Milliseconds without a byte after which a request ends; `httpIdleTimeoutMs` if not set",
        at_least=0,
        project="set",
    )
    max_retries: int = _setting(0, "Retries of the transport itself, in addition to pi's", at_least=0, project="set")
    max_retry_delay_ms: int = _setting(
        60_000, "Longest wait that a server may ask for, in milliseconds; 0 means no limit", at_least=0, project="set"
    )


class RetrySettings:
    """Retries of the transport; those of pi are settings of the plugin that decides about them."""

    provider: ProviderRetrySettings = _group(ProviderRetrySettings, "Limits of a single request")


class ThinkingBudgets:
    """Tokens for thinking, by level."""

    minimal: int | None = _setting(None, "Tokens for thinking at this level", at_least=0, project="set")
    low: int | None = _setting(None, "Tokens for thinking at this level", at_least=0, project="set")
    medium: int | None = _setting(None, "Tokens for thinking at this level", at_least=0, project="set")
    high: int | None = _setting(None, "Tokens for thinking at this level", at_least=0, project="set")
    xhigh: int | None = _setting(None, "Tokens for thinking at this level", at_least=0, project="set")
    max: int | None = _setting(None, "Tokens for thinking at this level", at_least=0, project="set")


class ImageSettings:
    """Images for the model."""

    auto_resize: bool = _setting(True, "Shrink images of any source to at most 2000x2000 and 4.5 MB", project="set")
    block_images: bool = _setting(False, "Do not send images to the model", project="enable")


class SystemPromptSettings:
    """What pi adds to the system prompt."""

    date: bool = _setting(
        False, "Add today's date to the system prompt; this invalidates the prompt cache once a day", project="set"
    )


class RedactSettings:
    """What the engine itself does with the texts that plugins clean of secrets."""

    output: bool = _setting(False, "Also replace secrets in the output of JSON and RPC mode", project="enable")


class PluginSettings:
    """Which plugins are used, and in which order."""

    disabled: Names = _setting(list, "Plugins to leave out", project="nothing")
    allow: Names | None = _setting(
        None,
        "Patterns of plugins to load; if set, only these and pi's own are loaded. A project can only narrow the list",
        project="narrow",
    )
    required: Names = _setting(list, "Plugins that must be loaded for a session to start", project="add")
    watch: bool = _setting(
        False, "Log what plugins open, start and connect to without [declaring it](packages.md)", project="enable"
    )
    order: Names = _setting(
        list, "Load order of plugins; plugins that are not named keep their positions", project="nothing"
    )
    prefer: dict[str, str] = _setting(
        dict,
        'Which plugin wins if several register the same name, for example `{"tool:grep": "tools-fast"}`',
        project="nothing",
    )


class HookTimeout:
    """The deadline of one plugin, or of one hook."""

    timeout: float | None = _setting(None, "Seconds that a call may take", at_least=0.001, project="nothing")


class HookSettings:
    """Deadlines of plugins."""

    timeout: float | None = _setting(
        None,
        "Seconds that a plugin may take to load or to answer a hook; if not set, 30 or 600",
        at_least=0.001,
        project="nothing",
    )
    block_timeout: float = _setting(
        10.0,
        "Seconds after which plugin code that blocks everything else is interrupted",
        at_least=0.001,
        project="nothing",
    )
    shutdown_timeout: float = _setting(
        5.0, "Seconds that a plugin may take when a session ends", at_least=0.001, project="nothing"
    )
    waiting_timeout: float = _setting(
        2.0,
        "Seconds after which pi says which plugin it waits for; Escape then skips it",
        at_least=0.001,
        project="nothing",
    )
    plugins: dict[str, HookTimeout] = _group(HookTimeout, "The same for individual plugins, by name", each=True)
    specs: dict[str, HookTimeout] = _group(HookTimeout, "The same for individual hooks, by name", each=True)


class SettingsSchema(PackageSettings):
    """All of ``settings.json``."""

    # Model
    default_provider: str | None = _setting(None, "Provider of new sessions", project="set")
    default_model: str | None = _setting(None, "Model of new sessions", project="set")
    default_thinking_level: ThinkingLevel = _setting("medium", "Reasoning effort of new sessions", project="set")
    model_thinking_levels: dict[str, ThinkingLevel] = _setting(
        dict,
        "Reasoning effort of new sessions by model, as `provider/id`; `defaultThinkingLevel` for others",
        project="set",
    )
    enabled_models: Names = _setting(list, "Patterns of the models to cycle through, as for `--models`", project="set")
    persist_model_choice: bool = _setting(
        False, "Make a model or thinking level the default when the user selects it", project="disable"
    )
    thinking_budgets: ThinkingBudgets = _group(ThinkingBudgets, "Tokens for thinking, by level")
    transport: str | None = _setting(
        None, "Transport for requests, if a provider offers several: `auto`, `sse`, `websocket` or `sdk`", project="set"
    )
    http_proxy: str | None = _setting(
        None,
        "Proxy for all requests, instead of the one that the environment names, as `http://host:port`",
        project="nothing",
    )
    http_idle_timeout_ms: int = _setting(
        300_000, "Milliseconds that a server may stay silent; 0 means no limit", at_least=0, project="set"
    )
    http_progress_timeout_ms: int | None = _setting(
        None,
        "Milliseconds within which an answer has to make progress, not counting pings; if not set, ten minutes, or"
        " `httpIdleTimeoutMs` if that is longer; 0 means no limit",
        at_least=0,
        project="set",
    )

    local_servers_timeout_ms: int = _setting(
        200, "Milliseconds that local servers have to list their models", at_least=0, project="set"
    )

    # Messages and tools
    steering_mode: QueueMode = _setting(
        "one-at-a-time", "How many queued messages interrupt a run at a time", project="set"
    )
    follow_up_mode: QueueMode = _setting(
        "one-at-a-time", "How many queued messages are sent when a run ends", project="set"
    )
    steering_interrupt: Literal["wait", "skip"] | None = _setting(
        None,
        "Whether a steering message waits for running tools or skips unstarted ones; default: depends on "
        "`toolExecution`",
        project="set",
    )
    tool_execution: Literal["parallel", "sequential"] = _setting(
        "parallel", "How to run the tool calls of one answer", project="set"
    )
    default_tools: Names | None = _setting(
        None,
        "Which of read, bash, powershell, edit, write, grep, find, ls and process to offer, instead of the usual ones; "
        "+name adds a tool to the selection and -name removes one; does not otherwise affect tools of other plugins",
        project="narrow",
        unset=("read", "bash", "edit", "write"),
    )
    images: ImageSettings = _group(ImageSettings, "Images for the model")

    # Failures
    retry: RetrySettings = _group(RetrySettings, "Requests that failed")

    # Sessions
    session_dir: str | None = _setting(
        None, "Folder for sessions, instead of the one in the agent directory", project="nothing"
    )
    session_store: str = _setting("jsonl", "Name of the session store", project="nothing")
    session_sync: Literal["never", "turn", "entry"] = _setting(
        "turn", "When entries are synced to disk", project=("entry", "turn", "never")
    )

    # Plugins
    plugins: PluginSettings = _group(PluginSettings, "Which plugins are used")
    hooks: HookSettings = _group(HookSettings, "How long plugins may take")
    redact: RedactSettings = _group(RedactSettings, "Secrets in stored data")

    # Resources
    default_project_trust: Literal["ask", "always", "never"] = _setting(
        "ask", "Whether to use a project's own files if no decision is stored", project="nothing"
    )
    extensions: Names = _setting(
        list, "Additional extensions: files and folders; `!` and `-` exclude, `+` forces", project="set", consent=True
    )
    skills: Names = _setting(list, "Additional skills, in the same form as `extensions`", project="set", consent=True)
    prompts: Names = _setting(
        list, "Additional prompt templates, in the same form as `extensions`", project="set", consent=True
    )
    themes: Names = _setting(list, "Additional themes, in the same form as `extensions`", project="set")
    npm_command: Names = _setting(list, "Command that replaces `npm`, as a list of words", project="nothing")
    system_prompt: SystemPromptSettings = _group(SystemPromptSettings, "What pi adds to the system prompt")

    # Appearance
    theme: str | None = _setting(
        None, "Name of the theme; `light-theme/dark-theme` follows the terminal", project="set"
    )
