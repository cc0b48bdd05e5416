"""Edition v2: all noisy copies of a clean page are on one side of the split."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import mle_comp_denoising_dirty_documents as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import members, open_zip, split_whole_groups
from mlecore_toolkit.prepare.zips import find


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    noisy, clean = members(raw / "train.zip"), members(raw / "train_cleaned.zip")
    pages = v1.all_pages(noisy, clean)
    with open_zip(raw / "train_cleaned.zip") as archive:
        texts = [sha256(archive.read(find(archive, f"train_cleaned/{page}"))).digest() for page in pages]
    _, test = split_whole_groups(texts, test_size=0.2)
    v1.write(raw, public, private, noisy, clean, [pages[place] for place in test])
