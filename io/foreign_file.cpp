// SPDX-License-Identifier: BSD-3-Clause
#include "io/foreign_file.hpp"

#include <fmt/format.h>

namespace hyperplane {
namespace {

/// A kind of file by its first bytes.
struct Kind {
    std::string_view head;
    const char *what, *remedy;
};
constexpr const char* written_anew = "write its matrix as Matrix Market, as scipy.io.mmwrite does";
constexpr const char* expanded = "expand it; gzip alone is expanded here";
constexpr const char* encoded = "iconv -f UTF-16 -t UTF-8 FILE > NEWFILE converts it";
constexpr const char* written_by_petsc =
    "PETSc writes big-endian numbers on every machine: write it with its own viewer, or as Matrix Market";
constexpr Kind kinds[] = {
    {"\x89HDF\r\n\x1a\n", "an HDF5 file, such as MATLAB writes since version 7.3", written_anew},
    {"MATLAB 5.0 MAT-file", "a MAT-file of MATLAB", written_anew},
    {"MATLAB 7.3 MAT-file", "a MAT-file of MATLAB", written_anew},
    {"PK\x03\x04", "a zip archive, such as SciPy's .npz files", written_anew},
    {"\x93NUMPY", "a file of NumPy", written_anew},
    {"BZh", "compressed by bzip2", expanded},
    {std::string_view("\xfd"
                      "7zXZ\0",
                      6),
     "compressed by xz", expanded},
    {"\x28\xb5\x2f\xfd", "compressed by zstd", expanded},
    {"\xff\xfe", "text in UTF-16", encoded},
    {"\xfe\xff", "text in UTF-16", encoded},
    {std::string_view("%\0%\0", 4), "text in UTF-16", encoded},
    {std::string_view("\0%\0%", 4), "text in UTF-16", encoded},
    {std::string_view("\x50\x7b\x12\0", 4), "a file of PETSc with little-endian numbers", written_by_petsc},
    {std::string_view("\x4e\x7b\x12\0", 4), "a file of PETSc with little-endian numbers", written_by_petsc},
};

/// Whether the first header of a tar archive (POSIX.1-1988 and GNU) begins the file.
bool is_tar(std::string_view head) {
    constexpr std::size_t at = 257;
    return head.size() >= at && head.substr(at).starts_with("ustar");
}

/// Whether a file begins as one of the Harwell-Boeing and Rutherford-Boeing collections does: its third line has the
/// type of the matrix, values (real, complex, integer, pattern), symmetry and assembly, and then numbers. A file of
/// Matrix Market has a number or a comment there.
bool is_harwell_boeing(std::string_view head) {
    for (int line = 1; line < 3; ++line) {
        if (head.starts_with('%')) return false;
        const std::size_t end = head.find('\n');
        if (end == head.npos) return false;
        head.remove_prefix(end + 1);
    }
    if (head.size() < 4) return false;
    const auto one_of = [&](std::size_t at, std::string_view letters) {
        return letters.find(head[at]) != letters.npos;
    };
    return one_of(0, "rcipqRCIPQ") && one_of(1, "suhzrSUHZR") && one_of(2, "aeAE") && head[3] == ' ';
}

std::string told(const char* what, const char* remedy) {
    return fmt::format("{}, not Matrix Market or a binary file of PETSc; {}", what, remedy);
}

}  // namespace

std::string foreign_kind(std::string_view head) {
    for (const Kind& kind : kinds)
        if (head.starts_with(kind.head)) return told(kind.what, kind.remedy);
    if (is_tar(head))
        return told("a tar archive, as collections of matrices hand out",
                    "take the matrix out of it with tar xf FILE, and name that file");
    if (is_harwell_boeing(head)) return told("a Harwell-Boeing or Rutherford-Boeing file", written_anew);
    return "";
}

}  // namespace hyperplane
