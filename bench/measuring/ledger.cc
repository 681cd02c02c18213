#include "bench/measuring/ledger.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "baselines/io/file_io.h"
#include "baselines/io/json_field.h"
#include "baselines/statistics/statistics.h"

namespace fusegate::bench {
namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;

// A write waits until this many times the last one's duration have passed, so that writing takes 2
// % of the time at most. On the H200's machine one took 4 to 5 ms: after each of pr's 560 places
// that would be 2.5 s of 27.
constexpr int kTimesAWrite = 50;

// Never empty: an account without a failure has none.
std::string failure_text(const std::string& text) { return text.empty() ? "failed" : text; }

}  // namespace

Ledger::Ledger(const Plan& plan, const InvocationInfo& info) : info_(info) {
  for (const PlannedBenchmark& benchmark : plan.benchmarks) {
    accounts_.push_back({.head = {.name = benchmark.name(),
                                  .family = static_cast<int>(accounts_.size()),
                                  .invocation = info.number,
                                  .repetitions = info.protocol.samples},
                         .failure = {},
                         .times_ns = {}});
  }
}

void Ledger::resume(const std::filesystem::path& path) {
  const json whole = baselines::parse_json(baselines::read_regular_file(path), path.string());
  const baselines::JsonField root(whole, path.string(), "");
  const auto context = root.find("context");
  const auto fusegate = context ? context->find("fusegate") : std::nullopt;
  const auto doubts = fusegate ? fusegate->find("doubts") : std::nullopt;
  if (doubts) earlier_doubts_ = baselines::read_doubts(*doubts);
  std::map<std::string, Account*> by_name;
  for (Account& account : accounts_) by_name[account.head.name] = &account;
  std::map<Account*, int> samples;
  for (const baselines::JsonField& entry : root.at("benchmarks").elements()) {
    pending_.push_back(entry.value());
    const auto found = by_name.find(entry.at("name").text());
    if (found == by_name.end()) continue;
    Account& account = *found->second;
    account.head.family = entry.at("family_index").integer();
    if (entry.find("error_occurred")) {
      account.failure = failure_text(entry.text_or_empty("error_message"));
    } else {
      ++samples[&account];
    }
  }
  for (const auto& [account, count] : samples) {
    while (info_.protocol.first_sample(account->places) < count) ++account->places;
  }
}

void Ledger::open(const std::filesystem::path& path, json context) {
  baselines::add_doubt_names(context["fusegate"]["doubts"], earlier_doubts_);
  // With what it has already, in one write: a process that is killed after the first has it still.
  writer_.emplace(path, std::move(context), std::exchange(pending_, {}));
}

void Ledger::add_place(std::size_t benchmark, const PlaceRecord& place,
                       const BenchmarkRecord& record) {
  Account& account = accounts_[benchmark];
  const int first = info_.protocol.first_sample(account.places);
  std::ranges::move(place_entries(account.head, first, place, record),
                    std::back_inserter(pending_));
  for (const Sample& sample : place.samples)
    account.times_ns.push_back(sample.batch_ns / record.calls);
  ++account.places;
  flush_if_due();
}

void Ledger::add_failure(std::size_t benchmark, const std::string& failure) {
  Account& account = accounts_[benchmark];
  const int samples = info_.protocol.first_sample(account.places);
  account.failure = failure_text(failure);
  pending_.push_back(failed_entry(account.head, samples, account.failure));
  flush();  // the process may be about to end
}

void Ledger::add_details(const std::map<std::size_t, json>& details) {
  std::map<std::string, json> by_name;
  for (const auto& [benchmark, members] : details)
    by_name[accounts_[benchmark].head.name] = members;
  if (writer_) writer_->add_details(by_name);
}

void Ledger::flush() {
  const std::vector<json> entries = std::exchange(pending_, {});
  if (!writer_ || entries.empty()) return;
  const auto start = Clock::now();
  writer_->append(entries);
  last_write_ = Clock::now();
  last_write_took_ = last_write_ - start;
  recording_ += last_write_took_;
}

void Ledger::flush_if_due() {
  if (Clock::now() - last_write_ >= kTimesAWrite * last_write_took_) flush();
}

void Ledger::leave(const std::set<baselines::Doubt>& doubts) {
  flush();
  if (writer_) writer_->add_doubts({doubts.begin(), doubts.end()});
}

void Ledger::finish(const std::set<baselines::Doubt>& doubts) {
  flush();
  if (writer_) writer_->finish({doubts.begin(), doubts.end()});
}

int Ledger::places_done(const Account& account) const {
  const int all = info_.protocol.places;
  return account.failure.empty() ? std::min(account.places, all) : all;
}

bool Ledger::is_complete(std::size_t benchmark) const {
  return places_done(accounts_[benchmark]) == info_.protocol.places;
}

int Ledger::selected_benchmarks() const {
  return static_cast<int>(std::ranges::count_if(accounts_, &Account::selected));
}

int Ledger::complete_benchmarks() const {
  return static_cast<int>(std::ranges::count_if(accounts_, [this](const Account& account) {
    return account.selected && places_done(account) == info_.protocol.places;
  }));
}

bool Ledger::is_everything_complete() const {
  return complete_benchmarks() == selected_benchmarks();
}

int Ledger::failures() const {
  return static_cast<int>(
      std::ranges::count_if(accounts_, [](const Account& a) { return !a.failure.empty(); }));
}

std::string Ledger::note_line(const std::string& text) {
  const json event{{"event", "note"}, {"text", text}};
  return "@fusegate " + event.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string Ledger::start_line() const {
  const json event{{"event", "start"},
                   {"total", selected_benchmarks() * info_.protocol.places},
                   {"benchmarks", selected_benchmarks()}};
  return "@fusegate " + event.dump();
}

std::string Ledger::check_line(std::size_t benchmark, int checked) const {
  const json event{{"event", "check"},
                   {"index", checked},
                   {"total", selected_benchmarks()},
                   {"benchmark", accounts_[benchmark].head.name}};
  return "@fusegate " + event.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string Ledger::progress_line(std::size_t benchmark) const {
  const Account& account = accounts_[benchmark];
  int done = 0;
  for (const Account& each : accounts_) done += each.selected ? places_done(each) : 0;
  json event{{"event", "benchmark"},
             {"index", done},
             {"total", selected_benchmarks() * info_.protocol.places},
             {"benchmark", account.head.name},
             {"finished", complete_benchmarks()},
             {"benchmarks", selected_benchmarks()}};
  if (!account.failure.empty()) {
    event["failure"] = account.failure;
  } else {
    event["time_ns"] = baselines::median(account.times_ns);
    event["spread"] = baselines::median_absolute_deviation(account.times_ns) /
                      baselines::median(account.times_ns);
  }
  // An error message may hold bytes that are no UTF-8.
  return "@fusegate " + event.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace fusegate::bench
