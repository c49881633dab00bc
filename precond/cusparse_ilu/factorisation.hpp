// SPDX-License-Identifier: BSD-3-Clause
// cuSPARSE's incomplete factorisations.
#pragma once

#include <memory>

#include "precond/cusparse_ilu/calls.hpp"

namespace hyperplane::cusparse {

/// An incomplete factorisation that overwrites compressed rows: A ~ L U, or A ~ L L^T if they are a lower triangle.
class Factorisation {
public:
    virtual ~Factorisation() = default;
    virtual int work_bytes(CompressedRows& rows) = 0;
    virtual void analyse(CompressedRows& rows, void* work) = 0;
    virtual Index analyses() const = 0;  ///< how many have been made so far
    virtual void factorise(CompressedRows& rows, void* work) = 0;
    /// Row, or block row, of the first pivot that is missing or zero; -1 if there is none. Waits for the device.
    virtual int zero_pivot() = 0;
    virtual const char* name() const = 0;
};

/// csrilu02 or bsrilu02, depending on the format; csric02 if `cholesky`, for a lower triangle in CSR. `handle` must
/// outlive the result. `levels`: whether it uses the levels that its analysis finds.
std::unique_ptr<Factorisation> make_factorisation(const Handle& handle, RowFormat format, bool cholesky, bool levels);

}  // namespace hyperplane::cusparse
