"""Building blocks for competitions; `__init__.pyi` lists the names::

    from mlecore_toolkit import Format, Table, read_csv, roc_auc, split, write_csv

Raw files are read-only: everything here writes new files and overwrites none. Names are imported on first use, so that
listings of competitions stay fast.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
