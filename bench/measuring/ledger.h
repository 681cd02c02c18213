// Keeps what an invocation has measured of each benchmark so far, place by place, and writes it to
// the run file and the progress lines.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "baselines/record/run_file.h"
#include "bench/measuring/recorder.h"
#include "bench/plan/plan.h"

namespace fusegate::bench {

// Benchmarks are known by their number in the plan.
class Ledger {
 public:
  Ledger(const Plan& plan, const InvocationInfo& info);

  // Takes over what a run file holds already: whole places, failures and doubts. Throws InputError.
  void resume(const std::filesystem::path& path);
  // Counts the benchmark among those that this invocation is to measure.
  void select(std::size_t benchmark) { accounts_[benchmark].selected = true; }
  // Writes the run file from here on. Throws InputError where it cannot be written, as do all that
  // write.
  void open(const std::filesystem::path& path, nlohmann::json context);

  void add_place(std::size_t benchmark, const PlaceRecord& place, const BenchmarkRecord& record);
  // The benchmark is complete with that; samples of earlier places stay beside the failure.
  void add_failure(std::size_t benchmark, const std::string& failure);
  // Of whole benchmarks, by number: members for the details that their first entries carry.
  void add_details(const std::map<std::size_t, nlohmann::json>& details);
  // What is not on disk yet.
  void flush();
  // Of an invocation that goes on in another process, or not at all.
  void leave(const std::set<baselines::Doubt>& doubts);
  void finish(const std::set<baselines::Doubt>& doubts);

  int next_place(std::size_t benchmark) const { return accounts_[benchmark].places; }
  bool selected(std::size_t benchmark) const { return accounts_[benchmark].selected; }
  bool has_failed(std::size_t benchmark) const { return !accounts_[benchmark].failure.empty(); }
  // Whether it has all its places, or failed.
  bool is_complete(std::size_t benchmark) const;
  // Of the selected benchmarks.
  int complete_benchmarks() const;
  bool is_everything_complete() const;
  int failures() const;
  std::chrono::duration<double> recording() const { return recording_; }  // spent on the run file

  // Lines for the program that started us: "@fusegate {...}". Their index and total count places.
  static std::string note_line(const std::string& text);
  std::string start_line() const;
  std::string progress_line(std::size_t benchmark) const;
  // Before the benchmark is checked, as the first of its process: checked of them are.
  std::string check_line(std::size_t benchmark, int checked) const;

 private:
  struct Account {
    EntryHead head;
    bool selected = false;
    int places = 0;
    std::string failure;
    std::vector<double> times_ns;  // of samples taken by this process
  };

  int selected_benchmarks() const;
  int places_done(const Account& account) const;
  void flush_if_due();

  const InvocationInfo& info_;
  std::vector<Account> accounts_;
  std::optional<baselines::RunFileWriter> writer_;
  std::vector<nlohmann::json> pending_;           // entries that are not on disk yet
  std::vector<baselines::Doubt> earlier_doubts_;  // of the run file that is resumed
  std::chrono::steady_clock::time_point last_write_;
  std::chrono::steady_clock::duration last_write_took_{};
  std::chrono::duration<double> recording_{};
};

}  // namespace fusegate::bench
