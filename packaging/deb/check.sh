#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes the Debian packages of a build and tries them on a bare Debian 12: installs them, runs the program, builds and runs
# examples/consumer, removes them, and compares the files that are there with those before.
#   packaging/deb/check.sh BUILD [FOLDER]
# BUILD is a finished build folder. With CUDA, whose libraries Debian does not have, this machine's toolkit is shown to the
# bare system at its place. FOLDER keeps the system for the next time (default: a folder that is removed). Needs root,
# debootstrap and Debian's packages; exit code 77 says what is missing.
set -euo pipefail

[ $# -ge 1 ] || { sed -n '3,9s/^# \{0,1\}//p' "$0"; exit 2; }
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd "$1" && pwd)
scratch=$(mktemp -d)
root=${2:-$scratch}/bookworm

source "$source/packaging/bare_system.sh"
# The toolkit of a build with CUDA.
toolkit=$(sed -n 's|^HYPERPLANE_NVCC:FILEPATH=\(/.*\)/bin/nvcc$|\1|p' "$build/CMakeCache.txt")
if grep -q '^HYPERPLANE_CUDA:[A-Z]*=OFF' "$build/CMakeCache.txt"; then toolkit=; fi
tidy_up() {
    unmount "$root/proc" "$root$toolkit"
    rm -rf "$scratch"
}
trap tidy_up EXIT

need_bare_systems
command -v dpkg-shlibdeps >/dev/null || missing "dpkg-shlibdeps is missing (Debian: dpkg-dev)"
command -v file >/dev/null || missing "file is missing, which CPack needs"

say "packages of $build"
(cd "$scratch" && cpack -G DEB --config "$build/CPackConfig.cmake" -B "$scratch/packages" >"$scratch/cpack.log" 2>&1) ||
    { cat "$scratch/cpack.log"; exit 1; }
packages=("$scratch"/packages/*.deb)
[ ${#packages[@]} -eq 2 ] || { echo "expected two packages: ${packages[*]}"; exit 1; }
for package in "${packages[@]}"; do
    dpkg-deb --info "$package" | sed -n 's/^ \(Package\|Version\|Depends\|Recommends\)/\1/p'
    du -h "$package" | cut -f1
done

bare "$root"
if [ -n "$toolkit" ]; then
    mkdir -p "$root$toolkit"
    mount --bind -o ro "$toolkit" "$root$toolkit"
fi

# Everything but what package managers and caches leave by their nature.
files() {
    (cd "$root" && find . -path ./proc -prune -o -path ./var -prune -o -path ./tmp -prune -o -path ./dev -prune -o -path ./usr/local -prune \
        -o -name ld.so.cache -prune -o -name __pycache__ -prune -o -print | LC_ALL=C sort)
}

rm -rf "$root/tmp/check"
mkdir -p "$root/tmp/check"
cp "${packages[@]}" "$root/tmp/check/"
inside "$root" "apt-get -qq update" >/dev/null || missing "Debian's packages cannot be reached"
# What the packages depend on stays; so it is there before.
say "what the packages depend on"
inside "$root" "apt-get -qq install -y --no-install-recommends g++ cmake make /tmp/check/*.deb" >"$scratch/apt.log" 2>&1 ||
    { tail -n 30 "$scratch/apt.log"; exit 1; }
inside "$root" "dpkg --purge libhyperplane-dev hyperplane" >/dev/null 2>&1
files >"$scratch/before"

say "install"
inside "$root" "apt-get -qq install -y --no-install-recommends /tmp/check/*.deb" >"$scratch/apt.log" 2>&1 ||
    { tail -n 30 "$scratch/apt.log"; exit 1; }
inside "$root" "dpkg --verify hyperplane libhyperplane-dev"
say "run"
inside "$root" "cd /tmp/check && hyperplane --version && hyperplane run /usr/share/hyperplane/inputs/poisson.ini 2>&1 | tail -n 4 && \
    hyperplane info poisson.h5 >/dev/null"
inside "$root" "! ldd /usr/bin/hyperplane | grep 'not found'"
say "consumer"
cp -r "$source/examples/consumer" "$root/tmp/check/consumer"
inside "$root" "cd /tmp/check/consumer && cmake -B build -DCMAKE_BUILD_TYPE=Release >/dev/null && cmake --build build >/dev/null && \
    build/seven_point 16 && build/resistor_tree"
say "remove"
inside "$root" "apt-get -qq purge -y hyperplane libhyperplane-dev" >"$scratch/apt.log" 2>&1 ||
    { tail -n 30 "$scratch/apt.log"; exit 1; }
rm -rf "$root/tmp/check"
files >"$scratch/after"
diff "$scratch/before" "$scratch/after" || { echo "the lines above are files that installing and removing changed"; exit 1; }
say "installed, run and removed cleanly"
