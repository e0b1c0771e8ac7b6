"""How ``bash`` and ``grep`` run programs: started, listened to, and ended with all that they started."""
