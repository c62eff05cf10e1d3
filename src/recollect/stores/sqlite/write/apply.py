"""One change to the function that carries it out."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from recollect.changes import (
    AddObservations,
    Adopt,
    AdoptLinks,
    AdoptRelation,
    Amend,
    Calibrate,
    CommitDream,
    DropLease,
    EndRelation,
    FlagAlike,
    FlagSimilar,
    Forget,
    GiveFeedback,
    NoteImport,
    Outcome,
    Purge,
    PutEntity,
    PutText,
    PutVectors,
    RecordUse,
    Relate,
    RemoveObservations,
    Restore,
    RestoreObservation,
    Supersede,
    TakeLease,
    TuneProfile,
    UndoDream,
    Unrelate,
    UseModel,
)
from recollect.stores.sqlite import vector_rows
from recollect.stores.sqlite.write import (
    adoption,
    calibration,
    corrections,
    dreams,
    entities,
    imports,
    leases,
    life,
    relations,
    shadow,
    texts,
    tuned,
    use,
)

if TYPE_CHECKING:
    from recollect.changes import Change
    from recollect.stores.sqlite.write.batch import Batch


def apply(batch: Batch, change: Change) -> Outcome:  # noqa: PLR0911, PLR0912  # one line per change
    match change:
        case PutEntity():
            return entities.put(batch, change)
        case AddObservations():
            return entities.add_observations(batch, change)
        case RemoveObservations():
            return entities.remove_observations(batch, change)
        case RestoreObservation():
            return entities.restore_observation(batch, change)
        case FlagSimilar():
            return entities.flag_similar(batch, change)
        case PutText():
            return texts.put(batch, change)
        case Relate():
            return relations.relate(batch, change)
        case EndRelation():
            return relations.end(batch, change)
        case Unrelate():
            return relations.unrelate(batch, change)
        case Forget():
            return life.forget(batch, change)
        case Restore():
            return life.restore(batch, change)
        case Purge():
            return life.purge(batch, change)
        case Amend():
            return life.amend(batch, change)
        case Supersede():
            return corrections.supersede(batch, change)
        case FlagAlike():
            return life.flag_alike(batch, change)
        case RecordUse():
            return use.record(batch, change)
        case GiveFeedback():
            return shadow.give(batch, change)
        case TuneProfile():
            return tuned.tune(batch, change)
        case Calibrate():
            return calibration.calibrate(batch, change)
        case PutVectors():
            return Outcome(count=vector_rows.put(batch.connection, change.model, change.vectors))
        case UseModel():
            return Outcome(count=vector_rows.use(batch.connection, change.model))
        case Adopt():
            return adoption.adopt(batch, change)
        case AdoptRelation():
            return adoption.adopt_relation(batch, change)
        case AdoptLinks():
            return adoption.link(batch, change)
        case NoteImport():
            return imports.note(batch, change)
        case CommitDream():
            return dreams.commit(batch, change)
        case UndoDream():
            return dreams.undo(batch, change)
        case TakeLease():
            return leases.take(batch, change)
        case DropLease():
            return leases.drop(batch, change)
        case _:
            assert_never(change)
