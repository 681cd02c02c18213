#include "ci/run/rounds.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <system_error>
#include <utility>

namespace fusegate::ci {
namespace {

int last_block_of(const std::vector<ProgramRun>& programs) {
  int last = 0;
  for (const ProgramRun& program : programs) {
    for (const ProcessRecord& process : program.record().processes) {
      last = std::max(last, process.block);
    }
  }
  return last;
}

}  // namespace

Schedule::Schedule(int slots, std::uint64_t seed)
    : random_(seed), order_(static_cast<std::size_t>(slots)) {
  std::iota(order_.begin(), order_.end(), 0);
}

std::vector<PlannedProcess> Schedule::next_round() {
  if (is_mirrored_next_) {
    std::ranges::reverse(order_);
  } else {
    // By hand and not by std::shuffle, whose result for a seed differs between standard libraries.
    for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random_() % i]);
  }
  is_mirrored_next_ = !is_mirrored_next_;
  std::vector<PlannedProcess> round;
  for (const int slot : order_) round.push_back({slot, draw_seed()});
  return round;
}

std::uint64_t Schedule::draw_seed() {
  std::uint64_t seed = random_() >> 33;
  while (!drawn_.insert(seed).second) seed = random_() >> 33;
  return seed;
}

Rounds::Rounds(Session& session)
    : session_(session),
      schedule_(
          static_cast<int>(session.programs.size()) * (session.request.is_aa ? 2 : 1),
          session.request.options.seed ? *session.request.options.seed : std::random_device{}()),
      block_(last_block_of(session.programs)),
      first_block_(block_ + 1),
      minimum_s_(session.programs.size()) {
  for (std::size_t i = 0; i < session.programs.size(); ++i) {
    minimum_s_[i] = session.programs[i].seconds_of_minimum();  // of a run that is resumed
  }
  for (std::size_t i = 0; i < session.programs.size(); ++i) {
    slots_.push_back({i, session.request.is_aa ? "a" : ""});
    if (session.request.is_aa) slots_.push_back({i, "b"});
  }
}

void Rounds::measure_minimum() {
  const double started_s = session_.now();
  ProgressDisplay display(session_.console, processes_left(), session_.now);
  for (int done = 0; rounds_left() > 0 && session_.end == RunEnd::kAll; ++done) {
    if (done == 1 && session_.budget) replan(display);
    const double measured_s = session_.now() - started_s - loading_s_;
    const double load_s = loaded_.empty() ? load_s_ : 0;
    if (done > 0 && !session_.fits(measured_s / done + load_s)) {
      session_.end = RunEnd::kBudget;
      loaded_.clear();
    } else {
      measure({Round::Kind::kMinimum, session_.whole_round_flags}, display, rounds_left());
    }
  }
  // Without a process of each program there is no result, and another card may have one.
  const bool lacks_program = lived_.size() < session_.programs.size();
  if (is_of_card() && lacks_program && !session_.is_interrupted()) session_.end = RunEnd::kGaveUp;
}

int Rounds::processes_left() const {
  int left = 0;
  for (const ProgramRun& program : session_.programs) {
    left += std::max(0, session_.processes - program.processes());
  }
  return left;
}

int Rounds::rounds_left() const {
  const int slots = static_cast<int>(slots_.size());
  return (processes_left() + slots - 1) / slots;
}

// By what the first round took.
void Rounds::replan(ProgressDisplay& display) {
  const double count = static_cast<double>(slots_.size());
  const ProcessTimes mean{first_round_.checks_s / count, first_round_.samples_s / count,
                          expected_repeat_s() / count};
  session_.budget->replan(mean, session_.left_s());
  session_.take_budget();
  display.plan(session_.processes * static_cast<int>(session_.programs.size()));
}

void Rounds::measure(const Round& round, ProgressDisplay& display, int wanted) {
  ++block_;
  if (session_.loads_together && loaded_.empty()) load(round, wanted, display);
  if (drawn_.empty()) drawn_.push_back(schedule_.next_round());
  const std::vector<PlannedProcess> planned_round = std::move(drawn_.front());
  drawn_.pop_front();
  for (const PlannedProcess& planned : planned_round) {
    if (!takes_part(slot_of(planned), round)) continue;
    if (session_.interrupts.take() != 0 || !run_one(planned, round, display)) {
      if (session_.end != RunEnd::kGaveUp) session_.end = RunEnd::kInterrupted;
      loaded_.clear();
      return;
    }
  }
}

bool Rounds::takes_part(const Slot& slot, const Round& round, int ahead) const {
  const ProgramRun& program = session_.programs[slot.program];
  if (round.kind == Round::Kind::kRepeat) return true;
  if (round.kind == Round::Kind::kExtension) return program.is_extended() && slot.aa_half != "b";
  return program.processes() + ahead < session_.processes;
}

ProcessRequest Rounds::request_of(const PlannedProcess& planned, const Round& round,
                                  int ahead) const {
  const ProgramRun& program = session_.programs[slot_of(planned).program];
  ProcessRequest process = session_.process_request(program, planned.seed, round.flags);
  process.number = program.next_number() + ahead;
  return process;
}

