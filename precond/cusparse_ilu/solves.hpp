// SPDX-License-Identifier: BSD-3-Clause
// cuSPARSE's triangular solves.
#pragma once

#include <memory>

#include "precond/cusparse_ilu/calls.hpp"

namespace hyperplane::cusparse {

/// Both solves with factored rows, between vectors of their own: z = U^-1 L^-1 r.
class Solves {
public:
    virtual ~Solves() = default;
    /// Allocates the work and analyses the factored values; later values are told by `update`.
    virtual void analyse(const Context& context) = 0;
    virtual void update() = 0;
    virtual Index work_bytes() const = 0;

    virtual void load(const Vector& r) = 0;  ///< converts r to natural order
    virtual void lower() = 0;                ///< of what was loaded
    virtual void upper() = 0;                ///< of the lower solve's result
    virtual void store(Vector& z) = 0;       ///< converts the result back
};

/// SpSV of csr, bsrsv2 of bsr; `cholesky`: the upper triangle is the lower one's transpose. In double precision, or in
/// single: then of rows that are rounded, and of r in units of a power of two near its norm, so that it fits.
/// `handle` and `rows` must outlive it.
std::unique_ptr<Solves> make_solves(const Context& context, const Handle& handle, CompressedRows& rows, Index unknowns,
                                    bool cholesky, FactorStorage storage);

}  // namespace hyperplane::cusparse
