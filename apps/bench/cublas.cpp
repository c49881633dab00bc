// SPDX-License-Identifier: BSD-3-Clause
#include "apps/bench/cublas.hpp"

#include <fmt/format.h>

#include "core/device/cuda.hpp"
#include "core/error.hpp"

namespace hyperplane {

void Cublas::check(cublasStatus_t status, const char* what) {
    if (status != CUBLAS_STATUS_SUCCESS) throw DeviceError(fmt::format("{}: cuBLAS status {}", what, int(status)));
}

Cublas::Cublas(const Context& context)
    : library_(fmt::format("libcublas.so.{}", CUBLAS_VER_MAJOR), "bench vectors on a GPU") {
    destroy_ = library_.find<decltype(cublasDestroy_v2)>("cublasDestroy_v2");
    dot_ = library_.find<decltype(cublasDdot_v2)>("cublasDdot_v2");
    axpy_ = library_.find<decltype(cublasDaxpy_v2)>("cublasDaxpy_v2");
    scale_ = library_.find<decltype(cublasDscal_v2)>("cublasDscal_v2");
    gemv_ = library_.find<decltype(cublasDgemv_v2)>("cublasDgemv_v2");
    const cudaStream_t stream = cuda::stream(context);
    check(library_.find<decltype(cublasCreate_v2)>("cublasCreate_v2")(&handle_), "cublasCreate");
    check(library_.find<decltype(cublasSetStream_v2)>("cublasSetStream_v2")(handle_, stream), "cublasSetStream");
    check(library_.find<decltype(cublasSetPointerMode_v2)>("cublasSetPointerMode_v2")(handle_,
                                                                                      CUBLAS_POINTER_MODE_DEVICE),
          "cublasSetPointerMode");
}

Cublas::~Cublas() {
    if (handle_) destroy_(handle_);
}

void Cublas::dot(int n, const double* x, const double* y, double* product) const {
    check(dot_(handle_, n, x, 1, y, 1, product), "cublasDdot");
}

void Cublas::axpy(int n, const double* a, const double* x, double* y) const {
    check(axpy_(handle_, n, a, x, 1, y, 1), "cublasDaxpy");
}

void Cublas::scale(int n, const double* a, double* x) const {
    check(scale_(handle_, n, a, x, 1), "cublasDscal");
}

void Cublas::gemv(bool transposed, int n, int columns, const double* a, const double* v, const double* x,
                  const double* b, double* y) const {
    check(gemv_(handle_, transposed ? CUBLAS_OP_T : CUBLAS_OP_N, n, columns, a, v, n, x, 1, b, y, 1), "cublasDgemv");
}

}  // namespace hyperplane
