#!/bin/sh
# What `make demo` shows: three competitions prepared, worked on in the sandbox, graded and reported.
set -eu
PATH="$PWD/.venv/bin:$PWD/.tools/bin:$PATH"
mlecore=.venv/bin/mlecore  # the commands that are shown work when they are pasted: nothing of them is in a variable
export MLECORE_VM_STATE="$PWD/.demo/vm" XDG_CACHE_HOME="$PWD/.demo/cache" UV_CACHE_DIR="${UV_CACHE_DIR:-$(uv cache dir)}"

show() {
  printf '\n$ %s\n' "$*"
  "$@"
}

isolation=
if ! bwrap --ro-bind / / --unshare-pid --unshare-net true 2>/dev/null; then
  isolation="-B isolation=none"
  cat <<'TEXT'
bubblewrap is missing or does not work here, so the agent below runs with no sandbox around it (-B isolation=none).
To get it: `apt-get install bubblewrap`, `dnf install bubblewrap` or `pacman -S bubblewrap`; it needs user namespaces.
TEXT
fi

group="demo-$(date +%H%M%S)"
echo "Three competitions, one on its real data and two on synthetic data, which need no Kaggle account."
show $mlecore prepare optical-digits aerial-cactus-identification spaceship-titanic --synthetic --data .demo/data
# shellcheck disable=SC2086
show $mlecore run --agent baseline --competition optical-digits --competition aerial-cactus-identification \
  --competition spaceship-titanic --synthetic --time-limit 10m --data .demo/data --runs .demo/runs \
  --group "$group" --no-detect $isolation
show $mlecore report "$group" --runs .demo/runs --html .demo/report.html

cat <<TEXT
The page: .demo/report.html. Every run's files: .demo/runs/$group/. Your own agent on the same data:
  .venv/bin/mlecore run --agent command -A argv='python my_agent.py' -A pip=pandas --competition optical-digits \\
    --data .demo/data --runs .demo/runs
With a Kaggle account: .venv/bin/mlecore doctor, then .venv/bin/mlecore prepare spaceship-titanic
TEXT
