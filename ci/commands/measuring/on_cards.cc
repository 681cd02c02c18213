#include "ci/commands/measuring/on_cards.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <mutex>
#include <optional>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "ci/console/format.h"
#include "ci/processes/cards.h"
#include "ci/processes/run_record.h"
#include "ci/shards/card_sweep.h"
#include "ci/shards/merging.h"
#include "ci/shards/planning.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;
using baselines::InputError;

std::string last_failure(const RunResult& result) {
  std::string failure = "its processes died";
  for (const ProgramRun& program : result.programs) {
    for (const ProcessRecord& process : program.record().processes) {
      if (!process.failure.empty()) failure = process.failure;
    }
  }
  return failure;
}

class CardsRun {
 public:
  CardsRun(const CardsRequest& request, const MeasureShard& measure, Console& console)
      : request_(request),
        measure_(measure),
        console_(console),
        cards_(chosen_cards(request.measuring.gpus, cards_of_host(), std::getenv(kVisibleCards))),
        shards_(request.out / "shards") {
    for (const fs::path& folder : request.folders) check_run_folder(folder, "--out", false);
    if (!fs::exists(shards_)) return;
    throw InputError(shards_.string(), "",
                     "has shards of a run that did not end: merge them or remove the folder");
  }

  RunResult run() {
    plan_ = plan();
    baselines::write_atomically(shards_ / "plan.json", plan_text(plan_));
    const auto shards = static_cast<int>(plan_.shards.size());
    const CardSweep sweep = sweep_cards(
        cards_, shards,
        [this](int shard, const Card& card, Console& of_card) {
          return measured(shard, card, of_card);
        },
        console_);
    if (sweep.interrupted) result_.end = RunEnd::kInterrupted;
    if (!sweep.left.empty()) end_without(sweep);
    if (sweep.left.empty()) merge();
    result_.all_well = result_.all_well && sweep.left.empty();
    return std::move(result_);
  }

 private:
  ShardPlan plan() const {
    const std::string& name = request_.measuring.suite;
    ProgramSuite suite;
    const double started_s = steady_seconds();
    for (const auto& [program, own_suite] : request_.programs) {
      ProgramSuite own = suite_of_program(program, own_suite, request_.measuring.flags,
                                          {{kVisibleCards, cards_.front().uuid}});
      suite.benchmarks.insert(suite.benchmarks.end(), own.benchmarks.begin(), own.benchmarks.end());
      suite.controls.insert(suite.controls.end(), own.controls.begin(), own.controls.end());
      suite.protocol = std::move(own.protocol);
    }
    const double start_s = steady_seconds() - started_s;  // of each program once
    name_controls(request_.judging.controls, suite);
    PlanRequest planned{.suite = name, .may_make_more = true};
    set_costs(suite, any_stored_run(request_.judging, name), planned);
    set_shards(cards_.size(), start_s, planned);
    return make_plan(planned);
  }

  // In the card's thread.
  CardOutcome measured(int shard, const Card& card, Console& console) {
    MeasuringOptions measuring = request_.measuring;
    measuring.gpus.clear();
    measuring.card = card.uuid;
    measuring.shard = shard_of(plan_, shard);
    measuring.spent_s += steady_seconds() - started_s_;
    const fs::path folder = folder_of(shard);
    const CardOutcome outcome = outcome_of(measuring, folder, console);
    if (!outcome.failure.empty() && fs::exists(folder)) {
      fs::rename(folder, shards_ / fmt::format("{}-failed-on-{}", shard, card.label));
    }
    return outcome;
  }

  // Its folder is unlocked then.
  CardOutcome outcome_of(const MeasuringOptions& measuring, const fs::path& folder,
                         Console& console) {
    try {
      const RunResult result = measure_(measuring, folder, console);
      if (result.end == RunEnd::kInterrupted) return {.interrupted = true};
      if (result.end == RunEnd::kGaveUp) return {.failure = last_failure(result)};
      add(result);
      return {};
    } catch (const InputError& error) {
      return {.failure = error.what()};
    }
  }

  void add(const RunResult& result) {
    const std::lock_guard lock(mutex_);
    if (result.end == RunEnd::kBudget) result_.end = result.end;
    result_.all_well = result_.all_well && result.all_well;
    result_.measured_anything = result_.measured_anything || result.measured_anything;
  }

  void end_without(const CardSweep& sweep) const {
    const std::string what = fmt::format(
        "{} of {} left, {}; the others are in {}, with the plan: measure the rest with "
        "--plan and --shard, and merge them",
        format_count(sweep.left.size(), "shard"), plan_.shards.size(), fmt::join(sweep.left, ", "),
        shards_.string());
    if (!sweep.interrupted) {
      throw InputError("--gpus", "", fmt::format("{}: {}", sweep.failures.back(), what));
    }
    console_.err.print("fusegate: interrupted; {}\n", what);
  }

  void merge() const {
    std::vector<fs::path> folders;
    for (int shard = 1; shard <= static_cast<int>(plan_.shards.size()); ++shard) {
      folders.push_back(folder_of(shard));
    }
    for (const MergedRun& run : merge_shards(folders, request_.out)) {
      console_.out.print("{}\n", merged_text(run));
    }
    for (const fs::path& folder : folders) fs::remove_all(folder);
    fs::remove(shards_ / "plan.json");
    std::error_code holds_failed;  // shards of other cards stay
    fs::remove(shards_, holds_failed);
  }

  fs::path folder_of(int shard) const { return shards_ / std::to_string(shard); }

  const CardsRequest& request_;
  const MeasureShard& measure_;
  Console& console_;
  const std::vector<Card> cards_;
  const fs::path shards_;
  const double started_s_ = steady_seconds();
  ShardPlan plan_;
  std::mutex mutex_;
  RunResult result_{.all_well = true};
};

}  // namespace

RunResult measure_on_cards(const CardsRequest& request, const MeasureShard& measure,
                           Console& console) {
  return CardsRun(request, measure, console).run();
}

}  // namespace fusegate::ci
