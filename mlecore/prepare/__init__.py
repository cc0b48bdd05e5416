"""Helpers for `prepare` hooks, so that a competition's module reads like its rules.

Raw files are read-only: everything here writes new files, and refuses to overwrite one.
"""

from __future__ import annotations

from mlecore.prepare.archives import extract, members, pack_7z, write_7z
from mlecore.prepare.asserts import ensure, ensure_columns, ensure_disjoint, ensure_unique
from mlecore.prepare.coco import file_names, split_folder, split_pictures, with_pictures
from mlecore.prepare.columns import one_hot, renumber
from mlecore.prepare.documents import read_json, read_json_objects, write_json, write_json_objects
from mlecore.prepare.files import copy_file, link_file, link_files, link_tree
from mlecore.prepare.media import dicom, encode, wav
from mlecore.prepare.paths import safe_name
from mlecore.prepare.renaming import new_names, rename_rows, shuffled, write_renamed
from mlecore.prepare.shuffles import Rows
from mlecore.prepare.splits import split, split_blocks, split_each, split_groups, split_positions, split_whole_groups
from mlecore.prepare.synthetic import hex_ids, labelled_pictures, picture
from mlecore.prepare.tables import new_file, read_csv, read_pieces, read_table, write_csv
from mlecore.prepare.tars import write_tar
from mlecore.prepare.zips import ZipWriter, move_members, open_member, open_zip

__all__ = [
    "Rows",
    "ZipWriter",
    "copy_file",
    "dicom",
    "encode",
    "ensure",
    "ensure_columns",
    "ensure_disjoint",
    "ensure_unique",
    "extract",
    "file_names",
    "hex_ids",
    "labelled_pictures",
    "link_file",
    "link_files",
    "link_tree",
    "members",
    "move_members",
    "new_file",
    "new_names",
    "one_hot",
    "open_member",
    "open_zip",
    "pack_7z",
    "picture",
    "read_csv",
    "read_json",
    "read_json_objects",
    "read_pieces",
    "read_table",
    "rename_rows",
    "renumber",
    "safe_name",
    "shuffled",
    "split",
    "split_blocks",
    "split_each",
    "split_folder",
    "split_groups",
    "split_pictures",
    "split_positions",
    "split_whole_groups",
    "wav",
    "with_pictures",
    "write_7z",
    "write_csv",
    "write_json",
    "write_json_objects",
    "write_renamed",
    "write_tar",
]
