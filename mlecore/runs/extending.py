"""Adds runs to a group: seeds, or competitions. What its runs have in common never changes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from attrs import evolve

from mlecore.model.plan import read_seeds
from mlecore.runs.folders import PLAN
from mlecore.runs.journal import Journal
from mlecore.runs.lock import GroupLock
from mlecore.runs.ownership import require_own, require_own_plan
from mlecore.runs.plan_checks import check_plan
from mlecore.runs.planning import write_plan
from mlecore.runs.store import Group, open_group, write_info
from mlecore.util import files


def extend(group: Group, seeds: int | str | None, competitions: Sequence[str]) -> Group:
    """Add runs, so that each agent runs on all competitions with these ``seeds``, too (see ``read_seeds``).

    The addition is recorded in group.json and in the journal. Raises UsageError, LockHeld while a controller runs it.
    """
    plan = group.plan
    wanted = evolve(
        plan,
        seeds=tuple(dict.fromkeys((*plan.seeds, *(read_seeds(seeds) if seeds else ())))),
        competitions=tuple(dict.fromkeys((*plan.competitions, *competitions))),
    )
    if wanted == plan:
        return group
    require_own(group)
    require_own_plan(group)
    content = write_plan(check_plan(wanted)).encode()
    with GroupLock(group.folder):
        earlier = group.info.earlier_plans
        if hashlib.sha256((group.folder / PLAN).read_bytes()).hexdigest() == group.info.plan:  # else: killed just here
            earlier = (*earlier, group.info.plan)
        info = evolve(group.info, plan=hashlib.sha256(content).hexdigest(), earlier_plans=earlier)
        write_info(group.folder, info)
        files.replace(group.folder / PLAN, content)
    Journal(group.folder).note("runs added", seeds=list(wanted.seeds), competitions=list(wanted.competitions))
    return open_group(group.folder)
