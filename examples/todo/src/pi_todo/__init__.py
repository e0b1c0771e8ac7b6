"""A to-do list for the model and the user, stored in the session, so that forks and resumed sessions have it."""

from typing import Any, Literal

from pi_hookspecs import CustomEntry, PiAPI, PiContext, hookimpl

ENTRY = "todo"


@hookimpl
def activate(pi: PiAPI) -> None:
    todos: list[dict[str, Any]] = []

    @pi.on("session_start")
    @pi.on("session_tree")
    def rebuild(ctx: PiContext) -> None:
        kept = (each for each in reversed(ctx.session.branch()) if isinstance(each, CustomEntry))
        todos[:] = next((each.data for each in kept if each.custom_type == ENTRY), [])

    def lines() -> list[str]:
        return [f"[{'x' if each['done'] else ' '}] {number} {each['text']}" for number, each in enumerate(todos, 1)]

    def listing() -> str:
        return "\n".join(lines()) or "Nothing to do."

    @pi.register_tool(label="To-do list", execution_mode="sequential")
    async def todo(action: Literal["list", "add", "toggle", "clear"], text: str = "", number: int = 0) -> str:
        """Keep a to-do list: what is to be done, and what is done.

        Args:
            action: What to do with the list.
            text: What is to be done, for add.
            number: Which one is done, or is not done after all, for toggle.
        """
        if action == "add":
            todos.append({"text": text, "done": False})
        elif action == "toggle":
            if not 1 <= number <= len(todos):
                raise ValueError(f"There is no to-do {number}; there are {len(todos)}.")
            todos[number - 1] = {**todos[number - 1], "done": not todos[number - 1]["done"]}
        elif action == "clear":
            todos.clear()
        if action != "list":
            pi.append_entry(ENTRY, list(todos))
        return listing()

    @pi.register_command("todos", description="Show the to-do list")
    def show(args: str, ctx: PiContext) -> None:
        ctx.ui.notify(listing())
