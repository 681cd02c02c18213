#include "ci/run/measure_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <set>

#include "baselines/io/error.h"
#include "baselines/io/write_lock.h"
#include "baselines/record/load_run.h"
#include "ci/console/format.h"
#include "ci/judging/judging.h"
#include "ci/run/benchmark_filter.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;

void check_folders(const MeasuringRequest& request) {
  std::set<fs::path> seen;
  for (const ProgramRequest& arm : request.arms) {
    if (!seen.insert(fs::weakly_canonical(arm.folder)).second) {
      throw baselines::InputError(arm.folder.string(), "--out", "given twice");
    }
    check_run_folder(arm.folder, "--out", request.append);
  }
}

// What the folders hold is looked at again: another run may have ended since it was looked at.
std::vector<baselines::WriteLock> lock_folders(const MeasuringRequest& request) {
  check_folders(request);
  std::vector<baselines::WriteLock> locks;
  for (const ProgramRequest& arm : request.arms) {
    locks.push_back(baselines::WriteLock::of_folder(arm.folder, "--out"));
  }
  check_folders(request);
  return locks;
}

// A confirmation by a single invocation would let one odd process confirm what another suggested.
void check_counts(const MeasuringRequest& request) {
  const int more = request.max_processes - request.invocations;
  if (more == 0 || more >= kLeastConfirmation) return;
  throw baselines::InputError(
      "--max-invocations", "",
      fmt::format("{} is neither --invocations ({}), which extends nothing, nor at least {} more",
                  request.max_processes, request.invocations, kLeastConfirmation));
}

RunRecord started_record(const MeasuringRequest& request, const ProgramRequest& arm) {
  RunRecord record;
  record.started = format_instant(std::chrono::system_clock::now());
  if (request.append && fs::exists(arm.folder / "run.json")) {
    record = read_run_record(arm.folder);
    if (record.suite != request.suite) {
      throw baselines::InputError(
          (arm.folder / "run.json").string(), "suite",
          fmt::format("is \"{}\" and cannot be added to by \"{}\"", record.suite, request.suite));
    }
  }
  record.suite = arm.suite.empty() ? request.suite : arm.suite;
  record.flags = request.flags;
  record.program = arm.program;
  record.programs.clear();
  for (const ProgramRequest& each : request.arms) record.programs.push_back(each.program);
  record.planned_processes += request.invocations;
  record.finished = false;
  return record;
}

// Not drawn from the seed: two runs with the same seed are still two sessions.
std::string new_session() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

// Folders that one session filled so far stay in it, and blocks count on. Otherwise a folder that
// already holds invocations would mix two sessions, whose blocks mean different things.
void set_sessions(std::vector<RunRecord>& records) {
  const bool is_fresh = std::ranges::all_of(
      records, [](const RunRecord& record) { return record.invocations.empty(); });
  const bool is_shared = std::ranges::all_of(records, [&](const RunRecord& record) {
    return record.session == records.front().session && !record.invocations.empty();
  });
  if (is_shared) return;
  const std::string session = is_fresh ? new_session() : "";
  for (RunRecord& record : records) record.session = session;
}

std::vector<ProgramRun> prepare_arms(const MeasuringRequest& request) {
  check_counts(request);
  std::vector<baselines::WriteLock> locks = lock_folders(request);
  std::vector<RunRecord> records;
  for (const ProgramRequest& arm : request.arms) records.push_back(started_record(request, arm));
  set_sessions(records);
  std::vector<ProgramRun> arms;
  for (std::size_t i = 0; i < records.size(); ++i) {
    arms.emplace_back(request.arms[i], std::move(records[i]), std::move(locks[i]));
  }
  return arms;
}

int last_block_of(const std::vector<ProgramRun>& arms) {
  int last = 0;
  for (const ProgramRun& arm : arms) {
    for (const auto& invocation : arm.record().invocations) last = std::max(last, invocation.block);
  }
  return last;
}

}  // namespace

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

MeasuringRun::MeasuringRun(const MeasuringRequest& request, Console& console,
                           ProgressDisplay::Now now)
    : request_(request),
      invocations_(request.invocations),
      console_(console),
      now_(std::move(now)),
      arms_(prepare_arms(request)),
      schedule_(static_cast<int>(arms_.size()) * (request.is_aa ? 2 : 1),
                request.seed ? *request.seed : std::random_device{}()),
      block_(last_block_of(arms_)),
      minimum_s_(arms_.size()) {
  if (request_.peers) peers_.emplace(*request_.peers, arms_.front().record(), request_.append);
  for (std::size_t i = 0; i < arms_.size(); ++i) {
    slots_.push_back({i, request_.is_aa ? "a" : ""});
    if (request_.is_aa) slots_.push_back({i, "b"});
  }
}

