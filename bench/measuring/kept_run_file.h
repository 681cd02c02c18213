// What may become of a run file that is there already: another program of the same measurement goes
// on with it, and what measures the same again replaces it. Nothing else does unasked.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace fusegate::bench {

// fusegate: what context.fusegate is to say (recorder.h). Throws InputError naming the first key in
// which the file's own differs: suite, invocation, protocol, environment, commit, toolchain, card.
void require_same_measurement(const std::filesystem::path& path, const nlohmann::json& fusegate);

// benchmarks: those that are to be measured. Throws InputError where the file is no run file, or is
// of another suite or protocol, or holds a benchmark that is not to be measured. A file without
// contents is nobody's.
void require_replaceable(const std::filesystem::path& path, const nlohmann::json& fusegate,
                         const std::set<std::string>& benchmarks);

}  // namespace fusegate::bench
