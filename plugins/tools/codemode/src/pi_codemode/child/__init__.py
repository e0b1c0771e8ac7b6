"""What runs in the script's process; it imports nothing but Python's standard library."""
