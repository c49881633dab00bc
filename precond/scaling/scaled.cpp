// SPDX-License-Identifier: BSD-3-Clause
#include "precond/scaling/scaled.hpp"

#include <cmath>

#include "core/ranks/cuts.hpp"
#include "precond/factors/ldu.hpp"
#include "precond/general/pattern/diagonal_pattern.hpp"

namespace hyperplane {
namespace {

constexpr const char* label = "scaling";

const ScalingRow& chosen(const Parameters& parameters) {
    return find_row(scalings(), "scaling", parameters.text("scaling", "name"));
}

bool is_none(const ScalingRow& row) {
    return &row == &scalings().front();
}

/// Multiplies entry (i, j) by 2^(row[i] + column[j]).
void scale(CsrMatrix& a, const std::vector<int>& row, const std::vector<int>& column) {
    for (Index i = 0; i < a.rows; ++i)
        for (Index at = a.row_begin[i]; at < a.row_begin[i + 1]; ++at)
            a.value[at] = std::ldexp(a.value[at], row[i] + column[a.column[at]]);
}

/// The exponents of a rank's columns, with those of other ranks' rows around them.
std::vector<int> with_halo(const BsrMatrix& a, const std::vector<int>& own) {
    const RowSlab& slab = *a.pattern()->slab();
    std::vector<double> all(std::size_t(slab.rows_in_memory() * a.dof()));
    double* const first = all.data() + slab.before * a.dof();
    std::copy(own.begin(), own.end(), first);
    exchange_rows_on_host(a.context(), slab, a.dof(), first);
    return {all.begin(), all.end()};
}

/// The number of sides from which a matrix is scaled.
int sides(const ScalingRow& scaling) {
    return scaling.columns == ColumnScales::none ? 1 : 2;
}

/// Whether M is symmetric if M~ is.
bool has_equal_sides(const ScalingRow& scaling, bool symmetric) {
    return scaling.columns == ColumnScales::those_of_rows || (scaling.columns == ColumnScales::own && symmetric);
}

class ScaledPreconditioner : public Preconditioner, public HasLduFactors {
public:
    ScaledPreconditioner(const Context& context, const ScalingRow& scaling, bool symmetric,
                         std::unique_ptr<Preconditioner> inner)
        : context_(context), scaling_(scaling), symmetric_(symmetric), inner_(std::move(inner)) {}

    SetupReport setup(const SystemMatrix& matrix) override {
        const BsrMatrix& a = general(matrix);
        allocate(a);
        std::unique_ptr<BsrMatrix> copy;
        const BsrMatrix& host = on_host(a, copy);
        Scales scales = scaling_.create(host);
        if (a.space().is_part() && !scales.column.empty()) scales.column = with_halo(a, scales.column);
        fill(host, scales);
        SetupReport report = inner_->setup(*scaled_);
        report.factor_bytes += bytes_held();
        return report;
    }
    void suggest_shift(double alpha) override { inner_->suggest_shift(alpha); }
    void apply(const Vector& r, Vector& z) const override {
        rows_->apply(r, before_);
        if (!columns()) return inner_->apply(before_, z);
        inner_->apply(before_, after_);
        columns()->apply(after_, z);
    }
    PreconditionerTraits traits() const override {
        PreconditionerTraits traits = inner_->traits();
        traits.symmetric = traits.symmetric && has_equal_sides(scaling_, symmetric_);
        return traits;
    }
    Index bytes_per_apply() const override {
        return inner_->bytes_per_apply() + rows_->bytes_per_apply() * sides(scaling_);
    }
    SweepCounts sweeps() const override { return inner_->sweeps(); }
    bool has_ldu() const override { return factors() && factors()->has_ldu(); }
    /// Of M itself: with M~ = L D U it is (R^-1 L R) (R^-1 D C^-1) (C U C^-1).
    LduFactors ldu() const override {
        const std::vector<int> r = exponents(*rows_),
                               c = columns() ? exponents(*columns()) : std::vector<int>(r.size(), 0);
        const std::vector<int> less_r = negative(r), less_c = negative(c);
        LduFactors ldu = factors()->ldu();
        scale(ldu.lower, less_r, r);
        scale(ldu.diagonal, less_r, less_c);
        scale(ldu.upper, c, less_c);
        return ldu;
    }
    void set_setup_sweeps(int count) override { inner_->set_setup_sweeps(count); }
    std::string solve_way() const override { return inner_->solve_way(); }

private:
    /// C; null if it is the identity.
    const BsrMatrix* columns() const {
        return scaling_.columns == ColumnScales::those_of_rows ? rows_.get() : columns_.get();
    }
    const HasLduFactors* factors() const { return dynamic_cast<const HasLduFactors*>(inner_.get()); }
    /// The exponents of R or C, by row.
    static std::vector<int> exponents(const BsrMatrix& of) {
        std::unique_ptr<BsrMatrix> copy;
        const BsrMatrix& diagonal = on_host(of, copy);
        const int dof = diagonal.dof();
        std::vector<int> found;
        for (Index row = 0; row < diagonal.unknowns(); ++row)
            found.push_back(std::ilogb(diagonal.values()[row * dof + row % dof]));
        return found;
    }
    static std::vector<int> negative(std::vector<int> exponents) {
        for (int& one : exponents) one = -one;
        return exponents;
    }
    Index bytes_held() const { return scaled_->bytes() + rows_->bytes() + (columns_ ? columns_->bytes() : 0); }

