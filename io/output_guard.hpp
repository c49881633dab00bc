// SPDX-License-Identifier: BSD-3-Clause
// Decides which files the program may replace. Every writer names the kind of its file. A file that exists already is
// replaced only if this program wrote it and it is of the same kind, or if it is empty. Symbolic links are resolved
// first: the file to which they lead is checked and replaced. Devices, folders, FIFOs and sockets are never written.
//
// A kind is recognised from the bytes of the file, without HDF5, so that a malicious file can do no harm here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hyperplane {

enum class FileKind {
    record,
    comparison,
    study,
    checkpoint,
    fields,   ///< VTKHDF
    json,     ///< results of bench and compare
    csv,      ///< a study's table
    script,   ///< a batch script
    matrix,   ///< Matrix Market
    page,     ///< HTML
    picture,  ///< PNG, PDF or SVG
    log,      ///< the log of a study's case
    lock,
};

/// "record of a run"
const char* to_string(FileKind kind);

/// Which files may be replaced.
enum class Overwrite {
    own,  ///< files of the same kind that this program wrote
    any,  ///< --force: any regular file
};

/// The file to which a name leads. Links are followed, also if the file does not exist yet. Throws FileError if links
/// form a cycle.
std::string resolve_links(const std::string& path);

/// Whether the file is empty, or of this kind and written by this program; false if it cannot be read.
bool is_own(const std::string& path, FileKind kind);

/// Throws FileError if a file of this kind may not be written to `path`, a name without links. `name` is the name that
/// the user gave, for the message.
void guard_output(const std::string& path, const std::string& name, FileKind kind, Overwrite overwrite);
/// The same for a name that may be a link.
void guard_output(const std::string& name, FileKind kind, Overwrite overwrite);

/// Throws FileError if two of these names of outputs lead to the same file, because they are equal or because of links.
/// `who` writes them, "a run", and `advice` says what to do.
void refuse_one_file_of_two(const std::vector<std::string>& names, const std::string& who, const std::string& advice);

/// Removes a file of this kind that this program wrote. Other files stay.
void remove_own(const std::string& path, FileKind kind);

/// The first bytes of every HDF5 file.
inline constexpr std::string_view hdf5_signature = "\x89HDF\r\n\x1a\n";

/// The words that this program writes in the first lines of its text files.
inline constexpr const char* made_by_mark = "made by hyperplane";

}  // namespace hyperplane
