"""The Textual application that displays a session, and its parts."""
