// The two commands that read a trace.
#include <algorithm>

#include "baselines/io/file_io.h"
#include "baselines/traces/reader.h"
#include "baselines/traces/step_expectation.h"
#include "baselines/traces/summary.h"
#include "ci/commands/reading/command_line.h"
#include "ci/console/format.h"
#include "ci/console/gzip_file.h"
#include "ci/console/output_files.h"
#include "ci/report/trace_table.h"

namespace fusegate::ci {
namespace {

constexpr const char* kTraceHelp =
    "Trace of fusegate_bench or of torch.profiler: JSON, or gzip of it";

baselines::Trace read_trace_file(const std::filesystem::path& path) {
  return baselines::parse_trace(read_unpacked(path), path.string());
}

std::string json_text(const baselines::TraceSummary& summary, const std::string& source) {
  nlohmann::json json = trace_json(summary);
  json["trace"] = source;
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

void print_notes(const std::vector<std::string>& notes, Output& out) {
  for (const std::string& note : notes) out.print("note: {}\n", note);
}

void print_totals(const baselines::TraceSummary& summary, Output& out) {
  out.print("CPU total {}, CUDA total {} in {}, {}", format_time_ns(summary.cpu_ns),
            format_time_ns(summary.cuda_ns), format_count(summary.kernels, "kernel"),
            format_count(summary.memory_operations, "memory operation"));
  if (summary.steps > 0) out.print("; {}", format_count(summary.steps, "step"));
  out.print("\n");
  if (summary.unowned > 0) {
    out.print("{} of these launched by no operator or range of this trace\n", summary.unowned);
  }
  print_notes(trace_notes(summary), out);
}

baselines::StepExpectation read_expectation(const std::filesystem::path& path) {
  const nlohmann::json json = baselines::parse_json(baselines::read_file(path), path.string());
  return baselines::parse_step_expectation(baselines::JsonField(json, path.string(), ""));
}

}  // namespace

void add_trace_table(CommandLine& line) {
  auto [app, request] =
      line.add("trace-table", "Print what a trace holds, by name",
               "fusegate trace-table trace.json --sort cuda --limit 10", trace_table_command);
  app.add_option("trace", request.trace, kTraceHelp)->type_name("FILE")->required();
  app.add_option("--sort", request.order,
                 "The largest first, by this column; by default cuda, the CUDA total")
      ->check(CLI::IsMember(trace_orders()));
  app.add_option("--limit", request.limit, "Largest number of rows; by default all")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--name-width", request.name_width,
                 "Longer names lose their middle; 0 keeps them whole")
      ->capture_default_str();
  app.add_option("--json", request.json, "Write all rows as JSON")->type_name("FILE");
}

baselines::ExitCode trace_table_command(const TraceTableRequest& request, Console& console) {
  baselines::TraceSummary summary = baselines::summarize(read_trace_file(request.trace));
  sort_rows(summary.rows, request.order);
  const std::size_t rows = request.limit == 0 ? summary.rows.size() : request.limit;
  const Table table = trace_table(summary, request.name_width);
  console.out.lines(table.text(rows, console.out.style()) + '\n');
  print_totals(summary, console.out);
  write_output_files({{request.json, [&] { return json_text(summary, request.trace.string()); }}});
  return baselines::ExitCode::kNoRegression;
}

void add_trace_check(CommandLine& line) {
  auto [app, request] =
      line.add("trace-check", "Compare each step of a trace with what it should contain",
               "fusegate trace-check trace.json --expect steps.json", trace_check_command);
  app.add_option("trace", request.trace, kTraceHelp)->type_name("FILE")->required();
  app.add_option("--expect", request.expectation,
                 "JSON file of what each step should contain (baselines/traces/step_expectation.h)")
      ->type_name("FILE")
      ->required();
}

baselines::ExitCode trace_check_command(const TraceCheckRequest& request, Console& console) {
  const baselines::StepExpectation expectation = read_expectation(request.expectation);
  const baselines::Trace trace = read_trace_file(request.trace);
  const baselines::TraceExpectation checked = baselines::check_steps(trace, expectation);
  for (const baselines::ExpectationPart& part : checked.parts) {
    console.out.print("{}  {}: expected {}\n      seen {}\n", part.met ? "met " : "NOT ", part.part,
                      part.expected, part.seen);
  }
  print_notes(loss_notes(trace.lost), console.out);
  if (!checked.met()) return baselines::ExitCode::kRegression;
  // What was left out may be what is not expected.
  return trace.lost.gpu_work > 0 ? baselines::ExitCode::kCouldNotJudge
                                 : baselines::ExitCode::kNoRegression;
}

}  // namespace fusegate::ci
