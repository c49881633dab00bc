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
    Layout layout;                                ///< of the matrices that it serves, on a grid
    std::vector<Int3> offsets;                    ///< and their stencil's
    std::shared_ptr<const BlockPattern> pattern;  ///< of general ones
    int dof;
    bool symmetric, analysed = false;
    Index block_rows, blocks;  ///< blocks of L + U
    Handle handle;
    CompressedRows rows;
    std::unique_ptr<Factorisation> factorisation;
    std::unique_ptr<Solves> solves;
    Buffer<char> work;
    CusparseCosts costs;

    /// Throws UsageError if the factors are more than cuSPARSE can compute.
    static std::unique_ptr<Device> make(const Context& context, const SystemMatrix& matrix,
                                        const CusparseOptions& options) {
        const RowPart part = options.part(matrix.symmetric());
        if (!matrix.space().has_grid()) {
            const BsrMatrix& a = general(matrix);
            const FilledPattern filled = filled_pattern(context.host(), a.pattern(), options.fill_level, "factor");
            options.require_factorisable(CompressedRows::scalars(filled, a.dof(), part));
            auto made = std::make_unique<Device>(context, a, filled, filled.pattern->blocks(), options);
            made->pattern = a.pattern();
            return made;
        }
        const StructMatrix& a = structured(matrix);
        const Stencil filled = a.stencil().filled(options.fill_level);
        options.require_factorisable(CompressedRows::scalars(a.grid(), filled, a.dof(), part));
        const Index blocks = (2 * filled.lower_size() + 1) * a.layout().slots();
        auto made = std::make_unique<Device>(context, a, filled, blocks, options);
        made->layout = a.layout();
        made->offsets = a.stencil().offsets();
        return made;
    }

    /// `filled`: the pattern of the factors.
    template <class Matrix, class Pattern>
    Device(const Context& context, const Matrix& a, const Pattern& filled, Index blocks_of_factors,
           const CusparseOptions& options)
        : dof(a.dof()),
          symmetric(a.symmetric()),
          block_rows(a.space().block_rows()),
          blocks(blocks_of_factors),
          rows(context, a, filled, options.format, options.part(symmetric)) {
        open(context, handle);
        const bool cholesky = options.cholesky(symmetric);
        factorisation = make_factorisation(handle, options.format, cholesky, options.levels);
        solves = make_solves(context, handle, rows, block_rows * dof, cholesky, options);
    }

    bool serves(const SystemMatrix& matrix) const {
        if (matrix.dof() != dof || matrix.symmetric() != symmetric || matrix.space().has_grid() == bool(pattern))
            return false;
        if (pattern) return general(matrix).pattern() == pattern;
        const StructMatrix& a = structured(matrix);
        return a.layout() == layout && a.stencil().offsets() == offsets;
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
        const int rows_of_block = rows.format() == RowFormat::bsr ? 1 : dof;
        std::string place, other = "sync_free_ilu";
        if (pattern) {
            place = fmt::format("row {}", pattern->given_row(at / rows_of_block) + 1);
        } else {
            const Int3 cell = layout.grid().point(Index(at / rows_of_block));
            place = fmt::format("cell ({},{},{})", cell.x, cell.y, cell.z);
            other = "struct_ilu";
        }
        throw SetupError(
            fmt::format("cusparse_ilu: {} found a pivot that is zero{} at {}{}, which it cannot replace; use {}, which "
                        "can (preconditioner.pivot_policy = shift or boost)",
                        factorisation->name(), symmetric ? " or not positive" : "", place,
                        rows_of_block > 1 ? fmt::format(", component {}", at % rows_of_block) : "", other));
    }
};

CusparseIlu::CusparseIlu(const Context& context, const CusparseOptions& options)
    : context_(context), options_(options) {}
CusparseIlu::~CusparseIlu() = default;

SetupReport CusparseIlu::setup(const SystemMatrix& a) {
    SetupReport report;
    const auto begin = std::chrono::steady_clock::now();
    const bool fresh = !device_ || !device_->serves(a);
    if (fresh) {
        device_.reset();
        const double seconds = seconds_of(context_, [&] { device_ = Device::make(context_, a, options_); });
        device_->costs.conversion = seconds;
        device_->analyse_factorisation(context_);
    }
    const double symbolic = fresh ? seconds_since(begin) : 0.0;
    const auto numeric = std::chrono::steady_clock::now();
    if (!fresh) restore(a);
    Device& d = *device_;
    factorise();
    d.require_pivots();
    if (d.pattern) {  // on a grid the parts are not told apart
        report.symbolic_seconds = symbolic;
        report.numeric_seconds = seconds_since(numeric);
    }
    if (is_reduced(options_.storage))
        judge(d.rows.round(context_, d.layout.grid()), options_.storage, "cusparse_ilu", report, false);
    d.take_factors(context_);
    d.costs.analyses = d.factorisation->analyses() + d.solves->analyses();
    report.factor_bytes = d.rows.bytes();
    return report;
}

void CusparseIlu::restore(const SystemMatrix& a) {
    device_->pattern ? device_->rows.assign(general(a)) : device_->rows.assign(structured(a));
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

bool CusparseIlu::solve_lower(const Vector& /*r*/, Vector& /*y*/) const {
    if (!device_ || device_->pattern) return false;
    lower_solve();
    return true;
}

Index CusparseIlu::bytes_per_apply() const {
    return fewest_bytes(device_->blocks, device_->dof, device_->block_rows, options_.storage);
}

const CusparseCosts& CusparseIlu::costs() const {
    return device_->costs;
}

}  // namespace hyperplane
