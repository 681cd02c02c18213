// Guards a run file that exists already: --resume completes it only for the same measurement, and
// --out replaces it only by the same suite, protocol and benchmarks, unless --force is given.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace fusegate::bench {

// fusegate: our context.fusegate (run_file_entries.h). Throws InputError naming the first key in
// which the file differs: suite, process, protocol, environment, commit, toolchain, card.
void require_same_measurement(const std::filesystem::path& path, const nlohmann::json& fusegate);

// benchmarks: those to be measured. Throws InputError where the file is not a run file, is of
// another suite or protocol, or has a benchmark that is not to be measured. An empty file may be
// replaced.
void require_replaceable(const std::filesystem::path& path, const nlohmann::json& fusegate,
                         const std::set<std::string>& benchmarks);

}  // namespace fusegate::bench
