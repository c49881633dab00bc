# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154
# Bare Debian 12 systems for the checks of packages, which source this file. $scratch is a folder that the caller removes.

missing() { printf 'skipped: %s\n' "$*"; exit 77; }
say() { printf -- '-- %s\n' "$*"; }

need_bare_systems() {
    [ "$(id -u)" -eq 0 ] || missing "changing the root needs root's rights"
    command -v debootstrap >/dev/null || missing "debootstrap is missing"
}

# Makes the system in a folder unless it is there, and mounts /proc in it.
bare() {
    local root=$1
    if [ ! -e "$root/complete" ]; then
        say "a bare Debian 12 in $root"
        rm -rf "$root"
        debootstrap --variant=minbase bookworm "$root" >"$scratch/debootstrap.log" 2>&1 ||
            missing "debootstrap failed: $(tail -n 1 "$scratch/debootstrap.log")"
        touch "$root/complete"
    fi
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    mount -t proc proc "$root/proc"
}
# Runs commands in the system of a folder.
inside() { DEBIAN_FRONTEND=noninteractive LC_ALL=C chroot "$1" /bin/bash -euc "$2" </dev/null; }
# Unmounts what lies below these places.
unmount() {
    local place
    for place in "$@"; do
        if mountpoint -q "$place"; then umount "$place"; fi
    done
}
