// SPDX-License-Identifier: BSD-3-Clause
#include "precond/cusparse_ilu/calls.hpp"

#include <fmt/format.h>

#include "core/device/cuda.hpp"
#include "core/error.hpp"

namespace hyperplane::cusparse {

const SharedLibrary& library() {
    static const SharedLibrary loaded(fmt::format("libcusparse.so.{}", CUSPARSE_VER_MAJOR), "cuSPARSE");
    return loaded;
}

void check(cusparseStatus_t status, const char* what, const char* part) {
    if (status == CUSPARSE_STATUS_SUCCESS) return;
    const std::string message = fmt::format("{}{}: {}", what, part, cusparseGetErrorString(status));
    if (status == CUSPARSE_STATUS_ALLOC_FAILED || status == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES)
        throw OutOfMemory("cuSPARSE is out of device memory in " + message);
    throw DeviceError("cuSPARSE: " + message);
}

void open(const Context& context, Handle& handle) {
    const cudaStream_t stream = cuda::stream(context);
    check(cusparseCreate(handle.address()), "cusparseCreate");
    check(cusparseSetStream(handle, stream), "cusparseSetStream");
}

void describe(Description& description, cusparseFillMode_t fill, cusparseDiagType_t diagonal) {
    check(cusparseCreateMatDescr(description.address()), "cusparseCreateMatDescr");
    check(cusparseSetMatFillMode(description, fill), "cusparseSetMatFillMode");
    check(cusparseSetMatDiagType(description, diagonal), "cusparseSetMatDiagType");
}

void describe(Sparse& sparse, const CompressedRows& rows, void* values, cudaDataType type) {
    check(cusparseCreateCsr(sparse.address(), rows.rows(), rows.rows(), rows.entries(),
                            const_cast<int*>(rows.row_begin()), const_cast<int*>(rows.column()), values,
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type),
          "cusparseCreateCsr");
}

void describe(Dense& dense, void* values, Index size, cudaDataType type) {
    check(cusparseCreateDnVec(dense.address(), size, values, type), "cusparseCreateDnVec");
}

Buffer<char> buffer(const Context& context, std::size_t bytes) {
    return Buffer<char>(context, "cuSPARSE's buffers", Index(bytes));
}

Buffer<char> buffer(const Context& context, int bytes, const char* what) {
    if (bytes < 0)
        throw UsageError(fmt::format(
            "cuSPARSE's {} needs a buffer of more than the 2 GiB that it supports; use struct_ilu or a smaller grid",
            what));
    return buffer(context, std::size_t(bytes));
}

}  // namespace hyperplane::cusparse
