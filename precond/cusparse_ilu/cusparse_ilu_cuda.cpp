// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <chrono>
#include <functional>

#include "core/error.hpp"
#include "core/timer.hpp"
#include "precond/cusparse_ilu/cusparse_ilu.hpp"
#include "precond/cusparse_ilu/factorisation.hpp"
#include "precond/cusparse_ilu/solves.hpp"

namespace hyperplane {
using namespace cusparse;

namespace {

/// The seconds that `work` takes, including what it queues on the context's device.
double seconds_of(const Context& context, const std::function<void()>& work) {
    context.synchronize();
    const auto begin = std::chrono::steady_clock::now();
    work();
    context.synchronize();
    return seconds_since(begin);
}

}  // namespace

std::string cusparse_unavailable() {
    return device::unavailable();
}

struct CusparseIlu::Device {
    Layout layout;
    std::vector<Int3> offsets;
    Stencil pattern;
    int dof;
    bool symmetric, analysed = false;
    Handle handle;
    CompressedRows rows;
    std::unique_ptr<Factorisation> factorisation;
    std::unique_ptr<Solves> solves;
    Buffer<char> work;
    CusparseCosts costs;

    Device(const Context& context, const StructMatrix& a, const CusparseOptions& options)
        : layout(a.layout()),
          offsets(a.stencil().offsets()),
          pattern(a.stencil().filled(options.fill_level)),
          dof(a.dof()),
          symmetric(a.symmetric()),
          rows(context, a, pattern, options.format, options.part(symmetric)) {
        open(context, handle);
        const bool cholesky = options.cholesky(symmetric);
        factorisation = make_factorisation(handle, options.format, cholesky, options.levels);
        solves = make_solves(context, handle, rows, a.unknowns(), cholesky, options);
    }

    bool serves(const StructMatrix& a) const {
        return a.layout() == layout && a.dof() == dof && a.symmetric() == symmetric && a.stencil().offsets() == offsets;
    }

    void analyse_factorisation(const Context& context) {
        work = buffer(context, factorisation->work_bytes(rows), factorisation->name());
        costs.analysis += seconds_of(context, [&] { factorisation->analyse(rows, work.data()); });
        require_pivots();
    }

    /// Analyses the triangles in the first call, and only updates the solves later.
    void take_factors(const Context& context) {
        if (analysed) return solves->update();
        costs.analysis += seconds_of(context, [&] { solves->analyse(context); });
        costs.work_bytes = work.size() + solves->work_bytes();
        analysed = true;
    }

    void require_pivots() {
        const int at = factorisation->zero_pivot();
        if (at < 0) return;
        const int rows_of_point = rows.format() == RowFormat::bsr ? 1 : dof;
        const Int3 cell = layout.grid().point(Index(at / rows_of_point));
        throw SetupError(
            fmt::format("cusparse_ilu: {} found a pivot that is zero{} at cell ({},{},{}){}, which it cannot replace; "
                        "use struct_ilu, which can (preconditioner.pivot_policy = shift or boost)",
                        factorisation->name(), symmetric ? " or not positive" : "", cell.x, cell.y, cell.z,
                        rows_of_point > 1 ? fmt::format(", component {}", at % rows_of_point) : ""));
    }
};

CusparseIlu::CusparseIlu(const Context& context, const CusparseOptions& options)
    : context_(context), options_(options) {}
CusparseIlu::~CusparseIlu() = default;

SetupReport CusparseIlu::setup(const SystemMatrix& matrix) {
    const StructMatrix& a = structured(matrix);
    if (!device_ || !device_->serves(a)) {
        device_.reset();
        options_.require_factorisable(CompressedRows::scalars(a.grid(), a.stencil().filled(options_.fill_level),
                                                              a.dof(), options_.part(a.symmetric())));
        const double seconds = seconds_of(context_, [&] { device_ = std::make_unique<Device>(context_, a, options_); });
        device_->costs.conversion = seconds;
        device_->analyse_factorisation(context_);
    } else {
        restore(a);
    }
    Device& d = *device_;
    factorise();
    d.require_pivots();
    SetupReport report;
    if (is_reduced(options_.storage))
        judge(d.rows.round(context_, d.layout.grid()), options_.storage, "cusparse_ilu", report, false);
    d.take_factors(context_);
    report.factor_bytes = d.rows.bytes();
    return report;
}

void CusparseIlu::restore(const StructMatrix& a) {
    device_->rows.assign(a);
}

void CusparseIlu::factorise() {
    device_->factorisation->factorise(device_->rows, device_->work.data());
}

void CusparseIlu::load(const Vector& r) const {
    device_->solves->load(r);
}

void CusparseIlu::lower_solve() const {
    device_->solves->lower();
}

void CusparseIlu::upper_solve() const {
    device_->solves->upper();
}

void CusparseIlu::store(Vector& z) const {
    device_->solves->store(z);
}

void CusparseIlu::apply(const Vector& r, Vector& z) const {
    load(r);
    lower_solve();
    upper_solve();
    store(z);
}

PreconditionerTraits CusparseIlu::traits() const {
    return {.fixed = true, .symmetric = device_ && device_->symmetric};
}

Index CusparseIlu::bytes_per_apply() const {
    const Device& d = *device_;
    return fewest_bytes(d.pattern, d.dof, d.layout.slots(), options_.storage);
}

const CusparseCosts& CusparseIlu::costs() const {
    return device_->costs;
}

}  // namespace hyperplane
