"""What the command line says, as values: the parser makes them, front ends get them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from pi_hookspecs import ImageContent

__all__ = ["Options", "Prompt", "PromptOptions"]


@frozen(kw_only=True, eq=False, repr=False)
class Prompt(Value):
    """One thing that the user says, with the images that belong to it."""

    text: str
    images: tuple[ImageContent, ...] = ()


@frozen(kw_only=True, eq=False, repr=False)
class PromptOptions(Value):
    """The options about system prompt, skills, templates and themes.

    Attributes:
        system_prompt: A text, or the path of a file that holds it, as are those that are appended.
        skills: Files and folders, before all others; with ``no_skills`` there are no others. So are the next two.
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
    """The options of a run; ``Mode.run`` gets them beside the session.

    Attributes:
        messages: Positional arguments, and all that follows ``--``.
        files: Positional arguments that began with ``@``, without it.
        print_only: ``-p`` was given.
        mode: The front end that ``--mode`` names.
        json_full: Events have the whole message so far.
        api_key: From ``--api-key``; used in this run and never stored.
        list_models: What to search for, ``""`` for no search; None lists none.
        all_models: List models that cannot be used, too, where nothing is searched for.
        tools: Names from ``--tools``, none with ``--no-tools``; None leaves the choice to the tools.
        no_session: Keep the conversation in memory only.
        continue_: Go on with the last session of the working directory.
        resume: Go on with a session of the working directory that the user chooses.
        session: Path, or the beginning of the id, of a session to go on with.
        session_dir: Folder for sessions.
        session_id: Id of the session of this folder to continue, or of the new session.
        fork: Path or id of a session to go on with in a copy.
        name: What the session is called.
        export: Path or id of a session to write as a document; nothing else is done then.
        exclude_tools: Names and patterns from ``--exclude-tools``, and pi's own with ``--no-builtin-tools``.
        thinking: The level that ``--thinking`` names.
        models: Patterns from ``--models``.
        disabled: Plugins from ``--disable``.
        approve: Whether files of the project itself are used; None leaves it to what was decided before.
        prompt_options: What the system prompt is made of, and where skills, templates and themes are found.
        extensions: Files, packages and requirements from ``-e``.
        no_extensions: Load no local extensions but those.
        offline: Install nothing, and fetch nothing, for extensions.
        watch: Reload local extensions when their files change.
        flags: Options that plugins registered, by name without the dashes; those not given have their default.
        prompts: What to say, one after another: stdin and files are part of the first.
        color: Whether stderr may be styled.
    """

    messages: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    print_only: bool = False
    mode: str | None = None
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
    continue_: bool = False
    resume: bool = False
    session: str | None = None
    session_dir: str | None = None
    session_id: str | None = None
    fork: str | None = None
    name: str | None = None
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
