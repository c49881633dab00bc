// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/memory_demand.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "apps/base/backend.hpp"
#include "apps/run/shared_memory.hpp"
#include "core/counted.hpp"
#include "core/error.hpp"

namespace hyperplane {
namespace {

std::string name_of_memory(const Context& context) {
    return context.backend() == Backend::cpu ? "this machine" : context.stream().properties().name;
}

}  // namespace

MemoryRoom memory_of_case(const Context& context) {
    const Index there = available_memory(context) + together_in_one_memory(context, context.ledger().held());
    return {there, fmt::format("{} has {} for it", name_of_memory(context), in_mib(there))};
}

MemoryRoom memory_of_case(const Context& context, const Parameters& parameters) {
    MemoryRoom room = memory_of_case(context);
    if (!parameters.is_set("device", "memory_limit")) return room;
    const Index most = Index(1) << 60;  // so that a sum over ranks is an integer
    const Index allowed = together_in_one_memory(context, std::min(memory_limit(parameters), most));
    if (allowed >= room.bytes) return room;
    return {allowed, fmt::format("device.memory_limit allows {}", in_mib(allowed))};
}

void require_memory(const Context& context, const MemoryDemand& demand, const MemoryRoom& room) {
    const MemoryPlan& plan = demand.plan;
    const Index needed = together_in_one_memory(context, plan.total());
    if (const Index on_host = together_on_one_host(context, plan.host); on_host > available_memory())
        throw OutOfMemory(fmt::format("{}: the host needs {} for {} during a set-up, and has {} left{}", demand.deck,
                                      in_mib(on_host), plan.host_use, in_mib(available_memory()), demand.advice));
    if (needed <= room.bytes) return;
    std::string table = plan.table();
    table.pop_back();  // the end of its last line
    throw OutOfMemory(fmt::format("{}: {} {}{}, and {}{}{}\n{}", demand.deck, demand.what, in_mib(needed),
                                  context.ranks() ? " for its ranks" : "", room.text, demand.advice,
                                  context.ranks() ? "; each rank holds" : "; it holds", table));
}

}  // namespace hyperplane
