// SPDX-License-Identifier: BSD-3-Clause
#include "core/error.hpp"
#include "precond/cusparse_ilu/calls.hpp"
#include "precond/cusparse_ilu/cusparse_ilu.hpp"

namespace hyperplane {
using namespace cusparse;

namespace {

CompressedRows rows_of(const Context& context, const SystemMatrix& matrix, RowFormat format) {
    if (!matrix.space().has_grid()) {
        const BsrMatrix& a = general(matrix);
        return {context, a, filled_pattern(context.host(), a.pattern(), 0, "cuSPARSE's rows"), format, RowPart::full};
    }
    const StructMatrix& a = structured(matrix);
    if (a.grid().any_periodic())
        throw UsageError("a product by cuSPARSE leaves out couplings that wrap; bench a grid without periodic axes");
    return {context, a, a.stencil(), format, RowPart::full};
}

}  // namespace

struct CusparseProduct::Device {
    Handle handle;
    cusparseSpMVAlg_t algorithm;
    CompressedRows rows;
    Buffer<double> x, y;
    Sparse matrix;
    Dense from, to;
    Description general;
    Buffer<char> work;

    Device(const Context& context, const SystemMatrix& a, RowFormat format, ProductAlgorithm which)
        : algorithm(which == ProductAlgorithm::first ? CUSPARSE_SPMV_ALG_DEFAULT : CUSPARSE_SPMV_CSR_ALG2),
          rows(rows_of(context, a, format)),
          x(context, "cuSPARSE's vectors", a.unknowns()),
          y(context, "cuSPARSE's vectors", a.unknowns()) {
        open(context, handle);
        describe(general, CUSPARSE_FILL_MODE_LOWER, CUSPARSE_DIAG_TYPE_NON_UNIT);
        if (format == RowFormat::csr) prepare(context);
    }

    void prepare(const Context& context) {
        describe(matrix, rows, rows.values(), value_type<double>);
        describe(from, x.data(), x.size(), value_type<double>);
        describe(to, y.data(), y.size(), value_type<double>);
        std::size_t bytes = 0;
        check(cusparseSpMV_bufferSize(handle, plain, &one<double>, matrix, from, &zero<double>, to, value_type<double>,
                                      algorithm, &bytes),
              "cusparseSpMV_bufferSize");
        work = buffer(context, bytes);
        check(cusparseSpMV_preprocess(handle, plain, &one<double>, matrix, from, &zero<double>, to, value_type<double>,
                                      algorithm, work.data()),
              "cusparseSpMV_preprocess");
    }

    void multiply() {
        if (rows.format() == RowFormat::bsr)
            return check(cusparseDbsrmv(handle, by_rows, plain, rows.rows(), rows.rows(), rows.entries(), &one<double>,
                                        general, rows.values(), rows.row_begin(), rows.column(), rows.block(), x.data(),
                                        &zero<double>, y.data()),
                         "cusparseDbsrmv");
        check(cusparseSpMV(handle, plain, &one<double>, matrix, from, &zero<double>, to, value_type<double>, algorithm,
                           work.data()),
              "cusparseSpMV");
    }
};

CusparseProduct::CusparseProduct(const Context& context, const SystemMatrix& a, RowFormat format,
                                 ProductAlgorithm algorithm)
    : a_(a), device_(std::make_unique<Device>(context, a, format, algorithm)) {}
CusparseProduct::~CusparseProduct() = default;

void CusparseProduct::load(const Vector& x) const {
    to_rows(x, device_->x.data());
}

void CusparseProduct::multiply() const {
    device_->multiply();
}

void CusparseProduct::store(Vector& y) const {
    from_rows(device_->y.data(), y);
}

void CusparseProduct::apply(const Vector& x, Vector& y) const {
    load(x);
    multiply();
    store(y);
}

}  // namespace hyperplane
