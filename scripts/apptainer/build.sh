#!/bin/sh
# Builds Apptainer and installs it with its setuid program: root's, once a machine: to try the backend slurm with it.
#
#     scripts/apptainer/build.sh [PREFIX]        # /opt/apptainer; a link goes to /usr/local/bin
#
# Needs Go 1.22 or later with a module proxy, gcc, make, pkg-config, libseccomp-dev, unzip and squashfs-tools, and about
# six minutes of CPU. A second call finds the first one's work and ends at once.
set -eu

version=v1.4.0
sha256=0695223a7a5b8a127eb57cadc05a93edef9354dbbd8c82cbda1961154f0a90d3
prefix=${1:-/opt/apptainer}

if [ "$("$prefix/bin/apptainer" --version 2>/dev/null)" != "apptainer version ${version#v}" ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    cd "$work"
    export GOCACHE="$work/cache" # the Makefile empties it
    proxy=$(go env GOPROXY)
    curl -fsSL -o source.zip "${proxy%%[,|]*}/github.com/apptainer/apptainer/@v/$version.zip"
    echo "$sha256  source.zip" | sha256sum --check --quiet
    unzip -q source.zip
    cd "github.com/apptainer/apptainer@$version"
    echo "${version#v}" >VERSION
    chmod +x mconfig makeit/* mlocal/scripts/* scripts/* # the archive of a module has no modes
    ./mconfig -p "$prefix" -P release-stripped --with-suid --without-libsubid --without-network
    make -C builddir
    make -C builddir install
fi
chmod a+rw /dev/fuse # as distributions have it: Apptainer mounts images by it
ln -sf "$prefix/bin/apptainer" /usr/local/bin/apptainer
apptainer --version
