// Incomplete factors of subdomains, each factored by itself; the equations are in precond/subdomain_ildu0.hpp.
#pragma once

#include "precond/pivots.hpp"
#include "precond/subdomain_cuts.hpp"

namespace hyperplane {

/// Where factors lie, for code on either backend; a small value. Entries below the diagonal are W, the diagonal one is
/// D^-1, those above are G.
struct SubdomainFactorView {
    Cuts cuts;
    const SubdomainPlace* places = nullptr;  ///< by local number
    double* values = nullptr;
    Index subdomain_values = 0;
    int dof = 1, lower = 0;

    HYPERPLANE_HD double& at(Index subdomain, int local, int entry, int row, int col) const {
        const SubdomainPlace& place = places[local];
        const int from = entry < lower ? place.lower : place.upper, e = entry < lower ? entry : entry - lower;
        return values[subdomain * subdomain_values + from + Index(e * dof + col) * place.stride +
                      row * place.row_stride];
    }
};

class SubdomainFactors {
public:
    /// For matrices of this shape.
    SubdomainFactors(const Context& context, const Cuts& cuts, const StructMatrix& a, SubdomainOrder::Rows rows);

    bool serves(const Cuts& cuts, const StructMatrix& a) const;
    /// Factors A + alpha diag(A) without the couplings between subdomains. One block of threads a subdomain on a GPU,
    /// one thread on a CPU; step by step on both.
    void factor(const StructMatrix& a, double alpha, const PivotRules& rules, PivotInverter& inverter);

    const Cuts& cuts() const { return cuts_; }
    const Stencil& stencil() const { return stencil_; }  ///< Cuts::within of the matrix's
    const SubdomainOrder& order() const { return order_; }
    const double* values() const { return values_.data(); }

    /// Memory held: the factors alone, and with their tables.
    Index factor_bytes() const { return values_.size() * Index(sizeof(double)); }
    static Index bytes(const Cuts& cuts, const Stencil& matrix, int dof, SubdomainOrder::Rows rows);
    /// More that is held while they are made: what is told of pivots, on a GPU by each subdomain.
    static Index setup_bytes(Backend backend, const Cuts& cuts);

private:
    Context context_;
    Cuts cuts_;
    Stencil stencil_;
    std::vector<Int3> matrix_offsets_;
    bool symmetric_;
    SubdomainOrder order_;
    Buffer<SubdomainPlace> places_;
    Buffer<int> points_, begin_, tables_;
    Buffer<Int3> offsets_, kept_offsets_;
    Buffer<double> values_;
};

}  // namespace hyperplane
