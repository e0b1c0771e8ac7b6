"""The parsed command line, as values for front ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from pi_hookspecs import ImageContent

__all__ = ["Options", "Prompt", "PromptOptions"]


@frozen(kw_only=True, eq=False, repr=False)
class Prompt(Value):
    """One prompt of the user, with its images.

    Attributes:
        piped: Whether it begins with what came through standard input, which may be another person's text.
    """

    text: str
    images: tuple[ImageContent, ...] = ()
    piped: bool = False


@frozen(kw_only=True, eq=False, repr=False)
class PromptOptions(Value):
    """The options about system prompt, skills, templates and themes.

    Attributes:
        system_prompt: A text, or the path of a file that contains it; likewise the appended ones.
        skills: Files and folders, before all others; ``no_skills`` excludes the others. The next two work alike.
    """

    system_prompt: str | None = None
    append_system_prompt: tuple[str, ...] = ()
    no_context_files: bool = False
    skills: tuple[str, ...] = ()
    no_skills: bool = False
    prompt_templates: tuple[str, ...] = ()
    no_prompt_templates: bool = False
    themes: tuple[str, ...] = ()
    no_themes: bool = False


@frozen(kw_only=True, eq=False, repr=False)
class Options(Value):
    """The options of a run; ``Mode.run`` gets them with the session.

    Attributes:
        messages: Positional arguments, and all that follows ``--``.
        files: Positional arguments that began with ``@``, without it.
        print_only: ``-p`` was given.
        mode: The front end that ``--mode`` names.
        tui_mode: Which of the interactive front ends ``--tui-mode`` names.
        use_theme: The theme that ``--use-theme`` names, in place of the setting ``theme``.
        json_full: Whether events contain the whole message so far.
        api_key: From ``--api-key``; used in this run and never stored.
        list_models: The search text, ``""`` for no search; None lists none.
        all_models: Also list unusable models when there is no search text.
        tools: Names from ``--tools``, none with ``--no-tools``; None for the default ones.
        no_session: Keep the conversation in memory only.
        attach: Send the prompts to a served session.
        ssh: The computer that serves it, as ``ssh`` calls it; None for this one.
        continue_: Continue the last session of the working directory.
        resume: Continue a session of the working directory that the user chooses.
        session: Path, or the beginning of the id, of a session to continue.
        is_moved: Continue the session in the working directory, because its own folder is gone.
        session_dir: Folder for sessions.
        session_id: Id of the session of this folder to continue, or of the new session.
        fork: Path or id of a session to continue in a copy.
        name: The session's name.
        worktree: Name of the git worktree to work in.
        export: Path or id of a session to write as a document, instead of a run.
        exclude_tools: Names and patterns from ``--exclude-tools``, and pi's own with ``--no-builtin-tools``.
        thinking: The level that ``--thinking`` names.
        models: Patterns from ``--models``.
        disabled: Plugins from ``--disable``.
        approve: Whether the project's own files are used; None for the stored decision.
        prompt_options: Options about system prompt, skills, templates and themes.
        extensions: Files, packages and requirements from ``-e``.
        no_extensions: Load no local extensions except those in ``extensions``.
        offline: Do not install or fetch anything for extensions.
        watch: Reload local extensions when their files change.
        flags: Options that plugins registered, by name without the dashes; those not given have their default.
        prompts: The prompts to send in order: stdin and files are part of the first.
        color: Whether stderr may be styled.
    """

    messages: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    print_only: bool = False
    mode: str | None = None
    tui_mode: str | None = None
    use_theme: str | None = None
    json_full: bool = False
    model: str | None = None
    provider: str | None = None
    api_key: str | None = field(default=None, repr=False)
    list_models: str | None = None
    all_models: bool = False
    thinking: str | None = None
    models: tuple[str, ...] = ()
    tools: tuple[str, ...] | None = None
    exclude_tools: tuple[str, ...] = ()
    no_session: bool = False
    attach: bool = False
    ssh: str | None = None
    continue_: bool = False
    resume: bool = False
    session: str | None = None
    is_moved: bool = False
    session_dir: str | None = None
    session_id: str | None = None
    fork: str | None = None
    name: str | None = None
    worktree: str | None = None
    export: str | None = None
    disabled: tuple[str, ...] = ()
    approve: bool | None = None
    prompt_options: PromptOptions = field(factory=PromptOptions)
    extensions: tuple[str, ...] = ()
    no_extensions: bool = False
    watch: bool = False
    verbose: bool = False
    offline: bool = False
    help: bool = False
    version: bool = False
    flags: dict[str, bool | str | None] = field(factory=dict)
    prompts: tuple[Prompt, ...] = ()
    color: bool = False
