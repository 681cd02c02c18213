// Shows how far a run is: on a terminal as one line that updates itself; in a log as plain lines,
// one for each finished process and now and then one in between.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "ci/console/console.h"

namespace fusegate::ci {

// The benchmark program reports its progress by lines on its standard output that start with
// "@fusegate " and go on with one JSON object. Every other line is for people.
struct ProgressEvent {
  int index = 0;  // memory layouts finished; 0: the process has just started
  int total = 0;  // layouts in this process: of each benchmark as many as the protocol has
  std::string benchmark{};  // whose layout it was
  std::string failure{};    // why it has no result; empty where it has one
  std::string note{};       // about all that it measures, for people; then nothing else is set
  // Nothing is measured yet: this benchmark's results are being checked. index and total then count
  // benchmarks.
  bool is_check = false;
};

// Nothing where the line is not an event, or is of a kind that this version does not know.
std::optional<ProgressEvent> parse_progress_event(std::string_view line);

class ProgressDisplay {
 public:
  // now: a steady clock in seconds; tests bring their own.
  using Now = std::function<double()>;
  ProgressDisplay(Console& console, int planned_processes, Now now);
  ~ProgressDisplay();                                // leaves no half line behind
  ProgressDisplay(const ProgressDisplay&) = delete;  // it owns the terminal's last line
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  // So many in all.
  void plan(int planned_processes) { planned_ = planned_processes; }
  // label: what distinguishes this process from others, such as the folder it goes to; may be
  // empty.
  void start_process(const std::string& label);
  void show(const ProgressEvent& event);
  // failure: empty where all went well.
  void finish_process(const std::string& failure);
  // Called again and again while the process is silent: a log gets a line every ten seconds.
  void wait();
  // A line of its own, above the status line.
  void note(const std::string& line);

 private:
  double process_s() const { return now_() - process_started_; }
  std::string process_text() const;
  std::string time_left_text() const;
  void show_status(const std::string& text);
  void update_status(const std::string& text);
  void clear_status();

  Console& console_;
  int planned_;
  Now now_;
  std::string label_;
  int process_ = 0;  // the one that runs, or ran last
  double process_started_ = 0;
  bool is_running_ = false;
  double fraction_ = 0;  // of its benchmarks that are done
  int measured_ = 0;     // processes that ended well: of others the length says nothing
  double measured_s_ = 0;
  double last_line_ = 0;
  bool status_shown_ = false;
  std::string status_;  // what is going on
};

}  // namespace fusegate::ci
