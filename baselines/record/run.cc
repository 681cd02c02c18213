#include "baselines/record/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "baselines/io/error.h"
#include "baselines/io/pattern.h"

namespace fusegate::baselines {
namespace {

Pattern pattern_of(const std::string& text) try {
  return Pattern(text);
} catch (const std::invalid_argument& error) {
  throw InputError("--control", "", error.what());
}

// "a, b (too small); c (needs sm_90)", of reasons by name.
std::string grouped_text(const std::map<std::string, std::string>& reasons) {
  std::map<std::string, std::vector<std::string>> names;  // by reason
  for (const auto& [name, why] : reasons) names[why].push_back(name);
  std::vector<std::string> groups;
  for (const auto& [why, alike] : names) {
    groups.push_back(fmt::format("{} ({})", fmt::join(alike, ", "), why));
  }
  return fmt::format("{}", fmt::join(groups, "; "));
}

}  // namespace

std::vector<std::string> cards_of(const Run& run) {
  return run.cards.empty() ? std::vector{run.provenance.device_uuid} : run.cards;
}

void number_processes(Run& run) {
  run.process_names.clear();
  for (BenchmarkSeries& series : run.benchmarks) {
    for (std::size_t i = 0; i < series.processes.size(); ++i) {
      series.processes[i].process = static_cast<int>(i);
      if (i == run.process_names.size()) run.process_names.push_back(std::to_string(i + 1));
    }
  }
}

std::map<int, int> processes_by_card(const Run& run) {
  std::map<int, int> most;
  for (const BenchmarkSeries& series : run.benchmarks) {
    if (series.is_control) continue;
    std::map<int, int> count;
    for (const ProcessSummary& summary : series.processes) ++count[summary.card];
    for (const auto& [card, processes] : count) most[card] = std::max(most[card], processes);
  }
  return most;
}

std::vector<EnvironmentDifference> differences_between(const Run& baseline, const Run& candidate) {
  auto differences = environment_differences(baseline.environment, candidate.environment);
  for (EnvironmentDifference& difference :
       protocol_differences(baseline.provenance.protocol, candidate.provenance.protocol)) {
    differences.push_back(std::move(difference));
  }
  return differences;
}

std::vector<std::string> unfinished_texts(const Run& run) {
  std::vector<std::string> texts;
  const auto& [files, count, cut] = run.unfinished;
  if (!files.empty()) {
    texts.push_back(fmt::format(
        "{} did not finish and {}: {}",
        files.size() == 1 ? std::string("1 process") : fmt::format("{} processes", files.size()),
        count               ? "counts (--unfinished)"
        : files.size() == 1 ? "is left out"
                            : "are left out",
        fmt::join(files, ", ")));
  }
  if (!cut.empty()) {
    texts.push_back(fmt::format(
        "{} in the middle (its program did not finish) and {} left out: {}",
        cut.size() == 1 ? std::string("1 file ends") : fmt::format("{} files end", cut.size()),
        cut.size() == 1 ? "is" : "are", fmt::join(cut, ", ")));
  }
  for (const std::string& folder : run.cut_short) {
    texts.push_back(fmt::format("the run in {} did not finish; measure it again", folder));
  }
  return texts;
}

std::string unmeasured_text(const Run& run) {
  const auto unmeasured =
      std::ranges::count_if(run.benchmarks, [&run](const BenchmarkSeries& series) {
        return series.is_unmeasured() && !run.left_out.contains(series.name);
      });
  if (unmeasured == 0) return "";
  return fmt::format("{} of {} benchmarks {} not measured: identical code; --all measures them too",
                     unmeasured, run.benchmarks.size(), unmeasured == 1 ? "was" : "were");
}

std::string skipped_text(const Run& run) {
  if (run.skipped.empty()) return "";
  return fmt::format("{} skipped: {}",
                     run.skipped.size() == 1
                         ? std::string("1 benchmark was")
                         : fmt::format("{} benchmarks were", run.skipped.size()),
                     grouped_text(run.skipped));
}

std::string left_out_text(const Run& run) {
  if (run.left_out.empty()) return "";
  return fmt::format("{} not judged, or not from all processes: {}",
                     run.left_out.size() == 1
                         ? std::string("1 benchmark is")
                         : fmt::format("{} benchmarks are", run.left_out.size()),
                     grouped_text(run.left_out));
}

BenchmarkSettings settings_of(const Run& run, std::string_view benchmark) {
  return settings_of(run.provenance.settings, benchmark);
}

std::vector<std::string> controls_of(const Run& run) {
  std::vector<std::string> names;
  for (const BenchmarkSeries& series : run.benchmarks) {
    if (series.is_control && !series.is_unmeasured()) names.push_back(series.name);
  }
  return names;
}

void name_controls(const std::vector<std::string>& patterns, Run& run) {
  for (const std::string& text : patterns) {
    const Pattern pattern = pattern_of(text);
    for (BenchmarkSeries& series : run.benchmarks) {
      series.is_control = series.is_control || pattern.fits(series.name);
    }
  }
}

void require_fitting(const std::vector<std::string>& patterns,
                     const std::vector<const Run*>& runs) {
  for (const std::string& text : patterns) {
    const Pattern pattern = pattern_of(text);
    const auto fits = [&](const BenchmarkSeries& series) { return pattern.fits(series.name); };
    const bool fits_any = std::ranges::any_of(
        runs, [&](const Run* run) { return std::ranges::any_of(run->benchmarks, fits); });
    if (!fits_any) throw InputError("--control", "", "\"" + text + "\" matches no benchmark");
  }
}

Run without_identities(Run run) {
  for (BenchmarkSeries& series : run.benchmarks) series.identity.reset();
  return run;
}

}  // namespace fusegate::baselines
