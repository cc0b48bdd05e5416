"""What a competition is written with; `__init__.pyi` lists the names.

>>> from mlecore_toolkit import Format, Table, read_csv, roc_auc, split, write_csv

Raw files are read-only: everything here writes new files, and refuses to overwrite one. Names are imported when they
are first used, so that a listing of competitions pays for none of them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