std::vector<ProcessRequest> Rounds::next_requests(const Round& round, int wanted) {
  std::vector<ProcessRequest> requests;
  std::vector<int> ahead(session_.programs.size());
  for (std::size_t i = 0; i < static_cast<std::size_t>(wanted); ++i) {
    if (i > 0 && requests.size() + slots_.size() > session_.request.most_loading) break;
    if (i == drawn_.size()) drawn_.push_back(schedule_.next_round());
    for (const PlannedProcess& planned : drawn_[i]) {
      const Slot& slot = slot_of(planned);
      if (!takes_part(slot, round, ahead[slot.program])) continue;
      requests.push_back(request_of(planned, round, ahead[slot.program]++));
    }
  }
  return requests;
}

void Rounds::load(const Round& round, int wanted, ProgressDisplay& display) {
  const std::vector<ProcessRequest> requests = next_requests(round, wanted);
  if (requests.size() < 2) return;
  if (!std::exchange(said_loading_, true)) {
    display.note("loading " + process_count(static_cast<int>(requests.size())) + " together");
  }
  const double started_s = session_.now();
  try {
    for (const ProcessRequest& request : requests) loaded_.push_back(start_process(request));
  } catch (const std::system_error&) {
    loaded_.clear();  // whoever starts them one by one says what is wrong
  }
  if (!wait_until_loaded(loaded_, session_.interrupts)) return;  // whoever asks learns of it
  load_s_ = session_.now() - started_s;
  loading_s_ += load_s_;
  const bool any_uses_gpu = std::ranges::any_of(
      loaded_, [](StartedChild& child) { return child.look() == StartedChild::State::kUsesGpu; });
  if (!any_uses_gpu) return;
  display.note("a program uses the GPU while it loads: measuring without loading together");
  loaded_.clear();
  load_s_ = 0;
  session_.loads_together = false;
}

bool Rounds::run_one(const PlannedProcess& planned, const Round& round, ProgressDisplay& display) {
  const Slot& slot = slot_of(planned);
  ProgramRun& program = session_.programs[slot.program];
  if (round.kind != Round::Kind::kMinimum) program.plan_one_more();
  display.start_process(session_.programs.size() > 1 ? program.folder().string() : "");
  const ProcessRequest process = request_of(planned, round);
  program.take_number();
  double started_s = session_.now();
  // A round's processes share what they take to load.
  if (!loaded_.empty()) started_s -= load_s_ / static_cast<double>(slots_.size());
  const ProcessOutcome outcome = run_and_record(slot, process, round, display);
  bool interrupted = outcome.interrupted;
  if (session_.peers && !interrupted) {
    interrupted = !session_.peers->measure_beside(process, outcome, display);
  }
  if (round.kind != Round::Kind::kExtension) minimum_s_[slot.program] += session_.now() - started_s;
  display.finish_process(outcome.record.failure);
  deaths_ = outcome.died ? deaths_ + 1 : 0;
  if (!outcome.died) lived_.insert(slot.program);
  if (is_of_card() && deaths_ > session_.programs.size()) {
    session_.end = RunEnd::kGaveUp;
    return false;
  }
  return !interrupted;
}

ProcessOutcome Rounds::run_and_record(const Slot& slot, const ProcessRequest& process,
                                      const Round& round, ProgressDisplay& display) {
  ProcessRecord record = record_of(process);
  record.block = block_;
  record.extension = round.kind == Round::Kind::kExtension;
  if (!record.extension) record.aa_half = slot.aa_half;
  session_.programs[slot.program].begin(record);
  ProcessClock clock(session_.now());
  const auto on_event = [&](const ProgressEvent& event) {
    clock.see(event, session_.now());
    show(event, display);
  };
  ProcessOutcome outcome = run_process(
      process, on_event, [&] { display.wait(); }, loaded_.empty() ? nullptr : &loaded_.front());
  if (block_ == first_block_) first_round_ += clock.times(session_.now());
  if (!loaded_.empty()) loaded_.erase(loaded_.begin());
  for (const auto& [name, failure] : outcome.failed_benchmarks) {
    failures_.add(name, failure);
    failed_programs_.insert(slot.program);
  }
  outcome.record.block = record.block;
  outcome.record.extension = record.extension;
  outcome.record.aa_half = record.aa_half;
  // Of a hopeless one the exception that ends the run here says why, and nothing else does.
  session_.programs[slot.program].add(outcome);
  return outcome;
}

void Rounds::show(ProgressEvent event, ProgressDisplay& display) {
  if (!event.note.empty()) {
    if (notes_.insert(event.note).second) display.note("note: " + event.note);
    return;
  }
  const bool is_new = event.failure.empty() || shown_failures_.add(event.benchmark, event.failure);
  if (!is_new) event.failure.clear();
  display.show(event);
}

double Rounds::process_s(std::size_t program) const {
  const ProgramRun& run = session_.programs[program];
  const int of_minimum = run.processes() - run.extensions();
  return of_minimum > 0 ? minimum_s_[program] / of_minimum : 0;
}

double Rounds::expected_repeat_s() const {
  double sum_s = 0;
  for (const Slot& slot : slots_) sum_s += process_s(slot.program);
  return sum_s;
}

void Rounds::report_failed_benchmarks() const {
  std::size_t processes = 0;
  std::string where;
  for (const std::size_t failed : failed_programs_) {
    const ProgramRun& program = session_.programs[failed];
    processes += static_cast<std::size_t>(program.processes());
    where += (where.empty() ? "" : ", ") + program.folder().string();
  }
  failures_.print(processes, session_.programs.size() > 1 ? where : "", session_.console);
}

}  // namespace fusegate::ci
