#include "ci/trace_options.h"

#include <map>
#include <string>

#include "ci/format.h"

namespace fusegate {
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
  std::map<std::string, TraceOrder> orders;
  for (const auto& [name, order] : kTraceOrders) orders.emplace(name, order);
  app.add_option("--sort", request.order,
                 "The largest first: cuda (the default), self-cuda, cuda-average, cpu, self-cpu, "
                 "cpu-average or calls; or name")
      ->transform(CLI::CheckedTransformer(orders).description(""))
      ->type_name("ORDER");
  add_layout(app, request);
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

}  // namespace fusegate
