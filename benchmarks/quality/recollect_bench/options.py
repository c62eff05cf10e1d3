"""What the commands of `recollect bench` share: the data, the kept vectors, the file of results."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from recollect.cli.progress import progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recollect.cli.call import Call
    from recollect.ports import Embedder
    from recollect_bench.asking import Watching

    Asked = TypeVar("Asked", bound=Callable[..., object])

data_option = click.option(
    "--data",
    "data",
    type=click.Path(exists=True, path_type=Path),
    multiple=True,
    required=True,
    metavar="PATH",
    help="A file or a folder of judged questions; repeatable.",
)
save_option = click.option(
    "--save",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Also write the JSON there.",
)


def cache_options(asked: Asked) -> Asked:
    folder = click.option(
        "--cache",
        type=click.Path(file_okay=False, path_type=Path),
        metavar="DIR",
        help="Where vectors are kept from run to run; without it, your cache folder.",
    )
    none = click.option("--no-cache", is_flag=True, help="Embed everything anew, and keep nothing.")
    return folder(none(asked))


def writable(path: Path) -> None:
    """Make the folder of a file that is to be written; told before minutes of work that it cannot be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("a").close()
    except OSError as error:
        raise click.UsageError(f"{path} cannot be written: {error.strerror}.") from error


@contextmanager
def embedding(call: Call, cache: Path | None, no_cache: bool) -> Iterator[Embedder]:
    """The model, with the vectors that it has made before."""
    if cache is not None and no_cache:
        raise click.UsageError("--cache names a folder, and --no-cache wants none; give one of them.")
    from recollect.bootstrap import embedder, model_name  # loads the engine
    from recollect.errors import ModelUnavailable
    from recollect.settings import cache_folder
    from recollect_bench.cached_vectors import kept_vectors  # loads SQLite and NumPy

    settings, _ = call.settings()
    found = embedder(model_name(settings), settings)
    if found is None:
        raise ModelUnavailable(
            "Without a model there is no meaning to measure; name one of `recollect models` with --model."
        )
    folder = None if no_cache else cache or cache_folder() / "bench"
    with kept_vectors(found, folder) as kept:
        yield kept


@contextmanager
def watched() -> Iterator[Watching]:
    from recollect_bench.asking import Watching  # loads the engine

    with progress("Storing", "Asking") as (storing, asking):
        yield Watching(storing, asking)
