"""`recollect doctor`: what is installed, which model, which file, what is wrong and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.cli.command import REFUSED, command
from recollect.cli.phrases import quantity
from recollect.cli.results import SIGNS, Column, Paragraph, Result, Styled, Table, stacked

if TYPE_CHECKING:
    from recollect.cli.call import Call


@command("doctor", "recollect doctor", "recollect doctor --store memory.db --json")
def doctor_command(call: Call) -> Result:
    """Say what is installed, what is wrong and what to do.

    Each line is ok, a note or a problem. Nothing is changed: no store is created, and a file that is not ours
    is not touched. To check every row and index of a store, use `recollect verify`.
    """
    from recollect.cli.health import health_checks  # loads the engine, SQLite and NumPy

    checks = list(health_checks(call))
    problems = sum(check.mark == "problem" for check in checks)
    rows = [
        (
            SIGNS[check.mark],
            Styled(check.what, "strong"),
            stacked(check.said, Styled(f"→ {check.remedy}" if check.remedy else "", "changed")),
        )
        for check in checks
    ]
    ending = (
        Styled(f"{quantity(problems, 'problem')} found.", "bad")
        if problems
        else Styled("All is well.", "good")
    )
    remedies = [f" → {check.remedy}" if check.remedy else "" for check in checks]
    return Result(
        {"problems": problems, "checks": checks},
        [Table((Column(), Column(), Column()), rows, grid=True), Paragraph(), Paragraph(ending)],
        [
            (f"{check.mark}: {check.what}: {check.said}{remedy}",)
            for check, remedy in zip(checks, remedies, strict=True)
        ],
        exit_code=REFUSED if problems else 0,
    )
