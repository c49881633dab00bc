# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034
# A function of the scripts in this folder, to be sourced by them.

# program_of_commit BUILD: sets `program` to the program in a build folder and `sha` to the commit that it was built
# from. The script ends with code 2 if there is no program, or if it was built from uncommitted changes.
program_of_commit() {
    program=$1/apps/hyperplane
    [ -x "$program" ] || { echo "$program does not exist: build it, or name another folder with --build" >&2; exit 2; }
    program=$(realpath "$program")  # scripts change their folder
    sha=$("$program" info build --json | sed -n 's/.*"git_sha": *"\([^"]*\)".*/\1/p')
    case $sha in
        *-dirty | unknown | '') echo "the program was built from '$sha': commit first, then build" >&2; exit 2 ;;
    esac
}
