"""What each change does to rows: rules over a transaction, the same for every store."""