RunEnd MeasuringRun::measure(const Look& look, const Comparisons& comparisons) {
  interrupts_.emplace();
  started_s_ = now_();
  if (comparisons && !request_.measures_all) choose_work(comparisons);
  if (end_ == RunEnd::kAll && measures_anything()) measure_minimum();
  if (end_ == RunEnd::kAll && measures_anything()) repeat_odd();
  if (look && measures_anything() && request_.max_processes > invocations_) extend(look);
  if (end_ != RunEnd::kInterrupted && measures_anything()) name_odd();
  for (ProgramRun& arm : arms_) arm.finish(end_ != RunEnd::kInterrupted);
  if (peers_) peers_->finish(end_ != RunEnd::kInterrupted);
  interrupts_.reset();
  return end_;
}

IdentifyResult MeasuringRun::find_identities() {
  const std::uint64_t seed = request_.seed.value_or(1);  // the same for all: it must not differ
  std::vector<ProcessRequest> requests;
  std::vector<std::string> questions;
  bool all_known = true;
  for (ProgramRun& arm : arms_) {
    requests.push_back(process_request_of(arm, seed, {}));
    questions.push_back(identification_question(requests.back()));
    all_known = all_known && !questions.back().empty() &&
                arm.record().identified == questions.back() &&
                fs::exists(arm.folder() / baselines::kIdentitiesFile);
  }
  if (all_known) return IdentifyResult::kAll;  // of a run that is added to
  for (ProgramRun& arm : arms_) arm.set_identified("");
  const IdentifyResult told = identify_programs(requests, console_);
  for (std::size_t i = 0; told == IdentifyResult::kAll && i < arms_.size(); ++i) {
    arms_[i].set_identified(questions[i]);
  }
  return told;
}

void MeasuringRun::choose_work(const Comparisons& comparisons) {
  const IdentifyResult told = find_identities();
  if (told == IdentifyResult::kInterrupted) end_ = RunEnd::kInterrupted;
  if (told != IdentifyResult::kAll) return;
  try {
    const std::vector<ComparedRuns> compared = comparisons();
    if (compared.empty()) return;
    takes_found_choices_ = true;
    set_plan(select_benchmarks(compared, request_.controls));
  } catch (const baselines::InputError& error) {
    console_.err.print("all is measured: {}\n", error.what());
  }
}

void MeasuringRun::set_plan(Selection plan) {
  if (plan.nothing_differs() && !request_.has_record) plan.measured.clear();
  const auto filter = benchmark_filter_flag(plan.measured);
  if (!filter) {
    console_.err.print("all is measured: the names of {} are too long for one argument\n",
                       format_count(plan.measured.size(), "benchmark"));
    return;
  }
  console_.out.print("{}\n", selection_text(plan));
  if (plan.controls < plan.equal) whole_round_flags_ = {*filter};
  if (plan.measured.empty()) {
    set_invocations(0);
  } else if (request_.processes_of_few && plan.few_differ()) {
    set_invocations(*request_.processes_of_few);
  }
  plan_ = std::move(plan);
}

void MeasuringRun::set_invocations(int invocations) {
  for (ProgramRun& arm : arms_) arm.plan_fewer(invocations_ - invocations);
  invocations_ = invocations;
}

void MeasuringRun::measure_minimum() {
  const double minimum_started_s = now_();
  const int planned = invocations_ * static_cast<int>(arms_.size());
  const int slots = static_cast<int>(slots_.size());
  const int rounds = (planned + slots - 1) / slots;
  ProgressDisplay display(console_, planned, now_);
  for (int round = 0; round < rounds && end_ == RunEnd::kAll; ++round) {
    const double mean_s = round == 0 ? 0 : (now_() - minimum_started_s) / round;
    if (round > 0 && !fits(mean_s)) {
      end_ = RunEnd::kBudget;
    } else {
      measure_round({RoundKind::kMinimum, whole_round_flags_}, display);
    }
  }
}

bool MeasuringRun::name_odd() {
  bool any = false;
  for (ProgramRun& arm : arms_) {
    try {
      const baselines::Run run = baselines::load_run({arm.folder()});
      const double min_effect = request_.min_effect.value_or(min_effect_of(run));
      for (const auto& odd : arm.add_odd(baselines::odd_processes(run, min_effect))) {
        any = true;
        console_.err.print("{}: {}\n", arm.folder().string(), odd_process_text(odd));
      }
    } catch (const baselines::InputError&) {
      // Whoever judges the run meets the same error.
    }
  }
  return any;
}

