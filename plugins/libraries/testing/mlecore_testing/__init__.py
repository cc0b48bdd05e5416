"""The conformance kit: one call checks a plugin against all rules, and names every rule that it breaks.

A competition's package needs no test for that: the pytest plugin (``mlecore_testing.pytest_plugin``, which this package
installs) collects its ``competition.toml``, and gives its tests the fixtures ``trial`` and ``answers``.
Other plugins need one line::

    from mlecore_testing import check_agent

    def test_conformance():
        check_agent("baseline")
"""

import lazy_loader

# Every pytest run imports this package, for its pytest plugin.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
