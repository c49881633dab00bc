# SPDX-License-Identifier: BSD-3-Clause
"""Errors of the program and of solves in this process, with the program's exit codes."""

USAGE, FILE_ERROR, NO_DEVICE = 2, 7, 9


class SolveError(Exception):
    """The input is wrong, or the work cannot be done. `reason` says why and what to do; `code` is the exit code that the
    program has for it: 2 wrong keys or arrays, 5 a pivot that cannot be used, 6 out of memory, 9 no GPU."""

    def __init__(self, code, reason):
        super().__init__(reason)
        self.code, self.reason = code, reason

    def __reduce__(self):  # Exception would be made again from its message alone
        return type(self), (self.code, self.reason), self.__dict__


class RunError(Exception):
    """The program could not do what it was asked to. `exit_code` is its exit code, the message what it said."""

    def __init__(self, exit_code, message):
        super().__init__(message)
        self.exit_code = exit_code

    def __reduce__(self):
        return type(self), (self.exit_code, str(self)), self.__dict__


def refusal(reason):
    return SolveError(USAGE, reason)
