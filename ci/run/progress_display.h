// Shows how far a run is: on a terminal as one line that updates itself; in a log as plain lines,
// one for each finished invocation and now and then one in between.
#pragma once

#include <functional>
#include <string>

#include "ci/console/console.h"
#include "ci/run/progress_event.h"
#include "ci/run/time_left.h"

namespace fusegate::ci {

class ProgressDisplay {
 public:
  // now: a steady clock in seconds; tests bring their own.
  using Now = std::function<double()>;
  ProgressDisplay(Console& console, int planned_processes, Now now);
  ~ProgressDisplay();                                // leaves no half line behind
  ProgressDisplay(const ProgressDisplay&) = delete;  // it owns the terminal's last line
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  // label: what tells this invocation from others, such as the folder it goes to; may be empty.
  void start_process(const std::string& label);
  void show(const ProgressEvent& event);
  // failure: empty where all went well.
  void finish_process(const std::string& failure);
  // Called again and again while nothing is said: a log is told every ten seconds what is waited
  // for.
  void wait();
  // A line of its own, above the status line.
  void note(const std::string& line);

 private:
  std::string process_text() const;
  std::string time_left_text() const;
  void show_check(const ProgressEvent& event);
  void show_status(const std::string& text);
  void update_status(const std::string& text);
  void clear_status();
  void print_line(const std::string& text);

  Console& console_;
  int planned_;
  Now now_;
  TimeLeft time_left_;
  std::string label_;
  int invocation_ = 0;
  int places_ = 0;  // finished ones of this invocation
  double process_started_ = 0;
  double last_line_ = 0;
  bool status_shown_ = false;
  std::string status_;  // what is going on
};

}  // namespace fusegate::ci
