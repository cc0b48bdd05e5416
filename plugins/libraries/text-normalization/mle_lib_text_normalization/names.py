"""What the tables of a language are called."""

from __future__ import annotations

from attrs import frozen


@frozen
class Names:
    """The tables of a language, "en" or "ru"; each lies alone in an archive."""

    language: str

    @property
    def train(self) -> str:
        return f"{self.language}_train.csv"

    @property
    def test(self) -> str:
        return f"{self.language}_test_2.csv"

    @property
    def sample(self) -> str:
        return f"{self.language}_sample_submission_2.csv"
