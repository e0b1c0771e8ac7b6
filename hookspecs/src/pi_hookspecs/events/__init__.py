"""Events by stage of life: what subscribers see and what hooks are asked.

A hook's event is named after the hook, its answer too: ``tool_call`` gets a ``ToolCallEvent`` and may
answer a ``ToolCallResult``. Events only grow by fields with a default, so that adding breaks nobody.
A result that can be wrong in itself has ``problem(event)``, which says how; the dispatcher asks it.
"""
