#include "ci/report/report.h"

#include <fmt/ostream.h>

#include "baselines/io/error.h"
#include "ci/commands/command_line.h"
#include "ci/console/layout.h"
#include "ci/console/output_files.h"
#include "ci/figures/peer_match.h"
#include "ci/measuring/run_record.h"
#include "ci/processes/process.h"
#include "ci/report/markdown.h"

namespace fusegate::ci {
namespace {

constexpr double kDrawingTimeoutS = 600;

// Why the folder of `run --peers` holds no run file, by its record; nothing where it holds one, or
// is something else.
std::optional<std::string> why_none_measured(const std::vector<std::filesystem::path>& peers) {
  if (peers.size() != 1 || !std::filesystem::exists(peers.front() / "run.json")) return {};
  const RunRecord record = read_run_record(peers.front());
  std::string failure = "there was no program to measure them";
  for (const InvocationRecord& invocation : record.invocations) {
    if (std::filesystem::exists(peers.front() / invocation.file)) return {};
    failure = invocation.failure;
  }
  return failure;
}

// That peers could not be measured is told in the report and does not cost it.
Standings make_standings(const ReportRequest& request, const baselines::Run& ours) {
  if (request.peers.empty()) return standings(ours, nullptr);
  if (const auto why = why_none_measured(request.peers)) {
    Standings result = standings(ours, nullptr);
    result.notes.push_back("no peer was measured: " + *why);
    return result;
  }
  const baselines::Run peers = baselines::load_run(request.peers);
  check_peer_environment(ours, peers, request.judging.allow_environment_differences);
  Standings result = standings(ours, &peers);
  result.peers = describe(peers);
  const std::vector<std::string> notes = peer_notes(ours, peers);
  result.notes.insert(result.notes.end(), notes.begin(), notes.end());
  return result;
}

Report make_report(const ReportRequest& request) {
  Report report;
  report.title = request.title;
  report.candidate = baselines::load_run(request.judging.candidate);
  report.sweeps = shape_sweeps(report.candidate);
  report.crossovers = crossovers(report.candidate);
  report.standings = make_standings(request, report.candidate);
  report.judgement = judge_candidate(request.judging, report.candidate);
  return report;
}

// The page is drawn in Python: matplotlib and Jinja2 have no equal in C++.
std::string html_of(const Report& report) {
  const std::string python = python_program();
  ProcessRequest process;
  process.arguments = {python, report_script().string()};
  process.input =
      report_json(report).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  process.timeout_s = kDrawingTimeoutS;
  ProcessOutput html = collect_output(std::move(process));
  if (html.failure.empty() && html.out.empty()) html.failure = "drew nothing";
  if (!html.failure.empty()) throw baselines::InputError("--html", python, html.failure);
  return html.out;
}

}  // namespace

void add_report(CommandLine& line) {
  auto [app, request] = line.add(
      "report", "Write a run's verdicts and shape sweep as Markdown and HTML", report_command);
  add_judging(app, request.judging);
  app.add_option("--peers", request.peers,
                 "Run folders or run files of peers (run --peers), shown beside ours");
  app.add_option("--markdown", request.markdown, "Write GitHub Markdown there");
  app.add_option("--html", request.html, "Write one self-contained page there");
  app.add_option("--title", request.title, "The report's title")->capture_default_str();
}

baselines::ExitCode report_command(const ReportRequest& request, Console& console) {
  const Report report = make_report(request);
  write_output_files({{request.markdown, [&] { return markdown_report(report); }},
                      {request.html, [&] { return html_of(report); }}},
                     [&](const std::filesystem::path& path) {
                       fmt::print(console.out, "wrote {}\n", path.string());
                     });
  if (!request.markdown && !request.html) console.out << markdown_report(report);
  return baselines::ExitCode::kNoRegression;
}

}  // namespace fusegate::ci
