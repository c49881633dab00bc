// cuSPARSE's triangular solves.
#pragma once

#include <memory>

#include "precond/cusparse_calls.hpp"

namespace hyperplane::cusparse {

/// What a triangle is and where its vectors are.
struct Side {
    cusparseFillMode_t fill;
    cusparseDiagType_t diagonal;
    cusparseOperation_t operation;
    Buffer<double>*in, *out;
};

/// A triangular solve between two fixed vectors.
class Triangle {
public:
    virtual ~Triangle() = default;
    /// Allocates the work and analyses the factored values; later values are told by `update`.
    virtual void analyse(const Context& context) = 0;
    virtual void update() = 0;
    virtual void solve() = 0;
    Index work_bytes() const { return work_.size(); }

protected:
    Triangle(const Handle& handle, CompressedRows& rows, const Side& side)
        : handle_(handle), rows_(rows), side_(side) {}
    const Handle& handle_;
    CompressedRows& rows_;
    Side side_;
    Buffer<char> work_;
};

/// SpSV of csr, bsrsv2 of bsr. `handle` and `rows` must outlive it.
std::unique_ptr<Triangle> make_triangle(const Handle& handle, CompressedRows& rows, const Side& side);

}  // namespace hyperplane::cusparse
