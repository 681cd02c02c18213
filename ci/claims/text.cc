#include "ci/claims/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "baselines/io/error.h"
#include "ci/console/format.h"
#include "ci/console/markdown_escape.h"
#include "ci/report/report.h"

namespace fusegate::ci {
namespace {

constexpr std::string_view kSeries =
    "The statements are those of \"Profiling in PyTorch, part 2: from nn.Linear to a fused MLP\"\n"
    "(<https://huggingface.co/blog/torch-mlp-fusion>, 2026-06-11, on an NVIDIA A100-SXM4-80GB).";

std::string rules_text() {
  return fmt::format(
      "A statement holds where every finding under it is a yes (or one, where it says that there "
      "is a case),\ndoes not where one is a no, and cannot be told where what it takes is missing. "
      "Ratios are of geometric\nmeans over processes, in brackets the {:g} % interval between "
      "processes (`ci/claims/ratio.h`); faster and\nslower mean by more than {} for the whole "
      "interval, in time and in cycles both. Traces and profiled calls tell\nwhat was launched; "
      "their times are of single calls.\n",
      100 * kClaimConfidence, format_fraction(kClaimEffect));
}

std::string environment_text(const baselines::Run& run) {
  std::string text;
  for (const auto& [field, value] : run.environment) {
    const std::string shown = value.is_string() ? value.get<std::string>() : value.dump();
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", field, shown);
  }
  return text;
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
  text += fmt::format("- environment: {}\n", markdown_code(environment_text(ours)));
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
  for (const std::string& note : notes) text += fmt::format("- {}\n", markdown_code(note));
  return text;
}

std::string summary_table(const std::vector<Claim>& claims) {
  std::string table =
      "| | statement | published for the A100 | on this card |\n| ---: | --- | --- | --- |\n";
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const Claim& claim = claims[i];
    const bool series = claim.origin == Claim::Origin::kSeries;
    table +=
        fmt::format("| {} | {} | {} | **{}** |\n", i + 1, claim.statement,
                    series ? claim.published : "not of the series", holds_text(verdict_of(claim)));
  }
  return table;
}

std::string answer_text(const Finding& finding) {
  if (!finding.answer) return "beside it";
  switch (*finding.answer) {
    case Answer::kYes:
      return "yes";
    case Answer::kNo:
      return "no";
    case Answer::kUnknown:
      break;
  }
  return "cannot be told";
}

std::string finding_text(const Finding& finding) {
  std::string text = fmt::format("- {}: {}\n", answer_text(finding), finding.question);
  for (const std::string& line : finding.seen) text += fmt::format("  - {}\n", line);
  if (finding.answer == Answer::kUnknown) {
    text += fmt::format("  - missing: {}\n", finding.missing);
  }
  return text;
}

std::string claim_text(const Claim& claim, std::size_t number) {
  std::string text =
      fmt::format("### {}. {}\n\nPublished for the A100: {}. On this card it **{}**{}.\n\n", number,
                  claim.statement, claim.published, holds_text(verdict_of(claim)),
                  claim.any_suffices ? ", for which one yes is enough" : "");
  for (const Finding& finding : claim.findings) text += finding_text(finding);
  return text + '\n';
}

std::size_t count(const std::vector<Claim>& claims, Holds wanted) {
  return static_cast<std::size_t>(std::ranges::count(claims, wanted, verdict_of));
}

}  // namespace

std::string claims_headline(const std::vector<Claim>& claims) {
  return fmt::format("Of {}, {} hold, {} do not hold, {} cannot be told",
                     format_count(claims.size(), "statement"), count(claims, Holds::kHolds),
                     count(claims, Holds::kDoesNotHold), count(claims, Holds::kCannotBeTold));
}

std::string claims_page(const std::vector<Claim>& claims, const ClaimsInput& input,
                        const std::string& command, const std::vector<std::string>& notes) {
  std::string page = fmt::format("# The series' claims, checked\n\nMade by\n\n    {}\n\n", command);
  page += inputs_text(input) + notes_text(input, notes);
  page += fmt::format("\n{}\n{}\n{}.\n\n{}\n", kSeries, rules_text(), claims_headline(claims),
                      summary_table(claims));
  bool beyond = false;
  page += "## The series\n\n";
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const bool first = !beyond && claims[i].origin == Claim::Origin::kBeyond;
    if (first) page += "## Beyond it\n\n";
    beyond = beyond || first;
    page += claim_text(claims[i], i + 1);
  }
  page.pop_back();  // one empty line too many
  return page;
}

}  // namespace fusegate::ci
