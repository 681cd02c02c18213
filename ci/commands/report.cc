#include "ci/report/report.h"

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/printable.h"
#include "baselines/record/baseline.h"
#include "baselines/record/load_run.h"
#include "ci/commands/command_line.h"
#include "ci/console/layout.h"
#include "ci/console/output_files.h"
#include "ci/run/child_process.h"
#include "ci/run/run_record.h"
#include "ci/sweep/peer_match.h"
#include "ci/sweep/sweep_sections.h"

namespace fusegate::ci {
namespace {

constexpr double kDrawingTimeoutS = 600;

// Why the folder of `run --peers` holds no run file, by its record; nothing where it holds one, or
// is something else.
std::optional<std::string> why_none_measured(const std::vector<std::filesystem::path>& peers) {
  if (peers.size() != 1 || !std::filesystem::exists(peers.front() / "run.json")) return {};
  const RunRecord record = read_run_record(peers.front());
  std::string failure = "there was no program to measure them";
  for (const ProcessRecord& process : record.processes) {
    if (std::filesystem::exists(peers.front() / process.file)) return {};
    failure = process.failure;
  }
  return failure;
}

// Where peers cannot be measured, the report says so and is still written.
PeerComparison compare_with_peers(const ReportRequest& request, const baselines::Run& ours) {
  if (request.peers.empty()) return peer_comparison(ours, nullptr);
  if (const auto why = why_none_measured(request.peers)) {
    PeerComparison result = peer_comparison(ours, nullptr);
    result.notes.push_back("no peer was measured: " + *why);
    return result;
  }
  const baselines::Run peers = baselines::load_run(request.peers, request.judging.unfinished);
  check_peer_environment(ours, peers, request.judging.allow_environment_differences);
  PeerComparison result = peer_comparison(ours, &peers);
  result.peers = describe(peers);
  for (const auto& notes : {unfinished_texts(peers), peer_notes(ours, peers)}) {
    result.notes.insert(result.notes.end(), notes.begin(), notes.end());
  }
  return result;
}

void add_figures(Report& report) { report.sweeps = shape_sweeps(report.gate.candidate); }

Report make_report(const ReportRequest& request) {
  Report report;
  report.title = request.title;
  report.gate.candidate = load_candidate(request.judging);
  const baselines::Run& candidate = report.gate.candidate;
  add_figures(report);
  report.peer_comparison = compare_with_peers(request, candidate);
  // The page of a stored baseline shows its figures; it is compared only with what is named.
  if (candidate.is_stored_baseline && request.judging.baseline.empty()) {
    baselines::require_fitting(request.judging.controls, {&candidate});
  } else {
    judge_candidate(request.judging, report.gate);
  }
  return report;
}

// A text of a picture may have lines.
void make_printable(nlohmann::json& value, bool is_picture) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    value = is_picture ? baselines::printable_lines(text) : baselines::printable(text);
  } else if (value.is_object()) {
    for (auto& [key, member] : value.items()) {
      make_printable(member, is_picture || key == "pictures");
    }
  } else if (value.is_array()) {
    for (nlohmann::json& element : value) make_printable(element, is_picture);
  }
}

// What html/html_report.py makes of the model, as `option` of ours asks. In Python: matplotlib and
// Jinja2 have no equal in C++.
std::string drawn(const std::string& option, nlohmann::json model) {
  const bool is_picture = option == "--svg";
  make_printable(model, is_picture);
  const std::string python = python_program();
  ChildProcess process;
  process.arguments = {python, report_script().string()};
  if (is_picture) process.arguments.push_back(option);
  process.input = model.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  process.timeout_s = kDrawingTimeoutS;
  ChildOutput output = collect_output(std::move(process));
  if (output.failure.empty() && output.out.empty()) output.failure = "drew nothing";
  if (!output.failure.empty()) throw baselines::InputError(option, python, output.failure);
  return output.out;
}

nlohmann::json svg_picture(const Report& report) {
  const auto picture = main_picture(report.sweeps);
  if (picture) return *picture;
  throw baselines::InputError("--svg", report.gate.candidate.source,
                              "nothing to draw: no operation has two implementations that were "
                              "both measured at two sizes");
}

}  // namespace

void add_report(CommandLine& line) {
  auto [app, request] =
      line.add("report", "Write a run's verdicts and shape sweep as Markdown and HTML",
               "fusegate report --candidate run --html report.html", report_command);
  add_judging(app, request.judging);
  set_topic(app, kComparedTopic);
  app.add_option("--peers", request.peers,
                 "Run folders or run files of peers (run --peers), to compare with")
      ->type_name("PATH");
  set_topic(app, kOutputTopic);
  app.add_option("--markdown", request.markdown, "Write GitHub Markdown there")->type_name("FILE");
  app.add_option("--html", request.html, "Write one self-contained page there")->type_name("FILE");
  app.add_option("--svg", request.svg, "Write one picture there: where fusion wins")
      ->type_name("FILE");
  app.add_option("--title", request.title, "The report's title")->capture_default_str();
}

baselines::ExitCode report_command(const ReportRequest& request, Console& console) {
  const Report report = make_report(request);
  const Document document = report_document(report);
  const auto comment = [&] { return markdown(document, kMarkdownLimit); };
  write_output_files(
      {{request.markdown, comment},
       {request.html, [&] { return drawn("--html", document_json(document)); }},
       {request.svg, [&] { return drawn("--svg", svg_picture(report)); }}},
      [&](const std::filesystem::path& path) { console.out.print("wrote {}\n", path.string()); });
  if (!request.markdown && !request.html && !request.svg) console.out.lines(comment());
  return baselines::ExitCode::kNoRegression;
}

void draw_page(Report report, const std::filesystem::path& html, Console& console) {
  try {
    add_figures(report);
    report.peer_comparison = peer_comparison(report.gate.candidate, nullptr);
    const nlohmann::json model = document_json(report_document(report));
    baselines::write_atomically(html, drawn("--html", model));
    console.out.print("wrote {}\n", html.string());
  } catch (const baselines::InputError& error) {
    console.err.print("fusegate: no HTML report, which does not change the verdict: {}\n",
                      error.what());
  }
}

}  // namespace fusegate::ci
