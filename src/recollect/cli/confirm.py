"""Asking before something is done that is hard to take back."""

from __future__ import annotations

import sys

import click


def confirm(question: str, *, yes: bool) -> None:
    """Go on if the user says so, here or beforehand by --yes."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.ClickException(f"{question} Nobody is there to answer; add --yes to do it.")
    if not click.confirm(question, err=True):
        raise click.ClickException("nothing was changed.")
