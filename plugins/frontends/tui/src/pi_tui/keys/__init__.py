"""Keys: what terminals send, what each key does, and the file in which the user changes that."""
