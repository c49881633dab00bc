// SPDX-License-Identifier: BSD-3-Clause
// The seal of an HDF5 file that this program writes: 512 bytes before it that say what it is and prove that it is
// whole.
//
//   byte 0     magic, sequence number, bytes and CRC-32 of the image, CRC-32 of all these; then zeros
//   byte 512   the image, an HDF5 file; HDF5 looks for its beginning there, so that any of its tools opens the whole
//
// HDF5 can crash on a file that is damaged inside, so the seal is verified before HDF5 sees anything of it. A file
// without a seal, of a program before 0.2.0 or of somebody else, is read in a child process first.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "core/error.hpp"
#include "core/interfaces/saved_values.hpp"
#include "core/types.hpp"
#include "io/output_guard.hpp"

namespace hyperplane {

struct Seal {
    FileKind kind;       ///< record, comparison, study or checkpoint
    Index sequence = 0;  ///< of a checkpoint
};

/// Writes the image of an HDF5 file behind its seal, whole or not at all; throws FileError.
void write_sealed(const std::string& path, const std::vector<char>& image, const Seal& seal, Overwrite overwrite);

/// Values whose place in a file is known before they are written there.
struct PlacedValues {
    Index offset;  ///< in bytes from the beginning of the file
    SavedValues values;
};

/// Number of bytes before the image: the first place after 0 where HDF5 looks for a file's beginning.
inline constexpr Index seal_bytes = 512;

/// Writes a sealed file whose large arrays are not in memory, whole or not at all. `write_structure` makes the HDF5
/// file of this name, with room for a seal before it, and returns the arrays, which are then written piece by piece.
/// `most_bytes`: no fewer than the image will have; throws FileError if the disk has no room for them.
void write_sealed(const std::string& path, Index most_bytes,
                  const std::function<std::vector<PlacedValues>(const std::string& name)>& write_structure,
                  const Seal& seal, Overwrite overwrite);

/// The seal of a file that is whole; nothing for an HDF5 file that has none. Throws FileError: "PATH: damaged: ..." for
/// one that is not what was written, else why it is no HDF5 file.
std::optional<Seal> verify_seal(const std::string& path);

/// Calls `read` in a child process. Throws FileError: the message of the FileError that `read` ended with there, or
/// "PATH: damaged: ..." where it crashed, took more memory than the file can need or did not end.
void try_in_child(const std::string& path, const std::function<void()>& read);

/// Returns what read(sealed) reads of an HDF5 file, which it is let near only when that is safe: what it reads of a
/// file without a seal must be read before it returns. Throws FileError.
template <class Read>
std::invoke_result_t<Read, bool> read_proven(const std::string& path, const Read& read) {
    const bool sealed = verify_seal(path).has_value();
    if (!sealed) try_in_child(path, [&] { read(sealed); });
    return read(sealed);
}

/// Whether a file is of a kind: its seal says so, or if it has none, `look`, which reads it and is let near it only
/// when that is safe. False for a file that cannot be read.
template <class Look>
bool is_of_kind(const std::string& path, FileKind kind, const Look& look) try {
    if (const auto seal = verify_seal(path)) return seal->kind == kind;
    try_in_child(path, [&] { look(); });
    return look();
} catch (const FileError&) {
    return false;
}

}  // namespace hyperplane
