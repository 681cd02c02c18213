// What a benchmark's implementation declares to launch, compared with what it launched. The
// benchmark program compares; this is the result. In a run file it is details.expectation of one
// entry of the benchmark, absent where nothing is declared or nothing was recorded:
//
//   {"met": false, "parts": [{"part": "addmm", "met": false, "expected": "1 GEMM",
//                             "seen": "nvjet_tst_..., bias_add_kernel"}]}
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "baselines/io/json_field.h"

namespace fusegate::baselines {

struct ExpectationPart {
  std::string part;  // a stage, or what calls are of
  std::string expected;
  std::string seen;
  bool met = false;
};

struct TraceExpectation {
  std::vector<ExpectationPart> parts;

  bool met() const;
};

nlohmann::json expectation_json(const TraceExpectation& expectation);
// Throws InputError naming file and field.
TraceExpectation parse_expectation(const JsonField& field);

// For people: each part that is not met on a line of its own, "addmm: expected 1 GEMM, seen ...".
std::vector<std::string> unmet_lines(const TraceExpectation& expectation);

}  // namespace fusegate::baselines
