"""Calls event hooks: their order, deadlines, combined answers, and failures."""
