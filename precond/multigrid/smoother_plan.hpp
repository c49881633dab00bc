// SPDX-License-Identifier: BSD-3-Clause
// A smoother of multigrid: the row of another preconditioner, with its keys.
#pragma once

#include <algorithm>

#include "core/error.hpp"
#include "precond/multigrid/hierarchy.hpp"
#include "precond/registry_row.hpp"

namespace hyperplane::multigrid {

/// A smoother's row and its keys, as keys of [preconditioner].
struct SmootherPlan {
    PreconditionerRow row;
    Parameters parameters;
    bool has_keys = false;  ///< the keys of [smoother] are its keys

    /// Plans `of` with its keys' defaults for smoothing.
    explicit SmootherPlan(const PreconditionerRow& of);
    /// Plans `of` with the keys of [smoother] that `given` has.
    SmootherPlan(const PreconditionerRow& of, const Parameters& given);

    /// The key of the deck that names it.
    const char* name_key() const { return has_keys ? "smoother.name" : "preconditioner.coarse_smoother"; }
    /// A message of the preconditioner with the deck's names of its keys.
    std::string worded(const std::string& message) const;
    /// Calls act(), and gives the message of a UsageError these names.
    template <class Act>
    auto in_words_of_deck(const Act& act) const {
        try {
            return act();
        } catch (const UsageError& error) {
            throw UsageError(worded(error.what()));
        }
    }

    /// Gives the factors this storage, unless `asked`, the keys of [smoother], name another one.
    void store(FactorStorage storage, bool asked);

    PreconditionerPlan plan(const PreconditionerSetting& setting) const {
        return in_words_of_deck([&] { return row.plan(parameters, setting); });
    }
    std::vector<KernelSet> kernels(const PreconditionerSetting& setting) const {
        return row.kernels ? in_words_of_deck([&] { return row.kernels(parameters, setting); })
                           : std::vector<KernelSet>{};
    }
    /// The planes of a grid that no cut between ranks may divide.
    int planes_together(const PreconditionerSetting& setting) const {
        return row.planes_together ? in_words_of_deck([&] { return row.planes_together(parameters, setting); }) : 1;
    }
    SmootherChoice choice(const PreconditionerSetting& setting) const;

private:
    std::unique_ptr<Preconditioner> make(const StructMatrix& a, double alpha) const;
    /// Whether [smoother] gives the key, not preconditioner.storage or a default.
    bool gives(const std::string& key) const {
        return parameters.value("preconditioner", key).provenance.source != Provenance::Source::built_in;
    }
};

/// The smoother of each grid; the last one is that of all further grids, too.
struct SmootherPlans {
    std::vector<SmootherPlan> list;
    std::optional<SmootherPlan> coarsest;  ///< on the last grid; nothing: its matrix is inverted

    const SmootherPlan& on(int grid) const { return list[std::min(std::size_t(grid), list.size() - 1)]; }
    SmootherChoices choices(const PreconditionerSetting& setting) const {
        SmootherChoices made;
        for (const SmootherPlan& one : list) made.list.push_back(one.choice(setting));
        if (coarsest) made.coarsest = coarsest->choice(setting);
        return made;
    }
    std::vector<PreconditionerTraits> traits(const PreconditionerSetting& setting) const {
        std::vector<PreconditionerTraits> all;
        for (const SmootherPlan& one : list) all.push_back(one.plan(setting).traits);
        if (coarsest) all.push_back(coarsest->plan(setting).traits);
        return all;
    }
};

}  // namespace hyperplane::multigrid