void MeasuringRun::repeat_odd() {
  constexpr int kMostRepeats = 2;
  if (invocations_ < 2) return;  // who adds process by process knows how many are wanted
  for (int repeat = 0; repeat < kMostRepeats && name_odd(); ++repeat) {
    double block_s = 0;
    for (const Slot& slot : slots_) block_s += minimum_s_[slot.arm] / arms_[slot.arm].invocations();
    if (!fits(block_s)) {
      console_.err.print("no time is left to measure it again\n");
      return;
    }
    console_.err.print("one more of each is measured\n");
    ProgressDisplay display(console_, static_cast<int>(slots_.size()), now_);
    measure_round({RoundKind::kRepeat, whole_round_flags_}, display);
    if (end_ != RunEnd::kAll) return;
  }
}

void MeasuringRun::extend(const Look& look) {
  ExtensionPlan plan(extension_limits(invocations_, request_.max_processes));
  bool told_of_budget = false;
  for (int number = 1; end_ != RunEnd::kInterrupted; ++number) {
    ExtensionRound round = look_at(plan, look);
    if (round.benchmarks.empty()) return;
    const std::size_t measured = measured_of(plan.suite_size());
    if (!fits(expected_extension_s(round.benchmarks.size(), measured))) {
      end_ = RunEnd::kBudget;
      const std::size_t left = round.benchmarks.size() - round.unconfirmed.size();
      if (left > 0 && !told_of_budget) {
        console_.err.print("no time is left to extend {}\n", format_count(left, "benchmark"));
        told_of_budget = true;
      }
      round.benchmarks = std::move(round.unconfirmed);
    }
    if (round.benchmarks.empty()) return;
    console_.err.print("extension {}: {} of {}\n", number, round.benchmarks.size(),
                       format_count(measured, "benchmark"));
    ProgressDisplay display(console_, extended_arms(), now_);
    const double round_started_s = now_();
    measure_round({RoundKind::kExtension, flags_of(round, number)}, display);
    plan.count_round(round.benchmarks);
    extension_s_a_benchmark_ =
        (now_() - round_started_s) /
        static_cast<double>(request_.extends_whole_suite ? measured : round.benchmarks.size());
  }
}

// A slowdown may be the power's: the first extension asks for the energy of a call, half a second a
// benchmark. Programs that told what they launch know that flag.
std::vector<std::string> MeasuringRun::flags_of(const ExtensionRound& round, int number) const {
  if (request_.extends_whole_suite) return whole_round_flags_;
  std::vector<std::string> flags;
  if (const auto filter = benchmark_filter_flag(round.benchmarks)) flags.push_back(*filter);
  if (plan_ && number == 1) flags.emplace_back("--energy-ms=500");
  return flags;
}

std::size_t MeasuringRun::measured_of(std::size_t judged) const {
  return plan_ ? std::min(judged, plan_->measured.size()) : judged;
}

ExtensionRound MeasuringRun::look_at(ExtensionPlan& plan, const Look& look) const {
  try {
    return plan.look(look());
  } catch (const baselines::InputError& error) {
    // Whoever judges the run for good meets the same error, and ends with it.
    console_.err.print("nothing is extended: {}\n", error.what());
    return {};
  }
}

void MeasuringRun::measure_round(const Round& round, ProgressDisplay& display) {
  ++block_;
  for (const PlannedProcess& planned : schedule_.next_round()) {
    const Slot& slot = slots_[static_cast<std::size_t>(planned.arm)];
    if (!takes_part(slot, round)) continue;
    if (interrupts_->take() != 0 || !run_one(slot, planned.seed, round, display)) {
      end_ = RunEnd::kInterrupted;
      return;
    }
  }
}

bool MeasuringRun::takes_part(const Slot& slot, const Round& round) const {
  const ProgramRun& arm = arms_[slot.arm];
  switch (round.kind) {
    case RoundKind::kMinimum:
      break;
    case RoundKind::kRepeat:
      return true;
    case RoundKind::kExtension:
      return arm.is_extended() && slot.aa_arm != "b";
  }
  return arm.invocations() < invocations_;
}

ProcessRequest MeasuringRun::process_request_of(const ProgramRun& arm, std::uint64_t seed,
                                                const std::vector<std::string>& flags) const {
  ProcessRequest invocation;
  invocation.program = arm.program();
  invocation.suite = arm.record().suite;
  invocation.folder = arm.folder();
  invocation.seed = seed;
  invocation.flags = request_.flags;
  invocation.flags.insert(invocation.flags.end(), flags.begin(), flags.end());
  invocation.environment = request_.environment;
  if (takes_found_choices_) take_found_choices(invocation);
  invocation.timeout_s = request_.timeout_s;
  invocation.interrupts = &*interrupts_;
  return invocation;
}

