#include "ci/gate_command.h"

#include "baselines/error.h"
#include "baselines/file_io.h"
#include "ci/gate_text.h"
#include "ci/markdown.h"
#include "ci/report.h"

namespace fusegate {
namespace {

constexpr std::string_view kTitle = "fusegate";

std::string text_of(const nlohmann::json& json) {
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Report make_report(const GateRequest& request) {
  Report report;
  report.title = kTitle;
  report.candidate = load_run(request.judging.candidate);
  report.judgement = judge_candidate(request.judging, report.candidate);
  if (!report.judgement) {
    throw InputError(report.candidate.source, "",
                     missing_baseline_text(request.judging, report.candidate));
  }
  return report;
}

void write_results(const GateRequest& request, const Report& report) {
  const Judgement& judgement = *report.judgement;
  if (request.json) {
    nlohmann::json json = gate_json(judgement.result, judgement.options);
    json["baseline"] = judgement.baseline.run.source;
    json["candidate"] = report.candidate.source;
    write_atomically(*request.json, text_of(json));
  }
  if (request.markdown) write_atomically(*request.markdown, markdown_report(report));
}

void write_failure(const GateRequest& request, const InputError& error) {
  if (request.json) {
    write_atomically(*request.json,
                     text_of({{"exit_code", static_cast<int>(ExitCode::kCouldNotJudge)},
                              {"headline", error.what()},
                              {"verdicts", nlohmann::json::array()}}));
  }
  if (request.markdown) write_atomically(*request.markdown, markdown_failure(kTitle, error.what()));
}

}  // namespace

ExitCode gate_command(const GateRequest& request, Console& console) {
  std::optional<Report> report;
  try {
    report = make_report(request);
  } catch (const InputError& error) {
    write_failure(request, error);
    throw;
  }
  console.out << gate_text(*report);
  write_results(request, *report);
  return report->judgement->result.exit_code;
}

}  // namespace fusegate
