"""The events that subscribers and hooks receive, by stage.

A hook's event and result are named after the hook: ``tool_call`` gets a ``ToolCallEvent`` and may return a
``ToolCallResult``. Fields are only added to events, and with a default, so that an addition breaks no plugin.
An event with ``on_wire = False`` goes to hooks and to subscribers inside the process; JSON mode and RPC omit it.
A result that can be invalid has ``problem(event)``, which describes the problem; the dispatcher calls it.
"""
