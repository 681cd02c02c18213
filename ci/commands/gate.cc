#include <fmt/format.h>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/json_field.h"
#include "baselines/record/load_run.h"
#include "ci/commands/command_line.h"
#include "ci/console/output_files.h"
#include "ci/gate/aa_findings.h"
#include "ci/gate/gate_json.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTitle = "fusegate";
constexpr const char* kInterrupted = "interrupted: part of a run is not judged";

std::string text_of(const nlohmann::json& json) {
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

// What the run folder's own record says; nothing for run files and for several folders, of which
// the findings would not hold together. Only this field is looked at: the gate takes folders whose
// run.json is somebody else's.
std::optional<AaFindings> recorded_aa(const std::vector<fs::path>& candidate) {
  if (candidate.size() != 1) return std::nullopt;
  const fs::path path = candidate.front() / "run.json";
  if (!fs::exists(path)) return std::nullopt;
  const nlohmann::json record =
      baselines::parse_json(baselines::read_regular_file(path), path.string());
  const auto aa = baselines::JsonField(record, path.string(), "").find("aa");
  return aa ? std::optional(parse_aa(*aa)) : std::nullopt;
}

std::string aa_line(const AaFindings& findings, const baselines::GateResult& result) {
  const std::string detectable = detectability_text(detectability_of(result.verdicts));
  return fmt::format("{}{}{}", aa_text(findings), detectable.empty() ? "" : "; ", detectable);
}

std::string json_text(const Report& report, const std::optional<AaFindings>& aa) {
  const Judgement& judgement = *report.judgement;
  nlohmann::json json = gate_json(judgement, report.candidate);
  for (const std::string& note : report.notes) json["notes"].push_back(note);
  json["baseline"] = judgement.baseline.run.source;
  json["candidate"] = report.candidate.source;
  json["aa"] = aa ? aa_json(*aa) : nlohmann::json(nullptr);
  json["smallest_detectable"] = detectability_json(detectability_of(judgement.result.verdicts));
  return text_of(json);
}

Document document_of(const Report& report, const std::optional<AaFindings>& aa) {
  Document document = report_document(report);
  if (aa) document.facts.push_back({"A/A", aa_line(*aa, report.judgement->result)});
  return document;
}

std::string failure_json(const std::string& problem) {
  return text_of({{"exit_code", static_cast<int>(baselines::ExitCode::kCouldNotJudge)},
                  {"headline", problem},
                  {"verdicts", nlohmann::json::array()}});
}

void judge(Report& report, const JudgingRequest& request) {
  report.judgement = judge_candidate(request, report.candidate);
  if (!report.judgement) {
    throw baselines::InputError(report.candidate.source, "",
                                missing_baseline_text(request, report.candidate));
  }
}

void draw_page_of(const GateRequest& request, Report report, Console& console) {
  if (!request.files.html) return;
  report.title = request.page_title;
  draw_page(std::move(report), *request.files.html, console);
}

}  // namespace

Report judged_report(const JudgingRequest& request) {
  Report report;
  report.title = kTitle;
  report.candidate = load_candidate(request);
  judge(report, request);
  return report;
}

void write_gate_failure(const GateRequest& request, const std::string& problem, Console& console) {
  try {
    write_output_files({{request.files.json, [&] { return failure_json(problem); }},
                        {request.files.markdown, [&] {
                           return markdown(failure_document(kTitle, problem), kMarkdownLimit);
                         }}});
  } catch (const baselines::InputError& error) {
    console.err.print("fusegate: {}\n", error.what());
  }
}

void add_gate(CommandLine& line) {
  auto [app, request] = line.add(
      "gate", "Compare a run with a baseline: 0 no regression, 1 regression, 2 could not judge",
      "fusegate gate --baseline old-run --candidate new-run --markdown gate.md", gate_command);
  add_judging(app, request.judging);
  set_topic(app, kOutputTopic);
  app.add_option("--json", request.files.json, "Write the verdicts as JSON")->type_name("FILE");
  app.add_option("--markdown", request.files.markdown, "Write the verdicts as GitHub Markdown")
      ->type_name("FILE");
}

baselines::ExitCode gate_command(const GateRequest& request, Console& console) {
  Report report;
  report.title = kTitle;
  report.notes = request.notes;
  std::optional<AaFindings> aa;
  try {
    report.candidate = load_candidate(request.judging);
    judge(report, request.judging);
    aa = recorded_aa(request.judging.candidate);
  } catch (const baselines::InputError& error) {
    write_gate_failure(request, error.what(), console);
    // What was measured is worth a look all the same.
    if (!report.candidate.source.empty()) draw_page_of(request, std::move(report), console);
    throw;
  }
  const Document document = document_of(report, aa);
  console.out.lines(terminal_text(document, console.out.style()));
  write_output_files(
      {{request.files.json, [&] { return json_text(report, aa); }},
       {request.files.markdown, [&] { return markdown(document, kMarkdownLimit); }}});
  const baselines::ExitCode verdict = report.judgement->result.exit_code;
  draw_page_of(request, std::move(report), console);
  return verdict;
}

baselines::ExitCode gate_measured(const GateRequest& request, const RunResult& measured,
                                  Console& console) {
  if (measured.end == RunEnd::kInterrupted) {
    write_gate_failure(request, kInterrupted, console);
    return baselines::ExitCode::kCouldNotJudge;
  }
  if (!measured.all_well) {
    console.err.print(
        "warning: not every process ended well; what was measured is judged, and cannot pass\n");
  }
  console.out.lines("\n");
  const baselines::ExitCode verdict = gate_command(request, console);
  return verdict == baselines::ExitCode::kNoRegression && !measured.all_well
             ? baselines::ExitCode::kCouldNotJudge
             : verdict;
}

}  // namespace fusegate::ci
