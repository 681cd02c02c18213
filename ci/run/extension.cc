#include "ci/run/extension.h"

#include <algorithm>

#include "baselines/comparing/outlier_processes.h"
#include "baselines/io/error.h"
#include "baselines/record/load_run.h"
#include "ci/console/format.h"
#include "ci/gate/judging.h"
#include "ci/run/extension_plan.h"

namespace fusegate::ci {
namespace {

class Extension {
 public:
  Extension(Session& session, Rounds& rounds, const InterimAnalysis& interim_analysis)
      : session_(session),
        rounds_(rounds),
        interim_analysis_(interim_analysis),
        plan_(session.processes + extensions_before(session), session.request.max_processes) {}

  void run() {
    for (int number = 1; !session_.is_cut_short(); ++number) {
      const std::vector<std::string> benchmarks = within_budget(next());
      if (benchmarks.empty()) return;
      session_.console.err.print("extension {}: {} of {}\n", number, benchmarks.size(),
                                 format_count(whole_round(), "benchmark"));
      const double started_s = session_.now();
      const auto extended = std::ranges::count_if(session_.programs, &ProgramRun::is_extended);
      ProgressDisplay display(session_.console, static_cast<int>(extended), session_.now);
      rounds_.measure({Round::Kind::kExtension, flags_of(benchmarks, number)}, display);
      plan_.count_round(benchmarks);
      benchmark_s_ =
          (session_.now() - started_s) / static_cast<double>(measured_of(benchmarks.size()));
    }
  }

 private:
  // Of a run that is resumed: what they measured is in what is judged.
  static int extensions_before(const Session& session) {
    int most = 0;
    for (const ProgramRun& program : session.programs) {
      most = std::max(most, program.extensions());
    }
    return most;
  }

  ExtensionRound next() {
    try {
      return plan_.next(interim_analysis_());
    } catch (const baselines::InputError& error) {
      // Whoever judges the run for good meets the same error, and ends with it.
      session_.console.err.print("measuring no further: {}\n", error.what());
      return {};
    }
  }

  // All of them where time is left, else those to which the budget does not apply.
  std::vector<std::string> within_budget(ExtensionRound round) {
    if (round.benchmarks.empty() || session_.fits(expected_s(round.benchmarks.size()))) {
      return std::move(round.benchmarks);
    }
    session_.end = RunEnd::kBudget;
    const std::size_t left = round.benchmarks.size() - round.unconfirmed.size();
    if (left > 0 && !reported_budget_) {
      session_.console.err.print("the time budget has no room to measure {} again\n",
                                 format_count(left, "benchmark"));
      reported_budget_ = true;
    }
    return std::move(round.unconfirmed);
  }

  // A process has to start whatever it measures, so that few benchmarks take more than their share:
  // the last extension shows how much more.
  double expected_s(std::size_t benchmarks) const {
    double whole_round_s = 0;
    for (std::size_t i = 0; i < session_.programs.size(); ++i) {
      if (session_.programs[i].is_extended()) whole_round_s += rounds_.process_s(i);
    }
    const auto count = static_cast<double>(measured_of(benchmarks));
    return std::max(whole_round_s * count / static_cast<double>(whole_round()),
                    benchmark_s_ * count);
  }

  // How many benchmarks a whole round measures, of those that are judged.
  std::size_t whole_round() const {
    const std::size_t judged = plan_.suite_size();
    return session_.selection ? std::min(judged, session_.selection->measured.size()) : judged;
  }
  // How many a round of these measures.
  std::size_t measured_of(std::size_t benchmarks) const {
    return session_.request.extends_whole_suite ? whole_round() : benchmarks;
  }

  // Power may explain a slowdown: the first extension asks for the energy of a call, half a second
  // a benchmark. Programs that can be identified know that flag.
  std::vector<std::string> flags_of(const std::vector<std::string>& benchmarks, int number) const {
    if (session_.request.extends_whole_suite) return session_.whole_round_flags;
    std::vector<std::string> flags;
    if (const auto filter = benchmark_filter_flag(benchmarks)) flags.push_back(*filter);
    if (session_.selection && number == 1) flags.emplace_back("--energy-ms=500");
    return flags;
  }

  Session& session_;
  Rounds& rounds_;
  const InterimAnalysis& interim_analysis_;
  ExtensionPlan plan_;
  double benchmark_s_ = 0;  // of the last extension, all programs together
  bool reported_budget_ = false;
};

}  // namespace

bool name_outliers(Session& session) {
  bool any = false;
  for (ProgramRun& program : session.programs) {
    try {
      const baselines::Run run = baselines::load_run({program.folder()});
      const double min_effect = session.request.min_effect.value_or(min_effect_of(run));
      for (const auto& outlier :
           program.add_outliers(baselines::outlier_processes(run, min_effect))) {
        any = true;
        session.console.err.print("{}: {}\n", program.folder().string(),
                                  baselines::outlier_text(outlier));
      }
    } catch (const baselines::InputError&) {
      // Whoever judges the run meets the same error.
    }
  }
  return any;
}

void repeat_outliers(Session& session, Rounds& rounds) {
  constexpr int kMostRepeats = 2;
  if (session.processes < 2) return;  // who adds process by process knows how many are wanted
  for (int repeat = 0; repeat < kMostRepeats && name_outliers(session); ++repeat) {
    if (!session.fits(rounds.expected_repeat_s())) {
      session.console.err.print(
          "the time budget has no room for another process in place of the outlier\n");
      return;
    }
    session.console.err.print("running one more process of each program\n");
    ProgressDisplay display(session.console, rounds.repeat_processes(), session.now);
    rounds.measure({Round::Kind::kRepeat, session.whole_round_flags}, display);
    if (session.end != RunEnd::kAll) return;
  }
}

void extend(Session& session, Rounds& rounds, const InterimAnalysis& interim_analysis) {
  Extension(session, rounds, interim_analysis).run();
}

}  // namespace fusegate::ci
