// Expressions over named figures, as JSON: a number, ["+", expression, ...]
// (also "-", "*" and "/"), or a figure: its name, and what it is of.
//
//   ["time", "RUN:BENCHMARK"]            ns of a call; in cycles too
//   ["host", "RUN:BENCHMARK"]            what a call costs the host, ns
//   ["stage", "RUN:BENCHMARK", STAGE]    ns of the stage's first kernel in the profiled call
//   ["bytes", "RUN:BENCHMARK"]           the least bytes that must be moved
//   ["copy", "RUN"]                      ns a byte of the run's control_copy (yardstick.h)
//   ["published", BENCHMARK, STAGE]      ns; STAGE may be left out
//   ["calls", TRACE, NAME, ...]          rows of these names a step, of operators and calls
//   ["gpu", TRACE, NAME, ...]            ns of GPU work of such rows; unknown without the first
//   ["own_operators", TRACE, TRACE]      how many operators the first has that the other has not
//   ["kernel", TRACE, N]                 ns of kernel N of a step, from 0
//
// RUN is "ours" or "peers"; figures of one have a value in each of its processes. BENCHMARK is
// OPERATION/IMPLEMENTATION at the problem that is asked about, or a whole name. TRACE is the name
// of one, OPERATION-IMPLEMENTATION. NAME may have the wildcards of a shell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "baselines/io/json_field.h"
#include "ci/claims/input.h"

namespace fusegate::ci {

struct Asked {
  const ClaimsInput& input;
  std::string series_problem;  // that traces and publications are of
  std::string each{};          // takes the place of <each> in text
  std::string problem{};       // that is asked about
};
std::string text_of(const baselines::JsonField& field, const Asked& asked);

struct BenchmarkReference {
  std::string run;
  std::string name;     // OPERATION/IMPLEMENTATION
  std::string problem;  // "bf16/batch:64/..."; empty where that is left open
};
// Throws InputError.
BenchmarkReference reference_of(const baselines::JsonField& field, const Asked& asked);
// "`linear/addmm` in our run"; says so where --peers was not given.
std::string reference_text(const ClaimsInput& input, const BenchmarkReference& reference);

// Nothing where the run was not given.
const MeasuredRun* find_run(const ClaimsInput& input, std::string_view run);
// In bf16, the fewest rows first: "bf16/batch:1/seq:1/...". Those at which it succeeded.
std::vector<std::string> problems_of(const ClaimsInput& input, const BenchmarkReference& reference);

// One whose steps launch the same kernels each. Nothing, and *missing says so,
// where there is none, or it is of another problem by its ranges' name.
const ReadTrace* find_trace(const Asked& asked, std::string_view name, std::string* missing);

// The benchmarks that an expression names. Throws InputError where it is none, or names a figure
// that is none, or benchmarks of two runs, whose processes are no pairs.
std::vector<BenchmarkReference> references_of(const baselines::JsonField& expression,
                                              const Asked& asked);

// An expression's values in each process that has them; one where it names nothing of a process.
struct Figures {
  std::vector<double> values{};
  std::vector<double> cycles{};     // the same in cycles, where the clock was recorded
  std::vector<std::string> seen{};  // what else there is to tell of them
  std::string missing{};            // what it takes where there is no value
};
Figures figures_of(const baselines::JsonField& expression, const Asked& asked);

}  // namespace fusegate::ci
