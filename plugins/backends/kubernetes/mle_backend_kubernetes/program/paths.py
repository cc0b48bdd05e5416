"""Where a pod's volumes are mounted."""

CLAIM = "/claim"  # the volume of a run, or a claim with public data
HOME = CLAIM + "/home"  # the agent's home
RUN = CLAIM + "/run"
OUTPUT = RUN + "/output.log"  # what the agent prints
TOOLS = "/tools"
TOLD = "/dev/termination-log"  # a container's last words, which are in its pod's status
DATA = "/data"  # public data, read-only
FILES = "/opt/helper"  # the run's ConfigMap
