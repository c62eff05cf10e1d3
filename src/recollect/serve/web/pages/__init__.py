"""One module per screen of the dashboard."""
