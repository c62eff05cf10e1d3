"""What `recollect doctor` says of a store on a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.bootstrap import missing_driver
from recollect.cli.health import Check
from recollect.errors import RecollectError
from recollect.text.phrases import file_size, quantity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recollect.store_url import StoreUrl
    from recollect.stores.postgres.report import Replication, ServerReport, Standby, StoreFacts

# Behind by more, a replica gives answers that a reader takes for wrong.
_LATE_SECONDS = 10.0
_SLOW_MS = 20.0
_LISTED = 4


def server_checks(location: StoreUrl) -> tuple[list[Check], bool]:
    """What was found, and whether the store can be opened without making or changing anything."""
    try:
        from recollect.stores.postgres import report as asking  # loads psycopg
        from recollect.stores.postgres.connection import OLDEST_SERVER
    except ImportError as error:
        return [Check("problem", "store", str(missing_driver(location, error)))], False
    try:
        found = asking.server_report(location)
    except RecollectError as error:
        return [Check("problem", "store", str(error))], False
    checks = [
        _server(location, found, OLDEST_SERVER),
        _latency(found),
        *_durability(found),
        *_replication(found.replication, found.user),
        *_reading(location),
        *_store(location, found),
    ]
    is_current = found.store.version == found.store.known and not found.store.missing_rights
    return checks, is_current and checks[0].mark == "ok"


def _server(location: StoreUrl, found: ServerReport, oldest: int) -> Check:
    said = f"PostgreSQL {found.version} at {location}, as user {found.user}"
    if found.number < oldest * 10_000:
        remedy = f"Upgrade the server, or name another one: PostgreSQL {oldest} or later is needed."
        return Check("problem", "server", said, remedy)
    if found.encoding != "UTF8":
        remedy = "Make a database with ENCODING 'UTF8' for the store."
        return Check("problem", "server", f"{said}, which keeps texts as {found.encoding}", remedy)
    return Check("ok", "server", said)


def _latency(found: ServerReport) -> Check:
    said = f"{found.round_trip_ms:.2f} ms for a round trip"
    if found.round_trip_ms < _SLOW_MS:
        return Check("ok", "latency", said)
    return Check(
        "note", "latency", said, "A recall takes several: run near the server, or use a replica here."
    )


def _durability(found: ServerReport) -> Iterator[Check]:
    if not found.is_durable:
        said = "a power cut may take back what was acknowledged, or break the database"
        yield Check("note", "durability", said, "Turn fsync and full_page_writes on, except for trials.")


# Replication


def _replication(state: Replication, user: str) -> Iterator[Check]:
    if state.is_replica:
        yield _as_replica(state)
        remedy = "Name the primary, or all servers with commas between; a replica alone takes no writes."
        yield Check("problem", "writes", "this server is a replica", remedy)
        return
    if not state.standbys:
        said = "primary; no standby follows it"
        if not state.waits_for:
            yield Check("ok", "replication", said)
            return
        said = f"{said}, and every commit waits for one of: {state.waits_for}"
        remedy = "Start a standby, or empty synchronous_standby_names: until then no write ends."
        yield Check("problem", "replication", said, remedy)
        return
    unseen = sum(standby.state is None for standby in state.standbys)
    if unseen:
        said = f"primary; {quantity(unseen, 'standby', 'standbys')}, whose lag user {user} may not see"
        yield Check("ok", "replication", said, f"To see it here: GRANT pg_monitor TO {user}")
        return
    late = [each for each in state.standbys if (each.lag_seconds or 0) > _LATE_SECONDS]
    said = f"primary; {', '.join(map(_standby, state.standbys))}"
    remedy = "Look at the standby's log, its network and its disk." if late else ""
    yield Check("note" if late else "ok", "replication", said, remedy)


def _standby(each: Standby) -> str:
    behind = f"{each.lag_seconds or 0:.1f} s and {file_size(each.lag_bytes or 0)} behind"
    return f"{each.name} {each.state} ({each.sync}), {behind}"


def _as_replica(state: Replication) -> Check:
    lag = "an unknown time" if state.lag_seconds is None else f"{state.lag_seconds:.1f} s"
    said = f"replica, {lag} behind its primary"
    if not state.receives:
        return Check(
            "note", "replication", f"{said}; it receives nothing at this moment", "Is its primary up?"
        )
    if state.lag_seconds is not None and state.lag_seconds > _LATE_SECONDS:
        return Check("note", "replication", said, "Look at its log, its network and its disk.")
    return Check("ok", "replication", said)


def _reading(location: StoreUrl) -> Iterator[Check]:
    """The server that answers questions, where it is another one."""
    from recollect.stores.postgres.report import replica_report  # loads psycopg

    if location.replica is None:
        return
    try:
        state = replica_report(location)
    except RecollectError as error:
        yield Check("note", "reads", str(error), "Until then the primary answers.")
        return
    if state is not None and state.is_replica:
        yield _as_replica(state)._replace(what="reads")
    else:
        yield Check(
            "note", "reads", "no replica answers, so the primary does", "Start a replica, or leave out ?read="
        )


# The store


def _store(location: StoreUrl, found: ServerReport) -> Iterator[Check]:
    facts = found.store
    if facts.version == 0:
        yield _no_store(location, found)
        return
    said = f"{location}, {file_size(facts.bytes)}, schema {facts.version}"
    if facts.version > facts.known:
        newer = f"schema {facts.version}, and this one knows {facts.known}"
        said = f"{location} was written by a newer Recollect: {newer}"
        yield Check("problem", "store", said, "pip install --upgrade recollect-memory")
    elif facts.version < facts.known:
        said = f"{location} has the older schema {facts.version}; the next command brings it to {facts.known}"
        remedy = "Back it up with pg_dump first, if you want a copy from before."
        if not facts.owns_tables:
            remedy = f"User {found.user} does not own the tables: let their owner run recollect stats once."
        yield Check("note", "store", said, remedy)
    else:
        yield Check("ok", "store", said)
    yield from _rights(facts, found.user)
    yield _indexes(facts, location.schema)
    yield from _fence(facts, found.user, location.schema)


def _no_store(location: StoreUrl, found: ServerReport) -> Check:
    if found.store.is_foreign:
        said = f"the schema {location.schema} of {location} holds tables of another program"
        return Check("problem", "store", said, "Name another schema with ?schema=NAME.")
    if found.store.missing_rights:
        missing = _listed(found.store.missing_rights)
        said = f"there is no store that user {found.user} may open or make: {missing} is missing"
        return Check("problem", "store", said, _grants(found.store.missing_rights, found.user))
    said = f"the database {found.database} has no store yet: no tables in the schema {location.schema}"
    return Check("note", "store", said, "recollect remember, recollect add or recollect import makes it")


def _rights(facts: StoreFacts, user: str) -> Iterator[Check]:
    if facts.missing_rights:
        said = f"user {user} lacks {_listed(facts.missing_rights)}"
        yield Check("problem", "rights", said, _grants(facts.missing_rights, user))
    elif not facts.owns_tables:
        said = f"user {user} reads and writes, and does not own the tables"
        yield Check("ok", "rights", said, "Their owner upgrades the schema and runs VACUUM.")
    else:
        yield Check("ok", "rights", f"user {user} owns the tables")


def _grants(rights: Sequence[str], user: str) -> str:
    more = " …" if len(rights) > _LISTED else ""
    return "; ".join(f"GRANT {right} TO {user}" for right in rights[:_LISTED]) + more


def _indexes(facts: StoreFacts, schema: str) -> Check:
    if facts.invalid_indexes:
        said = f"not valid: {_listed(facts.invalid_indexes)}"
        remedy = (
            f"recollect verify --repair, or REINDEX INDEX CONCURRENTLY {schema}.{facts.invalid_indexes[0]}"
        )
        return Check("problem", "indexes", said, remedy)
    return Check("ok", "indexes", "all are valid")


def _fence(facts: StoreFacts, user: str, schema: str) -> Iterator[Check]:
    if facts.unfenced:
        said = f"not in force on {_listed(facts.unfenced)}"
        remedy = (
            f"ALTER TABLE {schema}.{facts.unfenced[0]} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY; "
            "the policies are in the schema's first migration"
        )
        yield Check("problem", "row security", said, remedy)
    elif facts.bypasses_fence:
        said = f"on {facts.fenced} tables, but user {user} sees past it"
        yield Check("note", "row security", said, "Use a user that is no superuser and has no BYPASSRLS.")
    else:
        yield Check("ok", "row security", f"in force on {facts.fenced} tables")


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more
