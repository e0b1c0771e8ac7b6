"""Keys: parsing of what terminals send, key bindings, and the file in which the user changes them."""
