#include "ci/commands/trace_options.h"

#include <algorithm>
#include <string>
#include <vector>

#include "ci/console/format.h"

namespace fusegate::ci {
namespace {

constexpr const char* kTraceHelp =
    "Trace of fusegate_bench or of torch.profiler: JSON, or gzip of it";

template <typename Request>
void add_layout(CLI::App& app, Request& request) {
  app.add_option("--limit", request.limit, "Rows at most; by default all")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--name-width", request.name_width,
                 "Longer names lose their middle; 0 keeps them whole")
      ->capture_default_str();
  app.add_option("--json", request.json, "Write all rows as JSON");
}

}  // namespace

void add_trace_table_options(CLI::App& app, TraceTableRequest& request) {
  app.add_option("trace", request.trace, kTraceHelp)->required();
  std::vector<std::string> names;
  for (const auto& [name, order] : kTraceOrders) names.emplace_back(name);
  app.add_option_function<std::string>(
         "--sort",
         [&request](const std::string& text) {
           request.order = std::ranges::find(kTraceOrders, text, [](const auto& pair) {
                             return pair.first;
                           })->second;
         },
         "The largest first, by this column; by default cuda, the CUDA total")
      ->check(CLI::IsMember(names));
  add_layout(app, request);
}

void add_trace_check_options(CLI::App& app, TraceCheckRequest& request) {
  app.add_option("trace", request.trace, kTraceHelp)->required();
  app.add_option("--expect", request.expectation,
                 "JSON file of what each step should contain (baselines/traces/step_expectation.h)")
      ->required();
}

void add_trace_diff_options(CLI::App& app, TraceDiffRequest& request) {
  app.add_option("a", request.a, kTraceHelp)->required();
  app.add_option("b", request.b, "The other")->required();
  app.add_option_function<std::string>(
      "--min-difference",
      [&request](const std::string& text) {
        request.min_difference = parse_fraction("--min-difference", text);
      },
      "Show rows whose calls agree where GPU time differs by more than this; by default 5%");
  add_layout(app, request);
}

}  // namespace fusegate::ci
