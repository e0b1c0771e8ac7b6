"""What the screen asks of a session beyond the names of ``pi_core.Session``; only here the engine is imported."""