bool MeasuringRun::run_one(const Slot& slot, std::uint64_t seed, const Round& round,
                           ProgressDisplay& display) {
  ProgramRun& arm = arms_[slot.arm];
  const bool is_extension = round.kind == RoundKind::kExtension;
  if (round.kind != RoundKind::kMinimum) arm.plan_one_more();
  display.start_process(arms_.size() > 1 ? arm.folder().string() : "");
  ProcessRequest invocation = process_request_of(arm, seed, round.flags);
  invocation.number = arm.take_number();
  const double started_s = now_();
  ProcessOutcome outcome = run_process(
      invocation, [&](const ProgressEvent& event) { show(event, display); },
      [&] { display.wait(); });
  for (const auto& [name, failure] : outcome.failed_benchmarks) {
    failures_.add(name, failure);
    failed_arms_.insert(slot.arm);
  }
  outcome.record.block = block_;
  outcome.record.extension = is_extension;
  if (!is_extension) outcome.record.aa_arm = slot.aa_arm;
  // A hopeless one is told by the exception that ends the run here, and by nothing else.
  arm.add(outcome);
  bool interrupted = outcome.interrupted;
  if (peers_ && !interrupted) interrupted = !peers_->measure_beside(invocation, outcome, display);
  if (!is_extension) minimum_s_[slot.arm] += now_() - started_s;
  display.finish_process(outcome.record.failure);
  return !interrupted;
}

void MeasuringRun::show(ProgressEvent event, ProgressDisplay& display) {
  if (!event.note.empty()) {
    if (notes_.insert(event.note).second) display.note("note: " + event.note);
    return;
  }
  const bool is_new = event.failure.empty() || told_failures_.add(event.benchmark, event.failure);
  if (!is_new) event.failure.clear();
  display.show(event);
}

int MeasuringRun::extended_arms() const {
  return static_cast<int>(std::ranges::count_if(arms_, &ProgramRun::is_extended));
}

double MeasuringRun::expected_extension_s(std::size_t benchmarks, std::size_t suite_size) const {
  double whole_suite_s = 0;
  for (std::size_t i = 0; i < arms_.size(); ++i) {
    const int of_minimum = arms_[i].invocations() - arms_[i].extensions();
    if (arms_[i].is_extended() && of_minimum > 0) whole_suite_s += minimum_s_[i] / of_minimum;
  }
  // A process has to start whatever it measures, so that few benchmarks take more than their share:
  // the last extension knows by how much.
  const auto count = static_cast<double>(request_.extends_whole_suite ? suite_size : benchmarks);
  return std::max(whole_suite_s * count / static_cast<double>(suite_size),
                  extension_s_a_benchmark_ * count);
}

bool MeasuringRun::fits(double expected_s) const {
  return !request_.budget_s || now_() - started_s_ + expected_s <= *request_.budget_s;
}

void MeasuringRun::report_failed_benchmarks() const {
  std::size_t invocations = 0;
  std::string where;
  for (const std::size_t arm : failed_arms_) {
    invocations += static_cast<std::size_t>(arms_[arm].invocations());
    where += (where.empty() ? "" : ", ") + arms_[arm].folder().string();
  }
  failures_.print(invocations, arms_.size() > 1 ? where : "", console_);
}

bool MeasuringRun::report() const {
  bool all_well = end_ != RunEnd::kInterrupted;
  report_failed_benchmarks();
  for (const ProgramRun& arm : arms_) {
    const int failures = arm.report_failures(console_);
    if (failures > 0) all_well = false;
    const std::string folder = arm.folder().string();
    if (end_ == RunEnd::kInterrupted) {
      console_.err.print("fusegate: interrupted; {} kept in {}\n",
                         format_count(static_cast<std::size_t>(arm.invocations() - failures),
                                      "finished invocation"),
                         folder);
      continue;
    }
    if (!measures_anything()) continue;
    const int extensions = arm.extensions();
    console_.out.print(
        "{} of suite {} in {}{}{}{}\n",
        format_count(static_cast<std::size_t>(arm.invocations()), "invocation"), request_.suite,
        folder,
        extensions > 0 ? fmt::format(", {} of them for what was undecided", extensions) : "",
        failures > 0 ? fmt::format(", {} of them failed", failures) : "",
        end_ == RunEnd::kBudget ? " (the time budget is used up)" : "");
  }
  if (peers_) peers_->report(console_);
  return all_well;
}

}  // namespace fusegate::ci
