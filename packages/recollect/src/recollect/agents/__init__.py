"""AI agents on this machine: their settings files, and the hooks that they run."""
