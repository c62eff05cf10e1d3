"""Simulated power cuts: replay a store's recorded disk writes up to a random moment, then check the store."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from torture_run import Part

from recollect.domain.errors import RecollectError

sys.path.insert(0, str(Path(__file__).parents[2] / "packages" / "recollect" / "tests" / "stores"))

from cut_work import images, work
from durable_world import assert_whole
from power_cut import Disk

CUTS_OF_A_RECORD = 50


def cut_power(folder: Path, part: Part) -> Iterator[None]:
    while not part.is_over:
        seed = part.done
        place = folder / str(seed)
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        path = place / "store.db"
        record = work(path)
        cuts = min(CUTS_OF_A_RECORD, part.left)
        moments = np.random.default_rng(seed).integers(record.first_ack, len(record.ops), cuts)
        found = 0
        for moment, image in images(record, Disk(), place, moments.tolist(), seed):
            acks = record.acknowledged_by(moment)
            try:
                assert_whole(image / path.name, acks)
            except (AssertionError, RecollectError) as error:
                found += 1
                part.report_finding(f"after a cut: {error}", seed=seed, moment=moment, files=str(image))
            else:
                shutil.rmtree(image)
            part.count("checks_of_writes", len(acks))
        part.count("disk_operations", len(record.ops))
        part.done += cuts
        if not found:
            shutil.rmtree(place)
        yield
