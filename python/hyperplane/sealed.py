# SPDX-License-Identifier: BSD-3-Clause
"""Whether a file can be given to HDF5: its seal (docs/record.md), or a reading in a process of its own."""

import os
import signal
import struct
import zlib

from .record import RecordError

HDF5 = b"\x89HDF\r\n\x1a\n"
MAGICS = [f"hyperplane {kind} 1".encode().ljust(24, b"\0") for kind in ("record", "comparison", "study", "checkpoint")]
HEADER_BYTES = 512
SECONDS = 30  # of processor time, for the reading of a file without a seal


def is_sealed(path):
    """True for a file that is whole, False for an HDF5 file without a seal; raises RecordError for any other."""
    try:
        with open(path, "rb") as file:
            head = file.read(HEADER_BYTES)
            if head.startswith(HDF5):
                return False
            whole = len(head) == HEADER_BYTES and zlib.crc32(head[:44]) == struct.unpack_from("<I", head, 44)[0]
            if head[:24] not in MAGICS and whole and head.startswith(b"hyperplane "):
                name = head[:24].rstrip(b"\0").decode("ascii", "replace")
                raise RecordError(f"{path}: a newer program wrote it ({name}), and its module reads it")
            if head[:24] not in MAGICS:
                torn = file.read(len(HDF5)) == HDF5
                raise RecordError(f"{path}: damaged: its header is incomplete" if torn else
                                  f"{path}: cannot be read (not an HDF5 file, or not all of one)" +
                                  ("; a deck holds no results: hyperplane run makes its record, NAME.h5"
                                   if str(path).endswith(".ini") else ""))
            if len(head) < HEADER_BYTES:
                raise RecordError(f"{path}: damaged: it ends within its header (truncated)")
            _, length, image_crc, header_crc = struct.unpack_from("<qqII", head, 24)
            if zlib.crc32(head[:44]) != header_crc or any(head[48:]):
                raise RecordError(f"{path}: damaged: its header is incomplete")
            if os.fstat(file.fileno()).st_size != HEADER_BYTES + length:
                raise RecordError(f"{path}: damaged: it has not the length it was written with (truncated)")
            crc = 0
            while part := file.read(1 << 20):
                crc = zlib.crc32(part, crc)
    except OSError as error:
        raise RecordError(f"{path}: cannot be read: {error.strerror}") from error
    if crc != image_crc:
        raise RecordError(f"{path}: damaged: its CRC-32 is {crc:08x}, it was written with {image_crc:08x}")
    return True


def try_in_child(path, read):
    """Calls read in a child process, so that a file on which HDF5 crashes harms nothing else; raises RecordError."""
    if not hasattr(os, "fork"):
        return
    child = os.fork()
    if child == 0:
        status = 0
        try:
            import resource

            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
            with open("/proc/self/statm", encoding="ascii") as statm:
                held = int(statm.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
            room = held + 16 * os.path.getsize(path) + (1 << 28)
            resource.setrlimit(resource.RLIMIT_AS, (room, room))
            nowhere = os.open(os.devnull, os.O_RDWR)
            for stream in (1, 2):
                os.dup2(nowhere, stream)
            read()
        except RecordError as error:  # which the second reading gives, too, but not where memory was the limit
            status = int(isinstance(error.__cause__, MemoryError))
        except BaseException:
            status = 1
        os._exit(status)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        how = "reading it does not come to an end" if number in (signal.SIGXCPU, signal.SIGKILL) else \
            "HDF5 crashes when it reads it"
        raise RecordError(f"{path}: damaged: {how}")
    if status:
        raise RecordError(f"{path}: damaged: it claims more than it can hold")
