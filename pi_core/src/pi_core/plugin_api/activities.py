"""Activities of plugins in any front end: in its strip, or else as a status or a widget."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pi_hookspecs import Activity, UserInterface

__all__ = ["show_activity"]


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
