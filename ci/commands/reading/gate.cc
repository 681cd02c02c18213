#include <fmt/format.h>

#include "baselines/io/error.h"
#include "ci/commands/reading/command_line.h"
#include "ci/console/output_files.h"
#include "ci/gate/gate_document.h"
#include "ci/gate/gate_json.h"
#include "ci/gate/judging.h"

namespace fusegate::ci {
namespace {

constexpr std::string_view kTitle = "fusegate";

std::string text_of(const nlohmann::json& json) {
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

void draw_page_of(const GateRequest& request, GateFacts facts, Console& console) {
  if (!request.files.html) return;
  draw_page({.title = request.page_title, .gate = std::move(facts)}, *request.files.html, console);
}

}  // namespace

void write_gate_failure(const GateRequest& request, const std::string& problem, Console& console) {
  try {
    write_output_files({{request.files.json, [&] { return text_of(gate_failure_json(problem)); }},
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
  set_topic(app, kComparedTopic);
  app.add_option("--filter", request.judging.filter,
                 "Regular expression: judge only benchmarks whose names match. The others still "
                 "show what the machine did")
      ->type_name("PATTERN")
      ->check(problem_of_pattern);
  add_verdict_files(app, request.files);
}

baselines::ExitCode gate_command(const GateRequest& request, Console& console) {
  GateFacts facts;
  facts.notes = request.notes;
  try {
    judge(request.judging, facts);
    facts.aa = recorded_aa(facts.candidate);
  } catch (const baselines::InputError& error) {
    write_gate_failure(request, error.what(), console);
    // The page still shows what was measured.
    facts.baseline.reset();
    facts.result = {};
    if (!facts.candidate.source.empty()) draw_page_of(request, std::move(facts), console);
    throw;
  }
  const Document document = gate_document(kTitle, facts);
  console.out.lines(terminal_text(document, console.out.style()));
  write_output_files(
      {{request.files.json, [&] { return text_of(gate_json(facts)); }},
       {request.files.markdown, [&] { return markdown(document, kMarkdownLimit); }}});
  const baselines::ExitCode verdict = facts.result.exit_code;
  draw_page_of(request, std::move(facts), console);
  return verdict;
}

}  // namespace fusegate::ci
