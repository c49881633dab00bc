# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034
# Functions of run.sh and test.sh, to be sourced from the repository's root: Debian packages, configuring, building.
# All output goes to stderr, so that the program's own stdout stays parseable.

program_packages=(g++ cmake ninja-build libhdf5-dev libspdlog-dev libfmt-dev libboost-program-options-dev
                  nlohmann-json3-dev zlib1g-dev libdeflate-dev libmetis-dev libopenmpi-dev openmpi-bin python3
                  python3-dev pybind11-dev
                  python3-h5py python3-matplotlib libjs-chart.js)
test_packages=(libgtest-dev clang clang-format clang-tidy libclang-rt-14-dev chromium chromium-driver python3-selenium
               mandoc mkdocs slurm-wlm munge)

say() { printf '%s\n' "$*" >&2; }

# install_missing PACKAGE...: calls apt-get only for missing packages. HYPERPLANE_INSTALL=no installs nothing, for
# machines that have the libraries from elsewhere.
install_missing() {
    [ "${HYPERPLANE_INSTALL:-yes}" = no ] && return 0
    if ! command -v dpkg-query >/dev/null; then
        [ -e build ] || say "Not a Debian system: going on with what is installed. Needed: $*"
        return 0
    fi
    local missing=() package
    for package in "$@"; do
        dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return 0

    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        # Without a terminal sudo must not wait for a password.
        if ! command -v sudo >/dev/null || { [ ! -t 0 ] && ! sudo -n true 2>/dev/null; }; then
            say "Missing packages: ${missing[*]}"
            say "They need root or sudo. Have someone run  apt-get install ${missing[*]}"
            say "or, if the libraries are installed in another way, set HYPERPLANE_INSTALL=no."
            return 2
        fi
        as_root=(sudo)
    fi
    say "Installing ${missing[*]}"
    local log
    log=$(mktemp)
    if ! { ${as_root[@]+"${as_root[@]}"} apt-get -o DPkg::Lock::Timeout=300 update &&
           ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 \
               install -y --no-install-recommends "${missing[@]}"; } </dev/null >"$log" 2>&1; then
        tail -n 40 "$log" >&2
        say "apt-get failed; its whole output is in $log"
        return 2
    fi
    rm -f "$log"
}

# The number of cores; nproc alone prints OMP_NUM_THREADS where that is set.
cores() { env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc; }

# One compiler for each core, but no more than there are 1.5 GiB for, within the memory limit of a container.
build_jobs() {
    local jobs kib limit
    jobs=$(cores)
    kib=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)
    limit=$(cat /sys/fs/cgroup/memory.max 2>/dev/null || echo max)
    if [ "$limit" != max ] && [ $((limit / 1024)) -lt "$kib" ]; then kib=$((limit / 1024)); fi
    [ $((kib / 1572864)) -lt "$jobs" ] && jobs=$((kib / 1572864))
    echo $((jobs > 1 ? jobs : 1))
}

# build PRESET [TARGET...]: quiet unless it fails; one line of progress on a terminal.
build() {
    local preset=$1 folder=build/$1
    shift
    mkdir -p "$folder"
    exec 9>"$folder/.lock"
    flock 9
    if [ ! -e "$folder/build.ninja" ]; then say "Building $folder, once, a few minutes"; fi
    if ! cmake --preset "$preset" 9>&- >"$folder/configure.log" 2>&1; then
        cat "$folder/configure.log" >&2
        say "Configuring failed."
        return 2
    fi
    local quiet=(--quiet)
    [ -t 2 ] && quiet=()
    if ! ninja -C "$folder" -j "$(build_jobs)" ${quiet[@]+"${quiet[@]}"} "$@" 9>&- >&2; then
        say "Building failed."
        return 2
    fi
    exec 9>&-
}
