// SPDX-License-Identifier: BSD-3-Clause
// No bytes crash the readers of matrix files, and what they accept is a sound matrix.
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "core/error.hpp"
#include "io/gzip.hpp"
#include "io/matrix_market.hpp"
#include "io/petsc_binary.hpp"

using namespace hyperplane;

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

void require_sound(const CsrMatrix& csr) {
    require(csr.rows > 0 && Index(csr.row_begin.size()) == csr.rows + 1 && csr.row_begin.front() == 0);
    require(csr.row_begin.back() == Index(csr.column.size()) && csr.column.size() == csr.value.size());
    for (Index row = 0; row < csr.rows; ++row) {
        require(csr.row_begin[row] <= csr.row_begin[row + 1]);
        for (Index at = csr.row_begin[row]; at < csr.row_begin[row + 1]; ++at) {
            require(csr.column[at] >= 0 && csr.column[at] < csr.rows && std::isfinite(csr.value[at]));
            require(at == csr.row_begin[row] || csr.column[at - 1] < csr.column[at]);
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    try {
        require_sound(parse_matrix_market(text, "a.mtx").csr);
    } catch (const FileError& error) {
        require(*error.what() != '\0');
    }
    try {
        for (double value : parse_matrix_market_vector(text, "b.mtx")) require(std::isfinite(value));
    } catch (const FileError& error) {
        require(*error.what() != '\0');
    }
    try {
        require_sound(parse_petsc_matrix(text, "a.petsc").csr);
    } catch (const FileError& error) {
        require(*error.what() != '\0');
    }
    try {
        for (double value : parse_petsc_vector(text, "b.petsc")) require(std::isfinite(value));
    } catch (const FileError& error) {
        require(*error.what() != '\0');
    }
    try {
        expand_gzip(text, "a.gz", [](std::string_view) {});
    } catch (const FileError& error) {
        require(*error.what() != '\0');
    }
    return 0;
}
