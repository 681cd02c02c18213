// What each benchmark of a program launches, recorded before measuring. In a run folder it is
// "identities.json",
//
//   {"fusegate_identities": 1, "fusegate": {...}, "benchmarks": {"name": {...}, ...},
//    "choices": {"name": {"stage": "what was chosen", ...}, ...},
//    "counters": {"name": {"flops": 1.2e9, "min_bytes": 3e6}, ...},
//    "failures": {"name": "why", ...}, "load_s": 4.2}
//
// with the context that a run file has (run_file.h), and an identity (call_identity.h) a benchmark.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "baselines/launches/call_identity.h"

namespace fusegate::baselines {

inline constexpr int kIdentitiesSchemaVersion = 1;
inline constexpr const char* kIdentitiesFile = "identities.json";

struct Identities {
  nlohmann::json context;  // "fusegate" of the file
  std::map<std::string, CallIdentity> benchmarks{};
  std::map<std::string, std::map<std::string, std::string>> choices{};  // of those that have any
  // Of a call, as in a run file. Older files have none.
  std::map<std::string, std::map<std::string, double>> counters{};
  std::map<std::string, std::string> failures{};
  // What the program took to load, from its start. 0: unknown, or of a program that knows no turns
  // (kTurnVariable of baselines/record/program_variables.h).
  double load_s = 0;
};

// All throw InputError naming the file, and the field where there is one.
void write_identities(const std::filesystem::path& path, const Identities& identities);
Identities read_identities(const std::filesystem::path& path);
// source: the file's name in messages.
Identities parse_identities(std::string_view text, const std::string& source);
// Whether the JSON text is such a file, whatever its name.
bool is_identities_text(std::string_view text);

}  // namespace fusegate::baselines
