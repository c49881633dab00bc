// SPDX-License-Identifier: BSD-3-Clause
// Products of a StructMatrix on a GPU; spmv.cuh is the kernel's text.
#pragma once

#include "core/device/rtc.hpp"
#include "core/matrix/arguments.hpp"
#include "core/matrix/single_matrix.hpp"
#include "core/matrix/struct_matrix.hpp"

namespace hyperplane {

/// The kernels of matrices of one shape.
class StructMatrixCuda {
public:
    explicit StructMatrixCuda(const StructMatrix& a);

    /// y = A x
    void apply(const StructMatrix& a, const Vector& x, Vector& y) const;
    /// y = b - A x
    void subtract_product(const StructMatrix& a, const Vector& b, const Vector& x, Vector& y) const;
    /// y = A x and *product = x'y on the GPU, with the bits of apply and dot, in one pass. Only where has_dot. Its
    /// kernel is loaded at the first call.
    void apply_dot(const StructMatrix& a, const Vector& x, Vector& y, double* product) const;
    static bool has_dot(const Layout& layout, int dof);
    /// r = b - A x, in twice the working precision. Its kernel is loaded at the first call.
    void residual(const StructMatrix& a, const Vector& b, const Vector& x, Vector& r) const;

    /// What NVRTC compiles for the product and for the residual.
    static rtc::Programs programs(const Layout& layout, const Stencil& stencil, int dof, MatrixStorage storage);

private:
    using Arguments = SpmvArguments<rtc::most_entries>;
    using DotArguments = SpmvDotArguments<rtc::most_entries>;
    using Kernel = rtc::Kernel<Arguments>;
    void launch(const Kernel& kernel, const StructMatrix& a, const Vector* b, const Vector& x, Vector& y) const;

    Kernel apply_;
    mutable Kernel residual_;
    mutable rtc::Kernel<DotArguments> apply_dot_;
};

/// The kernel of a SingleMatrix.
class SingleMatrixCuda {
public:
    explicit SingleMatrixCuda(const SingleMatrix& a);
    /// r = b - A x
    void subtract_product(const SingleMatrix& a, const SingleVector& b, const SingleVector& x, SingleVector& r) const;
    static rtc::Programs programs(const Layout& layout, const Stencil& stencil, int dof, MatrixStorage storage);

private:
    rtc::Kernel<SpmvArguments<rtc::most_entries, float>> kernel_;
};

}  // namespace hyperplane
