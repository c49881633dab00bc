// SPDX-License-Identifier: BSD-3-Clause
// No bytes crash the deck reader, and what it accepts survives to_ini.
#include <cstdint>
#include <cstdlib>

#include "core/error.hpp"
#include "io/sample_schema.hpp"

using namespace hyperplane;

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

void require_round_trip(const Parameters& parameters, const DeckSchema& schema) {
    const Parameters again = resolve(parse_deck(to_ini(parameters), "again.ini"), {}, schema);
    const auto before = parameters.all(), after = again.all();
    require(before.size() == after.size());
    for (std::size_t at = 0; at < before.size(); ++at)
        require(before[at].spec.name() == after[at].spec.name() && before[at].text == after[at].text);
}

/// Reads every value the way a program would.
void read_all(const Parameters& parameters) {
    for (const auto& [spec, text, provenance] : parameters.all()) {
        if (text.empty()) continue;
        switch (spec.type) {
            case ParameterType::boolean: parameters.boolean(spec.section, spec.key); break;
            case ParameterType::integer: parameters.integer(spec.section, spec.key); break;
            case ParameterType::real: parameters.real(spec.section, spec.key); break;
            case ParameterType::integers: parameters.integers(spec.section, spec.key); break;
            case ParameterType::reals: parameters.reals(spec.section, spec.key); break;
            default: break;
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const DeckSchema schema = sample_schema();
    const std::string text(reinterpret_cast<const char*>(data), size);
    std::vector<DeckEntry> overrides;
    try {
        overrides.push_back(parse_override(text.substr(0, text.find('\n'))));
    } catch (const UsageError&) {
    }
    std::optional<Parameters> parameters;
    try {
        parameters = resolve(parse_deck(text, "deck.ini"), overrides, schema);
    } catch (const UsageError& error) {
        require(*error.what() != '\0');
    }
    if (parameters) {
        read_all(*parameters);
        require_round_trip(*parameters, schema);
    }
    return 0;
}
