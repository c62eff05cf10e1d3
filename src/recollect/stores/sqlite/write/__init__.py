"""Changes into rows: what each change means, inside one transaction."""
