// SPDX-License-Identifier: BSD-3-Clause
// The calls of cuBLAS that `bench vectors` compares with. The library is loaded when it is first needed, so that the
// program starts without it. Included only in builds with CUDA.
#pragma once

#include <cublas_v2.h>

#include "core/device/context.hpp"
#include "core/device/shared_library.hpp"

namespace hyperplane {

/// cuBLAS on a context's stream; coefficients and results are in device memory.
class Cublas {
public:
    /// Throws DeviceError if the library cannot be loaded or does not start.
    explicit Cublas(const Context& context);
    ~Cublas();
    Cublas(const Cublas&) = delete;
    Cublas& operator=(const Cublas&) = delete;

    void dot(int n, const double* x, const double* y, double* product) const;
    void axpy(int n, const double* a, const double* x, double* y) const;
    void scale(int n, const double* a, double* x) const;
    /// y = a op(V) x + b y for a matrix of n rows and `columns` columns, one after the other in memory.
    void gemv(bool transposed, int n, int columns, const double* a, const double* v, const double* x, const double* b,
              double* y) const;

private:
    static void check(cublasStatus_t status, const char* what);

    SharedLibrary library_;
    cublasHandle_t handle_ = nullptr;
    decltype(&cublasDestroy_v2) destroy_;
    decltype(&cublasDdot_v2) dot_;
    decltype(&cublasDaxpy_v2) axpy_;
    decltype(&cublasDscal_v2) scale_;
    decltype(&cublasDgemv_v2) gemv_;
};

}  // namespace hyperplane
