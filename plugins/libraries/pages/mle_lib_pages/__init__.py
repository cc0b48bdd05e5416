"""Pages of mlecore: templates, tables and charts that the report, the viewer and the leaderboard share.

A page works without a network and without scripts: charts are SVG in the page. Scripts only sort tables and copy them.
"""

from mle_lib_pages.page import ASSETS, Head, environment, inline, linked

__all__ = ["ASSETS", "Head", "environment", "inline", "linked"]
