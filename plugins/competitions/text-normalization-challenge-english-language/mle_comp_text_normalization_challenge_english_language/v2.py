"""Edition v2: tokens are text as written, and equal sentences are on one side of the split."""

from __future__ import annotations

from pathlib import Path

from mle_lib_text_normalization import split_sentences

from mlecore.hookspecs import hookimpl


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    split_sentences(raw, public, private, "en", mended=True)
