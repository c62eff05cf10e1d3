"""Dreams: run, scheduled, undone and foretold."""
