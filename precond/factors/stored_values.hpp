// SPDX-License-Identifier: BSD-3-Clause
// Numbers in the storage of factors, and the exponents of their rows' scales, for hosts and GPUs.
#pragma once

#include <string>

#include "core/device/context.hpp"
#include "precond/factors/storage.hpp"

namespace hyperplane {

/// Where such numbers are: doubles, floats or halves.
struct StoredView {
    const void* values = nullptr;
    const RowExponent* exponents = nullptr;  ///< of half_scaled
};

/// Scales of so many rows of unknowns.
constexpr Index scales_of(FactorStorage storage, Index rows) {
    return storage == FactorStorage::half_scaled ? rows : 0;
}

class StoredValues {
public:
    StoredValues() = default;
    /// `scales`: rows that have a scale of their own in half_scaled. Exponents are zero whatever `holds` says.
    StoredValues(const Context& context, FactorStorage storage, Index values, Index scales, const std::string& label,
                 Initially holds = Initially::zero)
        : storage_(storage),
          values_(context, label, values * bytes_of(storage), holds),
          exponents_(context, label, scales_of(storage, scales)) {}

    FactorStorage storage() const { return storage_; }
    bool empty() const { return values_.size() == 0; }
    void* data() { return values_.data(); }
    const void* data() const { return values_.data(); }
    /// Calls body(values), which are float* or Half*. The storage is a reduced one.
    template <class Body>
    void with_values(const Body& body) {
        storage_ == FactorStorage::single_precision ? body(static_cast<float*>(data()))
                                                    : body(static_cast<Half*>(data()));
    }
    template <class Body>
    void with_values(const Body& body) const {
        storage_ == FactorStorage::single_precision ? body(static_cast<const float*>(data()))
                                                    : body(static_cast<const Half*>(data()));
    }
    /// The same in any storage: double*, float* or Half*.
    template <class Body>
    void with_any_values(const Body& body) const {
        storage_ == FactorStorage::double_precision ? body(static_cast<const double*>(data())) : with_values(body);
    }
    /// Null where there are no scales.
    RowExponent* exponents(Index at = 0) { return exponents_.size() > 0 ? exponents_.data() + at : nullptr; }
    const RowExponent* exponents(Index at = 0) const {
        return exponents_.size() > 0 ? exponents_.data() + at : nullptr;
    }
    StoredView view() const { return {data(), exponents()}; }

    /// The memory of values and exponents, for code that copies it.
    const Buffer<unsigned char>& memory() const { return values_; }
    const Buffer<RowExponent>& memory_of_exponents() const { return exponents_; }
    Index bytes() const { return values_.size() + exponents_.size(); }
    static Index bytes(FactorStorage storage, Index values, Index scales) {
        return values * bytes_of(storage) + scales_of(storage, scales);
    }

private:
    FactorStorage storage_ = FactorStorage::double_precision;
    Buffer<unsigned char> values_;
    Buffer<RowExponent> exponents_;
};

}  // namespace hyperplane
