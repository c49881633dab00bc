// SPDX-License-Identifier: BSD-3-Clause
// cuSPARSE's objects as owned values, and its errors as exceptions of this program. Files that include this one are
// compiled only if the CUDA toolkit has the incomplete factorisations.
#pragma once

#include "precond/cusparse_ilu/compressed_rows.hpp"
#include "precond/cusparse_ilu/library.hpp"

namespace hyperplane::cusparse {

/// Throws OutOfMemory or DeviceError if `status` is an error. The message names the routine, `what` followed by `part`.
void check(cusparseStatus_t status, const char* what, const char* part = "");

/// An object of cuSPARSE, which a routine creates at address() and the destructor destroys.
template <class T, const auto& destroy>
class Owned {
public:
    Owned() = default;
    ~Owned() {
        if (value_) destroy(value_);
    }
    Owned(const Owned&) = delete;
    Owned& operator=(const Owned&) = delete;
    T* address() { return &value_; }
    operator T() const { return value_; }

private:
    T value_{};
};

using Handle = Owned<cusparseHandle_t, cusparseDestroy>;
using Description = Owned<cusparseMatDescr_t, cusparseDestroyMatDescr>;
using Sparse = Owned<cusparseSpMatDescr_t, cusparseDestroySpMat>;
using Dense = Owned<cusparseDnVecDescr_t, cusparseDestroyDnVec>;
using SpSV = Owned<cusparseSpSVDescr_t, cusparseSpSV_destroyDescr>;

/// T is double or float.
template <class T>
inline constexpr T one = 1;
template <class T>
inline constexpr T zero = 0;
template <class T>
inline constexpr cudaDataType value_type = sizeof(T) == sizeof(double) ? CUDA_R_64F : CUDA_R_32F;
/// Whether the routines of legacy names use the levels that their analysis finds.
inline cusparseSolvePolicy_t policy_of(bool levels) {
    return levels ? CUSPARSE_SOLVE_POLICY_USE_LEVEL : CUSPARSE_SOLVE_POLICY_NO_LEVEL;
}
inline constexpr cusparseDirection_t by_rows = CUSPARSE_DIRECTION_ROW;
inline constexpr cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;

/// Creates a handle on a context's stream.
void open(const Context& context, Handle& handle);
void describe(Description& description, cusparseFillMode_t fill, cusparseDiagType_t diagonal);
/// Describes rows whose `values` have the given type.
void describe(Sparse& sparse, const CompressedRows& rows, void* values, cudaDataType type);
void describe(Dense& dense, void* values, Index size, cudaDataType type);

/// Allocates work space.
Buffer<char> buffer(const Context& context, std::size_t bytes);
/// The same for a size that cuSPARSE has returned in 32 bits. Throws UsageError, naming `what`, if it is negative
/// because it has overflowed.
Buffer<char> buffer(const Context& context, int bytes, const char* what);

}  // namespace hyperplane::cusparse
