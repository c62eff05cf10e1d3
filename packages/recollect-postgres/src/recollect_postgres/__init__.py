"""The store port on PostgreSQL."""
