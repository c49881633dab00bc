// SPDX-License-Identifier: BSD-3-Clause
// StructILU's kernels on a GPU, specialised for one stencil, dof and grid: the sweeps
// (precond/triangular/wavefront/solve_cuda.hpp) and the factorisation (precond/struct_ilu/factor_cuda.hpp). All of them
// can be compiled without a device (`compile`).
#pragma once

#include <memory>
#include <vector>

#include "core/device/rtc.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "precond/factors/pivots.hpp"
#include "precond/factors/reduced_values.hpp"
#include "precond/factors/storage.hpp"

namespace hyperplane {

/// What is factored and how the factors are kept.
struct StructIluSystem {
    Layout layout;
    Stencil stencil;    ///< of the factors, the filled one
    Stencil a_stencil;  ///< of the matrix
    int dof = 1;
    bool symmetric = false;                                   ///< one triangle is stored
    bool shares = false;                                      ///< D-ILU: E and F are the matrix's
    FactorStorage storage = FactorStorage::double_precision;  ///< that sweeps read

    friend bool operator==(const StructIluSystem& a, const StructIluSystem& b) {
        return a.layout == b.layout && a.layout.grid().periodic == b.layout.grid().periodic &&
               a.stencil.offsets() == b.stencil.offsets() && a.a_stencil.offsets() == b.a_stencil.offsets() &&
               a.dof == b.dof && a.symmetric == b.symmetric && a.shares == b.shares && a.storage == b.storage;
    }
};

/// How a kernel cuts its work; every choice gives the same result. 0 and -1 leave a choice to the program.
struct StructIluTuning {
    int tile_j = 0, tile_k = 0;      ///< lines of a tile, of J = j + skew k and of k
    int stages = -1;                 ///< levels of coefficients in shared memory, 0: none, read when needed
    int lookahead = 0;               ///< levels whose edges are asked for at once: 1, 2, 4 or 8
    int loaders = -1;                ///< groups of warps that do nothing but fetch coefficients
    int loader_lines = 0;            ///< that one of their threads fetches for
    int blocks = 0;                  ///< resident on a multiprocessor
    int factor_j = 0, factor_k = 0;  ///< lines of a tile of the factorisation
    int factor_blocks = 0;           ///< blocks of the factorisation resident on a multiprocessor
    bool factor_ring = true;         ///< points factored by rows find their neighbours' factors in shared memory
    bool in_registers = true;        ///< points of up to 8 unknowns are factored in registers
    bool pipelined = true;           ///< terms of older levels are summed ahead (section 4.2.1)
    bool edges_meet = false;         ///< what brings edges waits at barriers where it need only arrive, for racecheck
    bool by_level = false;           ///< a launch for each level in place of the acyclic mapping of tiles (section 4.1)
    bool shares = true;              ///< where elimination changes the diagonal alone, E and F are the matrix's (D-ILU)
};

/// Both kernels of one system, with what they need besides matrix and factors.
class StructIluCuda {
public:
    StructIluCuda(const Context& context, const StructIluSystem& system, const StructIluTuning& tuning = {});
    ~StructIluCuda();

    /// Place of a coefficient of the factors, which lie as [entry][slot][row][col].
    static Index place(Index slots, int dof, int entry, Index slot, int row, int col) {
        return ((entry * slots + slot) * dof + row) * dof + col;
    }
    /// Whether D-ILU is done in the matrix's own E and F. Of several unknowns, blocks that lie together are read
    /// faster.
    static bool shares(int dof) { return dof == 1; }
    /// Whether these kernels are those of another system too.
    bool serves(const StructIluSystem& system) const;
    /// x = W, D^-1 and G of A + shift diag(A), in the places of E, D and F; D^-1 alone for D-ILU. Reports pivots
    /// to `inverter`.
    void factor(const StructMatrix& a, StructMatrix& x, double shift, const PivotRules& rules, PivotInverter& inverter);
    /// Addresses on the device, of values in the system's storage.
    struct Factors {
        const void* triangles;  ///< W, D^-1 and G in their places; for D-ILU the matrix
        const void* inverse;    ///< D^-1
        Index stride;           ///< slots that an entry has room for
        const RowExponent *of_lower = nullptr, *of_upper = nullptr;  ///< half_scaled: precond/factors/reduced.hpp
    };
    /// y = (I + W)^-1 r; for D-ILU y = D^-1 (I + E D^-1)^-1 r.
    void lower(const Factors& factors, const Vector& r, Vector& y, double* dot = nullptr);
    /// In place: y in, z out. Both sweeps are given the same `dot` or none: where it is given, one of them
    /// writes r^T M^-1 r of a symmetric M to it.
    void upper(const Factors& factors, Vector& z, double* dot = nullptr);

    /// Device memory held besides matrix, factors and vectors.
    static Index bytes(const StructIluSystem& system, const StructIluTuning& tuning = {});
    /// Compiles every kernel for an architecture, without a device; in storage of fewer bits those that double
    /// precision does not have.
    static std::vector<rtc::KernelResources> compile(const StructIluSystem& system, const std::string& architecture,
                                                     const StructIluTuning& tuning = {});
    std::string describe() const;

private:
    struct Device;
    std::unique_ptr<Device> device_;
};

}  // namespace hyperplane
