"""Dreams: a snapshot in; what should change, and why, out. Nothing here reads or writes anything."""
