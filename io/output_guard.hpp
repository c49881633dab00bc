// SPDX-License-Identifier: BSD-3-Clause
// The one guard of what the program writes over. Every writer names the kind of its file, and a file that is there
// already is replaced only if it is of that kind and this program wrote it, or if it is empty. Symbolic links are
// resolved first: what a link names is judged, and is what is replaced. Devices, folders, FIFOs and sockets are never
// written.
//
// A kind is recognised by bytes of the file alone, without HDF5: nothing that a file holds can harm who looks at it
// here.
#pragma once

#include <string>

namespace hyperplane {

enum class FileKind {
    record,
    comparison,
    study,
    checkpoint,
    fields,   ///< VTKHDF
    json,     ///< what bench and compare found
    csv,      ///< a study's table
    script,   ///< a batch script
    matrix,   ///< Matrix Market
    page,     ///< HTML
    picture,  ///< PNG, PDF or SVG
    log,      ///< of a study's case
    lock,
};

/// "the record of a run"
const char* to_string(FileKind kind);

/// What may be written over.
enum class Overwrite {
    own,  ///< what this program wrote, of the same kind
    any,  ///< --force: any regular file
};

/// The file that a name leads to: links are followed, also those to a file that is not there yet. Throws FileError
/// where they go round in circles.
std::string resolve_links(const std::string& path);

/// Whether the file is empty, or of this kind and written by this program; false where it cannot be read.
bool is_own(const std::string& path, FileKind kind);

/// Throws FileError where a file of this kind may not be written to `path`: see above. `path`: links resolved.
/// `name`: as the user knows the file.
void guard_output(const std::string& path, const std::string& name, FileKind kind, Overwrite overwrite);
/// The same of a name with links.
void guard_output(const std::string& name, FileKind kind, Overwrite overwrite);

/// Removes a file that this program wrote, of this kind; leaves any other alone.
void remove_own(const std::string& path, FileKind kind);

/// What text files of ours have in their first lines.
inline constexpr const char* made_by_mark = "made by hyperplane";

}  // namespace hyperplane
