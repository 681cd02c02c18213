#include "ci/run/progress_display.h"

#include <fmt/format.h>

#include <utility>

#include "ci/console/format.h"

namespace fusegate::ci {
namespace {

// Between two plain lines: seldom enough for a log, often enough to see that it lives.
constexpr double kPlainLineIntervalS = 10;

}  // namespace

ProgressDisplay::ProgressDisplay(Console& console, int planned_processes, Now now)
    : console_(console),
      planned_(planned_processes),
      now_(std::move(now)),
      time_left_(planned_processes),
      last_line_(now_()) {}

ProgressDisplay::~ProgressDisplay() { clear_status(); }

void ProgressDisplay::start_process(const std::string& label) {
  ++invocation_;
  places_ = 0;
  label_ = label;
  process_started_ = now_();
  time_left_.start_process();
  status_ = process_text() + time_left_text();
  if (console_.status_line) update_status(status_);
}

void ProgressDisplay::show(const ProgressEvent& event) {
  if (event.is_check) return show_check(event);
  places_ = event.index;
  time_left_.progress(static_cast<double>(event.index) / event.total, now_() - process_started_);
  if (!event.failure.empty()) note(fmt::format("{} failed: {}", event.benchmark, event.failure));
  show_status(fmt::format("{}, place {}/{}{}  {}", process_text(), event.index, event.total,
                          time_left_text(), event.benchmark));
}

void ProgressDisplay::show_check(const ProgressEvent& event) {
  show_status(fmt::format("{}, checking results, benchmark {}/{}  {}", process_text(),
                          event.index + 1, event.total, event.benchmark));
}

void ProgressDisplay::show_status(const std::string& text) {
  status_ = text;
  if (console_.status_line) {
    update_status(text);
  } else if (now_() - last_line_ >= kPlainLineIntervalS) {
    print_line(text);
  }
}

void ProgressDisplay::wait() {
  if (console_.status_line || now_() - last_line_ < kPlainLineIntervalS) return;
  print_line(fmt::format("{}, {} so far", status_, format_duration(now_() - process_started_)));
}

void ProgressDisplay::finish_process(const std::string& failure) {
  const double seconds = now_() - process_started_;
  time_left_.finish_process(seconds, failure.empty());
  const std::string result = failure.empty() ? format_count(places_, "place") : failure;
  print_line(fmt::format("{}: {} in {}{}", process_text(), result, format_duration(seconds),
                         invocation_ < planned_ ? time_left_text() : ""));
}

void ProgressDisplay::note(const std::string& line) { print_line(line); }

std::string ProgressDisplay::process_text() const {
  return fmt::format("invocation {}/{}{}", invocation_, planned_,
                     label_.empty() ? "" : " (" + label_ + ")");
}

std::string ProgressDisplay::time_left_text() const {
  const auto seconds = time_left_.seconds();
  return seconds ? fmt::format(", {} left", format_duration(*seconds)) : "";
}

void ProgressDisplay::update_status(const std::string& text) {
  console_.err.status_line(text, console_.columns);
  status_shown_ = true;
}

void ProgressDisplay::clear_status() {
  if (status_shown_) console_.err.status_line("", console_.columns);
  status_shown_ = false;
}

void ProgressDisplay::print_line(const std::string& text) {
  clear_status();
  console_.err.print("{}\n", text);
  console_.err.flush();
  last_line_ = now_();
}

}  // namespace fusegate::ci
