"""From a submission to a report: its score, its rank on the human leaderboard, its medal."""