    void allocate(const BsrMatrix& a) {
        if (scaled_ && scaled_->pattern() == a.pattern() && scaled_->dof() == a.dof()) return;
        scaled_.reset(), rows_.reset(), columns_.reset();
        scaled_ = std::make_unique<BsrMatrix>(context_, a.pattern(), a.dof(), symmetric_, label);
        rows_ = diagonal(a);
        if (scaling_.columns == ColumnScales::own) columns_ = diagonal(a);
        before_ = Vector(context_, a.space(), a.dof(), label);
        if (columns()) after_ = Vector(context_, a.space(), a.dof(), label);
    }

    std::unique_ptr<BsrMatrix> diagonal(const BsrMatrix& a) const {
        const Index rows = a.pattern()->rows();
        return std::make_unique<BsrMatrix>(context_, diagonal_pattern(context_.host(), rows, label), a.dof(), true,
                                           label);
    }

    /// Fills scaled_, rows_ and columns_, through the host.
    void fill(const BsrMatrix& a, const Scales& scales) {
        const Index before_own = a.pattern()->slab() ? a.pattern()->slab()->before * a.dof() : 0;
        fill(*rows_, scales.row.data());
        if (columns_) fill(*columns_, scales.column.data() + before_own);
        std::unique_ptr<BsrMatrix> of_matrix;
        BsrMatrix& scaled = writable(*scaled_, of_matrix);
        const BlockPattern& p = *a.pattern();
        const int dof = a.dof();
        const Index before = p.slab() ? p.slab()->before : 0;
#pragma omp parallel for schedule(static) num_threads(context_.threads_for(a.nonzeros()))
        for (Index row = 0; row < p.rows(); ++row)
            for (int r = 0; r < dof; ++r) {
                const int left = scales.row[row * dof + r];
                for (Index at = p.row_begin()[row]; at < p.row_begin()[row + 1]; ++at)
                    for (int c = 0; c < dof; ++c) {
                        const int right =
                            scales.column.empty() ? 0 : scales.column[(before + p.column()[at]) * dof + c];
                        const Index place = (at * dof + r) * dof + c;
                        scaled.values()[place] = std::ldexp(a.values()[place], left + right);
                    }
            }
        if (of_matrix) scaled_->assign(*of_matrix);
    }
    /// A diagonal of powers of two.
    void fill(BsrMatrix& diagonal, const int* exponent) {
        std::unique_ptr<BsrMatrix> copy;
        BsrMatrix& host = writable(diagonal, copy);
        const int dof = host.dof();
        for (Index row = 0; row < host.unknowns(); ++row)
            host.values()[row * dof + row % dof] = std::ldexp(1.0, exponent[row]);
        if (copy) diagonal.assign(*copy);
    }

    /// The matrix itself if the host can write it, otherwise one of the same pattern that is stored in `copy`.
    BsrMatrix& writable(BsrMatrix& a, std::unique_ptr<BsrMatrix>& copy) const {
        if (a.backend() == Backend::cpu) return a;
        copy = std::make_unique<BsrMatrix>(context_.host(), a.pattern(), a.dof(), a.symmetric(), label);
        return *copy;
    }

