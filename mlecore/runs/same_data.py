"""A run may be graded only against the data that it worked on."""

from __future__ import annotations

from mlecore.data.prepared import Prepared
from mlecore.errors import GradingError
from mlecore.model.record import RunRecord


def require_same_data(record: RunRecord, data: Prepared) -> None:
    """Raises GradingError if these are not the data of the run."""
    for what, then, now in (
        ("public data", record.data_digest, data.digest),
        ("answers", record.answers_digest, data.private_digest),
    ):
        if then is not None and then != now:
            raise GradingError(
                f"the {what} of {record.competition} in {data.root} are not those that {record.name} worked on "
                f"({now[:12]}, then {then[:12]})",
                fix=f"Prepare those again (same source, seed and size), then: mlecore runs resume {record.group}",
            )
