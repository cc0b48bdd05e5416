"""mlecore measures how well AI agents do machine-learning engineering; everything in it is a plugin.

>>> import mlecore
>>> digits = mlecore.competition("optical-digits")  # its facts, and the hooks that make its data
>>> data = mlecore.open_data(digits)  # as `mlecore prepare` left them
>>> mlecore.grade(digits, "submission.csv", data)  # score, medal, place among humans
>>> mlecore.run(agent="baseline", competition="optical-digits", seeds=3)
>>> mlecore.installed("agent")  # plugins; imports none of them

Errors: ``mlecore.InvalidSubmission`` (the agent's fault), all others below ``mlecore.MlecoreError``. The names are
listed in `__init__.pyi`; each is imported when it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
