"""Entities that have grown too large, for the tests of splitting and of the report."""

from __future__ import annotations

from itertools import chain

LOGIN = [
    "Users log in with a password and a login code",
    "A login code expires after ten minutes",
    "The login page locks a user after five wrong passwords",
    "A forgotten password is reset by a link to the user",
    "Login sessions of a user end after a day",
    "A password of a user has at least twelve letters",
    "Users may log in with a key instead of a password",
    "The login of an admin user needs a second code",
    "Every login of a user is written to the log",
]
DATABASE = [
    "The database is PostgreSQL with a table for orders",
    "A backup of the database runs every night",
    "The orders table of the database is cut by month",
    "An index on the orders table makes database reports fast",
    "The database backup is kept for thirty days",
    "Slow database queries on a table are logged",
    "The database has a copy in another region for backup",
    "Old rows of the orders table move to an archive database",
    "A restore of the database backup is tried each month",
]
TEAM = [
    "Ana leads the design team in Lisbon",
    "The team meets in Lisbon each Tuesday",
    "Luis joined the team in March",
    "Holidays of the team are planned in January",
    "The team lunch in Lisbon is on Friday",
    "Marta pays the invoices of the team",
    "The team has eight people in Lisbon and Madrid",
    "Ana and Luis of the team share an office in Lisbon",
    "The team budget is planned by Ana in January",
]
APOLLO = list(chain.from_iterable(zip(LOGIN, DATABASE, TEAM, strict=True)))
"""27 observations, in turn."""
