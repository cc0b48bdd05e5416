"""Keeps calls within the budgets: what each may cost at most is reserved while it is under way.

A call that might exceed what is left waits until others have ended and their true cost is known. If none is under way,
it is forwarded although it might: otherwise the end of a budget could never be used. So a budget is exceeded by one
call at most, and by no more than that call costs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from .budgets import Budget
from .ledger import Spent


class UsedUp(Exception):
    """A budget is used up; the message is its text."""


class Reservations:
    """What a run's open calls may still spend. ``spent`` is the ledger's."""

    def __init__(self, budgets: Sequence[Budget], spent: Spent) -> None:
        self._budgets = budgets
        self._spent = spent
        self._held: list[Spent] = []
        self._turn = asyncio.Lock()  # waiting calls are forwarded in the order in which they came
        self._changed = asyncio.Event()

    async def hold(self, most: Spent) -> None:
        """Reserve as soon as it fits. Raises UsedUp."""
        async with self._turn:
            while not self.fits(most):
                self._changed.clear()
                await self._changed.wait()
            self._held.append(most)

    def release(self, most: Spent) -> None:
        """The call has ended, and what it cost is in ``spent``."""
        self._held = [held for held in self._held if held is not most]
        self._changed.set()

    def fits(self, most: Spent) -> bool:
        """Beside what others hold; ask again after every wait. Raises UsedUp."""
        others = [held for held in self._held if held is not most]
        fits = True
        for budget in self._budgets:
            spent = budget.part_of(self._spent)
            if spent >= budget.amount:
                raise UsedUp(budget.text)
            reserved = sum(budget.part_of(held) for held in others)
            fits = fits and spent + reserved + budget.part_of(most) <= budget.amount
        return fits or not others
