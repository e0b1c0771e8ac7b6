"""What a front end may ask of a session, and who answers."""
