// SPDX-License-Identifier: BSD-3-Clause
// cuSPARSE's triangular solves.
#pragma once

#include <memory>

#include "precond/cusparse_ilu/calls.hpp"
#include "precond/cusparse_ilu/cusparse_ilu.hpp"

namespace hyperplane::cusparse {

/// Both triangular solves with factored rows, z = U^-1 L^-1 r, on vectors that this object holds.
class Solves {
public:
    virtual ~Solves() = default;
    /// Allocates work space and analyses the factored values. If the values change later, `update` must be called.
    virtual void analyse(const Context& context) = 0;
    virtual void update() = 0;
    virtual Index analyses() const = 0;  ///< how many have been made so far, of both triangles together
    virtual Index work_bytes() const = 0;

    virtual void load(const Vector& r) = 0;  ///< converts r to natural order
    virtual void lower() = 0;                ///< solves with what was loaded
    virtual void upper() = 0;                ///< solves with the lower solve's result
    virtual void store(Vector& z) = 0;       ///< converts the result back
};

/// SpSV for CSR, bsrsv2 for BSR. If `cholesky`, the upper triangle is the transpose of the lower one. In single
/// precision the solves read the rounded values, and r is divided by a power of two near its norm, so that it fits.
/// `handle` and `rows` must outlive the result. bsrsv2 uses levels as the options say; SpSV has no such choice.
std::unique_ptr<Solves> make_solves(const Context& context, const Handle& handle, CompressedRows& rows, Index unknowns,
                                    bool cholesky, const CusparseOptions& options);

}  // namespace hyperplane::cusparse