    Context context_;
    const ScalingRow& scaling_;
    bool symmetric_;  ///< whether the scaled matrix is
    std::unique_ptr<Preconditioner> inner_;
    std::unique_ptr<BsrMatrix> scaled_, rows_, columns_;  ///< A~ and R; C if it is a diagonal of its own
    mutable Vector before_, after_;
};

/// Of R or C, which is kept in blocks.
Index bytes_of_diagonal(Index rows, int dof) {
    return BlockPattern::bytes(rows, rows) + rows * dof * dof * Index(sizeof(double));
}

/// What is held beside the scaled matrix, which shares its pattern on a CPU: R, C, and one or two vectors.
Index bytes_beside(const ScalingRow& scaling, Index rows, int dof) {
    return (scaling.columns == ColumnScales::own ? 2 : 1) * bytes_of_diagonal(rows, dof) +
           sides(scaling) * rows * dof * Index(sizeof(double));
}

}  // namespace

bool scales(const Parameters& parameters) {
    return !is_none(chosen(parameters));
}

PreconditionerSetting scaled_setting(const Parameters& parameters, const PreconditionerSetting& setting) {
    const ScalingRow& scaling = chosen(parameters);
    if (is_none(scaling)) return setting;
    const MatrixShape& a = setting.matrix;
    if (a.kind() != MatrixKind::general)
        throw RefusedKey(parameters, "scaling", "name",
                         ": only general matrices are scaled; set matrix.format = general, or leave the key out");
    PreconditionerSetting scaled{setting.context, {a.pattern(), a.dof(), a.symmetric() && scaling.keeps_symmetry()}};
    if (a.symmetric() && !scaling.keeps_symmetry()) scaled.unsymmetric_by = scaling.name;
    return scaled;
}

void add_scaling(const Parameters& parameters, const BlockCounts& a, CountedPlan& plan) {
    const ScalingRow& scaling = chosen(parameters);
    if (is_none(scaling)) return;
    const Index more = bytes_beside(scaling, a.rows, a.dof) + a.value_bytes();
    plan.bytes += more;
    plan.most_bytes += more;
    if (!scaling.setup_bytes) return;
    plan.setup_bytes = std::max(plan.setup_bytes, scaling.setup_bytes(a, false));
    plan.most_setup_bytes = std::max(plan.most_setup_bytes, plan.setup_bytes);
}

PreconditionerPlan plan_scaled(const PreconditionerRow& row, const Parameters& parameters,
                               const PreconditionerSetting& setting) {
    PreconditionerPlan plan = row.plan(parameters, scaled_setting(parameters, setting));
    const ScalingRow& scaling = chosen(parameters);
    if (is_none(scaling)) return plan;
    const MatrixShape& a = setting.matrix;
    const Index rows = a.natural_space().block_rows(), vector = rows * a.dof() * Index(sizeof(double));
    const Index diagonal = bytes_of_diagonal(rows, a.dof());
    const IndexSpace space = a.natural_space();
    const Index halos = (space.slots_in_memory() - rows) * a.dof() * Index(sizeof(double));
    const Index more =
        bytes_beside(scaling, rows, a.dof()) + sides(scaling) * halos + bytes_of(a, space, setting.context.backend());
    plan.bytes += more;
    if (plan.most_bytes > 0) plan.most_bytes += more;
    if (scaling.setup_bytes && setting.context.backend() == Backend::cpu) {
        const BlockPattern& all = a.pattern()->slab() ? *a.pattern()->whole() : *a.pattern();
        plan.setup_bytes = std::max(
            plan.setup_bytes, scaling.setup_bytes({all.rows(), all.blocks(), a.dof()}, &all != a.pattern().get()));
    }
    if (plan.bytes_per_apply > 0) plan.bytes_per_apply += (diagonal + 2 * vector) * sides(scaling);
    plan.traits.symmetric = plan.traits.symmetric && has_equal_sides(scaling, a.symmetric());
    return plan;
}

std::unique_ptr<Preconditioner> create_scaled(const PreconditionerRow& row, const Parameters& parameters,
                                              const PreconditionerSetting& setting) {
    const PreconditionerSetting inner = scaled_setting(parameters, setting);
    const ScalingRow& scaling = chosen(parameters);
    if (is_none(scaling)) return row.create(parameters, inner);
    return std::make_unique<ScaledPreconditioner>(setting.context, scaling, inner.matrix.symmetric(),
                                                  row.create(parameters, inner));
}

}  // namespace hyperplane
