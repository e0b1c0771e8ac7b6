"""Activities of plugins in any front end: in its strip, or else as a status or a widget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pi_hookspecs import Activity, UserInterface

__all__ = ["activity_from_wire", "activity_to_wire", "show_activity"]


def show_activity(ui: UserInterface, key: str, activity: Activity | None) -> None:
    """Display an activity in a front end; None removes it.

    Raises:
        TypeError: It is not an ``Activity``.
    """
    from pi_hookspecs import Activity

    if not isinstance(activity, Activity | None):
        raise TypeError(f"ctx.ui.set_activity takes an Activity or None, not {activity!r:.60}")
    set_activity = getattr(ui, "set_activity", None)
    if set_activity is not None:
        set_activity(key, activity)
        return
    listed = activity is not None and activity.listed
    if activity is None or listed:
        ui.set_widget(key, [activity.label, *(each.text for each in activity.items)] if activity is not None else None)
    if activity is None or not listed:
        ui.set_status(key, activity.label if activity is not None else None)


def activity_to_wire(activity: Activity | None) -> dict[str, Any]:
    """Return an activity as JSON, for clients that have a strip; an empty object where it was removed."""
    if activity is None:
        return {}
    items = [{"text": each.text, "open": each.open, "stop": each.stop} for each in activity.items]
    return {"label": activity.label, "items": items, "listed": activity.listed}


def activity_from_wire(data: Any) -> Activity | None:
    """Return the activity in a request of another process; None if it was removed, or is none."""
    from pi_hookspecs import Activity, ActivityItem

    try:
        given = data["activity"]
        items = [
            ActivityItem(str(each["text"]), open=str(each.get("open", "")), stop=str(each.get("stop", "")))
            for each in given["items"]
        ]
        return Activity(str(given["label"]), items=items, listed=given.get("listed") is True)
    except (KeyError, TypeError, AttributeError):
        return None
