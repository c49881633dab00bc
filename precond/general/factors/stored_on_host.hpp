// SPDX-License-Identifier: BSD-3-Clause
// Factors in reduced precision that a GPU's solves hold in orders of their own, brought back to the places of the
// pattern, for checks and exports.
#pragma once

#include <cstring>
#include <utility>

#include "precond/general/factors/factors.hpp"
#include "precond/general/factors/host_values.hpp"
#include "precond/general/factors/reduced_blocks.hpp"
#include "precond/general/orders/levels.hpp"

namespace hyperplane {

/// Numbers in reduced precision and the exponents of their rows, where the host can read them.
class StoredOnHost {
public:
    explicit StoredOnHost(const StoredValues& stored)
        : values_(stored.memory()), exponents_(stored.memory_of_exponents()), storage_(stored.storage()) {}
    /// Without the scale of its row.
    double value(Index at) const {
        return storage_ == FactorStorage::single_precision ? widened(read<float>(at)) : widened(read<Half>(at));
    }
    double scale(Index at) const {
        return storage_ == FactorStorage::half_scaled ? scale_of(exponents_.data()[at]) : 1.0;
    }

private:
    template <class T>
    T read(Index at) const {
        T value;
        std::memcpy(&value, values_.data() + at * Index(sizeof(T)), sizeof(T));
        return value;
    }
    HostValues<unsigned char> values_;
    HostValues<RowExponent> exponents_;
    FactorStorage storage_;
};

/// W, D^-1 and G in double, with the pattern of `shape`.
class UnitFactorsOnHost {
public:
    /// `diagonal`: the places of the diagonal blocks.
    UnitFactorsOnHost(const GeneralFactors& shape, const Buffer<Index>& diagonal) : diagonal_(diagonal) {
        factors_.filled.pattern = shape.filled.pattern;
        factors_.filled.lower = shape.filled.lower;
        factors_.dof = shape.dof;
        factors_.symmetric = shape.symmetric;
        factors_.unit = true;
        factors_.values = Buffer<double>(shape.pattern().context().host(), "factors", shape.value_count());
    }
    /// The blocks of W or G in a row, from the first one to the one after the last.
    std::pair<Index, Index> blocks_of(Index row, Side side) const {
        const Index* const begin = factors_.pattern().row_begin() + row;
        const Index diagonal = diagonal_.data()[row];
        return side == Side::lower ? std::pair(begin[0], diagonal) : std::pair(diagonal + 1, begin[1]);
    }
    double& element(Index block, int r, int c) {
        return factors_.values[(block * factors_.dof + r) * factors_.dof + c];
    }
    GeneralFactors factors() && { return std::move(factors_); }

private:
    GeneralFactors factors_;
    HostValues<Index> diagonal_;
};

}  // namespace hyperplane
