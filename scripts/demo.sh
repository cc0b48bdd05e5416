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
echo "A practice competition on its real data, and two of Kaggle's on made-up data: --synthetic asks for no account."
show $mlecore prepare optical-digits aerial-cactus-identification spaceship-titanic --synthetic --data .demo/data
# shellcheck disable=SC2086
show $mlecore run --agent baseline --competition optical-digits --competition aerial-cactus-identification \
  --competition spaceship-titanic --synthetic --seeds 3 --time-limit 10m --data .demo/data --runs .demo/runs \
  --group "$group" $isolation
show $mlecore report "$group" --runs .demo/runs

cat <<TEXT

That was the whole way: prepare, run, grade, report. Every run's files are below .demo/runs/.

What to try next:
  .venv/bin/mlecore --help                             what else there is
  .venv/bin/mlecore run --agent command -A argv='python my_agent.py' -A pip=pandas --competition optical-digits \\
    --data .demo/data --runs .demo/runs
                                                       your own agent, on the same data
With a Kaggle account (a token from https://www.kaggle.com/settings, and the competition's rules accepted there):
  .venv/bin/mlecore doctor                             is everything there?
  .venv/bin/mlecore prepare spaceship-titanic          the real data
  .venv/bin/mlecore run --agent baseline --competition spaceship-titanic
TEXT
