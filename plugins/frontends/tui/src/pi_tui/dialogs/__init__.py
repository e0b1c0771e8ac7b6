"""Dialogs, which are displayed in place of the editor, one module for each."""
