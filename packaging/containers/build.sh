#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What container recipes have in common, run as root on a bare Debian 12 in a copy of the sources: installs what the build
# needs, builds for any x86-64-v3 processor without CUDA, and leaves the Debian packages in a folder.
#   packaging/containers/build.sh FOLDER
set -euo pipefail
[ $# -eq 1 ] || { sed -n '3,5s/^# \{0,1\}//p' "$0"; exit 2; }
packages=$(realpath -m "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=cmake/setup.sh
source cmake/setup.sh

install_missing "${program_packages[@]}" dpkg-dev file git  # CPack needs dpkg-dev and file
cmake --preset release -B build/container -DHYPERPLANE_NATIVE=OFF -DHYPERPLANE_CUDA=OFF
cmake --build build/container --target installable -j "$(build_jobs)"
cd build/container
cpack -G DEB -B "$packages"
