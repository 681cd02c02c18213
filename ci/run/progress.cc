#include "ci/run/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "ci/console/format.h"

namespace fusegate::ci {
namespace {

constexpr std::string_view kPrefix = "@fusegate ";

}  // namespace

std::optional<ProgressEvent> parse_progress_event(std::string_view line) try {
  if (!line.starts_with(kPrefix)) return std::nullopt;
  const auto object = nlohmann::json::parse(line.substr(kPrefix.size()));
  if (object.at("event") == "note") {
    const auto text = object.at("text").get<std::string>();
    return text.empty() ? std::nullopt : std::optional(ProgressEvent{.note = text});
  }
  const bool is_start = object.at("event") == "start";
  const bool is_check = object.at("event") == "check";
  if (!is_start && !is_check && object.at("event") != "benchmark") return std::nullopt;
  ProgressEvent event{.total = object.at("total").get<int>(), .is_check = is_check};
  if (!is_start) {
    event.index = object.at("index").get<int>();
    event.benchmark = object.value("benchmark", "");
    event.failure = object.value("failure", "");
  }
  const bool sensible = event.index >= 0 && event.total >= event.index && event.total > 0;
  return sensible ? std::optional(event) : std::nullopt;
} catch (const nlohmann::json::exception&) {
  return std::nullopt;
}

void TimeLeft::start_process() {
  ++started_;
  running_ = true;
  fraction_ = 0;
  seconds_ = 0;
}

void TimeLeft::progress(double fraction, double seconds) {
  fraction_ = std::clamp(fraction, 0.0, 1.0);
  seconds_ = seconds;
}

void TimeLeft::finish_process(double seconds, bool representative) {
  running_ = false;
  if (!representative) return;
  ++measured_;
  measured_seconds_ += seconds;
}

std::optional<double> TimeLeft::whole_process_seconds() const {
  if (measured_ > 0) return measured_seconds_ / measured_;
  if (running_ && fraction_ > 0) return seconds_ / fraction_;
  return std::nullopt;
}

std::optional<double> TimeLeft::seconds() const {
  const std::optional<double> whole = whole_process_seconds();
  if (!whole) return std::nullopt;
  const double running = running_ ? 1 - fraction_ : 0;
  return *whole * (std::max(0, planned_ - started_) + running);
}

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
  ++process_;
  label_ = label;
  process_started_ = now_();
  time_left_.start_process();
  status_ = process_text() + time_left_text();
  if (console_.status_line) update_status(status_);
}

void ProgressDisplay::show(const ProgressEvent& event) {
  if (event.is_check) return show_check(event);
  time_left_.progress(static_cast<double>(event.index) / event.total, now_() - process_started_);
  if (!event.failure.empty()) note(fmt::format("{} failed: {}", event.benchmark, event.failure));
  show_status(fmt::format("{}: {} %{}  {}", process_text(), 100 * event.index / event.total,
                          time_left_text(), event.benchmark));
}

void ProgressDisplay::show_check(const ProgressEvent& event) {
  show_status(fmt::format("{}: checking results, benchmark {}/{}  {}", process_text(),
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
  print_line(fmt::format("{}: {} {}{}", process_text(),
                         failure.empty() ? "finished in" : failure + ", after",
                         format_duration(seconds), process_ < planned_ ? time_left_text() : ""));
}

void ProgressDisplay::note(const std::string& line) { print_line(line); }

std::string ProgressDisplay::process_text() const {
  return fmt::format("process {}/{}{}", process_, planned_,
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
