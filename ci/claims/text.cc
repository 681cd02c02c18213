#include "ci/claims/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "baselines/io/error.h"
#include "baselines/io/printable.h"
#include "ci/console/format.h"
#include "ci/console/markdown_escape.h"
#include "ci/report/report.h"

namespace fusegate::ci {
namespace {

std::string rules_text(const CheckedClaims& checked) {
  return fmt::format(
      "A statement holds where every finding under it is a yes (or one, where it says that there "
      "is a case),\ndoes not where one is a no, and cannot be told where what it takes is missing. "
      "Ratios are of geometric\nmeans over processes, in brackets the {:g} % interval between "
      "processes (`ci/claims/ratio.h`); faster and\nslower mean by more than {} for the whole "
      "interval, in time and in cycles both. Traces and profiled calls tell\nwhat was launched; "
      "their times are of single calls.\n",
      100 * checked.confidence, format_fraction(checked.smallest_effect));
}

// What a peers' run says that it was measured with.
std::string libraries_text(const baselines::Run& peers) {
  std::map<std::string, std::string> versions;
  for (const baselines::BenchmarkSeries& series : peers.benchmarks) {
    for (const char* library : {"torch", "triton", "liger"}) {
      const auto found = series.choices.find(library);
      if (found != series.choices.end()) versions[library] = found->second;
    }
  }
  std::string text;
  for (const auto& [library, version] : versions) text += fmt::format(", {} {}", library, version);
  return text;
}

std::string traces_text(const ClaimsInput& input) {
  std::string text;
  for (const auto& [name, trace] : input.traces) {
    text += fmt::format("{}`{}` ({}{})", text.empty() ? "" : ", ", name,
                        format_count(trace.steps.steps, "step"),
                        trace.device.empty() ? "" : " on " + trace.device);
  }
  return text.empty() ? "none" : text;
}

std::string inputs_text(const ClaimsInput& input) {
  const baselines::Run& ours = input.ours.run;
  std::string text = fmt::format("- our run: suite {}, {}\n", markdown_code(ours.provenance.suite),
                                 markdown_code(describe(ours)));
  text += fmt::format("- environment: {}\n", markdown_code(environment_text(ours.environment)));
  text += input.peers
              ? fmt::format("- peers: {}\n", markdown_code(describe(input.peers->run) +
                                                           libraries_text(input.peers->run)))
              : "- peers: none\n";
  text += fmt::format("- traces of torch.profiler: {}\n", traces_text(input));
  return text + fmt::format("- published figures: {}\n",
                            input.published
                                ? format_count(input.published->benchmarks.size(), "benchmark")
                                : "none");
}

std::string notes_text(const ClaimsInput& input, const std::vector<std::string>& notes) {
  std::string text;
  for (const baselines::Doubt doubt : input.ours.run.doubts) {
    text += fmt::format("- {}\n", baselines::doubt_sentence(doubt));
  }
  for (const baselines::Run* run : {&input.ours.run, input.peers ? &input.peers->run : nullptr}) {
    if (run == nullptr) continue;
    for (const std::string& note : unfinished_texts(*run)) {
      text += fmt::format("- {}\n", markdown_code(note));
    }
  }
  for (const std::string& note : notes) text += fmt::format("- {}\n", markdown_code(note));
  return text;
}

// Of an answer to a finding, and of the verdict that follows from them.
std::string answer_text(Answer answer, const char* yes, const char* no) {
  return answer == Answer::kUnknown ? "cannot be told" : answer == Answer::kYes ? yes : no;
}

std::string verdict_text(const Claim& claim) {
  return answer_text(verdict_of(claim), "holds", "does not hold");
}

std::string summary_table(const CheckedClaims& checked) {
  std::string table = fmt::format(
      "| | statement | published for the {} | on this card |\n| ---: | --- | --- | --- |\n",
      checked.card);
  std::size_t number = 0;
  for (const Claim& claim : checked.claims) {
    table +=
        fmt::format("| {} | {} | {} | **{}** |\n", ++number, claim.statement,
                    claim.is_beyond ? "not of the series" : claim.published, verdict_text(claim));
  }
  return table;
}

std::string finding_text(const Finding& finding) {
  const std::string answer =
      finding.answer ? answer_text(*finding.answer, "yes", "no") : "beside it";
  std::string text = fmt::format("- {}: {}\n", answer, finding.question);
  for (const std::string& line : finding.seen) text += fmt::format("  - {}\n", line);
  if (finding.answer == Answer::kUnknown) text += fmt::format("  - missing: {}\n", finding.missing);
  return text;
}

std::string claim_text(const Claim& claim, std::size_t number, const std::string& card) {
  std::string text =
      fmt::format("### {}. {}\n\nPublished for the {}: {}. On this card it **{}**{}.\n\n", number,
                  claim.statement, card, claim.published, verdict_text(claim),
                  claim.any_suffices ? ", for which one yes is enough" : "");
  for (const Finding& finding : claim.findings) text += finding_text(finding);
  return text + '\n';
}

}  // namespace

std::string claims_headline(const std::vector<Claim>& claims) {
  const auto count = [&](Answer wanted) { return std::ranges::count(claims, wanted, verdict_of); };
  return fmt::format("Of {}, {} hold, {} do not hold, {} cannot be told",
                     format_count(claims.size(), "statement"), count(Answer::kYes),
                     count(Answer::kNo), count(Answer::kUnknown));
}

std::string claims_page(const CheckedClaims& checked, const ClaimsInput& input,
                        const std::string& command, const std::vector<std::string>& notes) {
  std::string page = fmt::format("# The series' claims, checked\n\nMade by\n\n    {}\n\n", command);
  page += inputs_text(input) + notes_text(input, notes);
  page += fmt::format("\n{}\n{}\n{}.\n\n{}\n## The series\n\n", checked.source, rules_text(checked),
                      claims_headline(checked.claims), summary_table(checked));
  bool is_beyond = false;
  std::size_t number = 0;
  for (const Claim& claim : checked.claims) {
    if (claim.is_beyond && !is_beyond) page += "## Beyond it\n\n";
    is_beyond = is_beyond || claim.is_beyond;
    page += claim_text(claim, ++number, checked.card);
  }
  page.pop_back();  // one empty line too many
  return baselines::printable_lines(page);
}

}  // namespace fusegate::ci
