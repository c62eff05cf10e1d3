"""Changes into rows: what each change means, inside one transaction."""

from recollect.stores.sqlite.write.apply import apply

__all__ = ["apply"]
