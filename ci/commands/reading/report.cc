#include "ci/report/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/record/baseline.h"
#include "baselines/record/environment.h"
#include "baselines/record/load_run.h"
#include "ci/commands/reading/command_line.h"
#include "ci/console/output_files.h"
#include "ci/page/page.h"
#include "ci/page/pictures.h"
#include "ci/peers/peer_match.h"
#include "ci/processes/run_record.h"
#include "ci/sweep/ranks_section.h"
#include "ci/sweep/sweep_sections.h"

namespace fusegate::ci {
namespace {

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

// Of paths whose runs have the same environment, one; peers may need several, such as one for each
// version of a library.
std::vector<baselines::Run> load_peers(const ReportRequest& request) {
  using Paths = std::vector<std::filesystem::path>;
  std::vector<Paths> groups;
  std::vector<baselines::Run> runs;
  for (const std::filesystem::path& path : request.peers) {
    baselines::Run run = baselines::load_run({path}, request.judging.unfinished);
    const auto same = std::ranges::find_if(runs, [&](const baselines::Run& other) {
      return baselines::environment_differences(other.environment, run.environment).empty();
    });
    if (same == runs.end()) {
      runs.push_back(std::move(run));
      groups.push_back({path});
      continue;
    }
    Paths& group = groups[static_cast<std::size_t>(same - runs.begin())];
    group.push_back(path);
    *same = baselines::load_run(group, request.judging.unfinished);
  }
  return runs;
}

void add_once(const std::string& note, std::vector<std::string>* notes) {
  if (std::ranges::find(*notes, note) == notes->end()) notes->push_back(note);
}

// Where peers cannot be measured, the report says so and is still written.
PeerComparison compare_with_peers(const ReportRequest& request, const baselines::Run& ours) {
  if (request.peers.empty()) return peer_comparison(ours, {});
  if (const auto why = why_none_measured(request.peers)) {
    PeerComparison result = peer_comparison(ours, {});
    result.notes.push_back("no peer was measured: " + *why);
    return result;
  }
  const std::vector<baselines::Run> peers = load_peers(request);
  PeerComparison result = peer_comparison(ours, peers);
  std::vector<std::string> descriptions;
  for (const baselines::Run& run : peers) {
    check_peer_environment(ours, run, request.judging.allow_environment_differences);
    descriptions.push_back(describe(run));
    for (const auto& notes : {unfinished_texts(run), peer_notes(ours, run)}) {
      for (const std::string& note : notes) add_once(note, &result.notes);
    }
  }
  result.peers = fmt::format("{}", fmt::join(descriptions, "; "));
  return result;
}

void add_figures(Report& report) { report.sweeps = shape_sweeps(report.gate.candidate); }

LinePicture svg_picture(const Report& report) {
  if (auto picture = scaling_picture(times_over_ranks(report.gate.candidate))) return *picture;
  if (auto picture = main_picture(report.sweeps)) return *picture;
  throw baselines::InputError("--svg", report.gate.candidate.source,
                              "nothing to draw: no operation has two implementations that were "
                              "both measured at two sizes");
}

}  // namespace

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
  app.add_option("--svg", request.svg,
                 "Write one picture there: where fusion wins; over several devices, how "
                 "the time scales")
      ->type_name("FILE");
  app.add_option("--title", request.title, "The report's title")->capture_default_str();
}

baselines::ExitCode report_command(const ReportRequest& request, Console& console) {
  const Report report = make_report(request);
  const Document document = report_document(report);
  const auto comment = [&] { return markdown(document, kMarkdownLimit); };
  write_output_files(
      {{request.markdown, comment},
       {request.html, [&] { return page_html(document); }},
       {request.svg, [&] { return lines_svg_file(svg_picture(report)); }}},
      [&](const std::filesystem::path& path) { console.out.print("wrote {}\n", path.string()); });
  if (!request.markdown && !request.html && !request.svg) console.out.lines(comment());
  return baselines::ExitCode::kNoRegression;
}

void draw_page(Report report, const std::filesystem::path& html, Console& console) {
  try {
    add_figures(report);
    report.peer_comparison = peer_comparison(report.gate.candidate, {});
    baselines::write_atomically(html, page_html(report_document(report)));
    console.out.print("wrote {}\n", html.string());
  } catch (const baselines::InputError& error) {
    console.err.print("fusegate: no HTML report, which does not change the verdict: {}\n",
                      error.what());
  }
}

}  // namespace fusegate::ci
