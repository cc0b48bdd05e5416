#!/bin/sh
# Is a submission well-formed?  validate_submission.sh [SUBMISSION]
# Exit codes: 0 well-formed, 1 not (the reason is printed), 2 wrong usage, 3 undecided. It knows no answers.
tools=${MLECORE_OPT:-/opt/mlecore}
if ! command -v python3 >/dev/null 2>&1; then
    echo "undecided: there is no python3 to run $tools/validate with"
    exit 3
fi
exec python3 "$tools/validate" "$@"
