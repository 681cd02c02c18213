// Takes the events of JsonStream, and of nlohmann's parser, over the text of a trace, and hands on
// each element of "traceEvents". What nobody reads, stacks and input shapes above all, is passed
// over without building it.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "baselines/traces/event_text.h"

namespace fusegate::baselines {

class TraceTextHandler {
 public:
  using Callback = std::function<void(std::size_t index, const TraceEventText&)>;

  TraceTextHandler(std::string_view source, const Callback& on_event)
      : source_(source), on_event_(on_event) {}

  bool saw_events() const { return saw_events_; }

  bool null() { return true; }  // the same as absent
  bool boolean(bool) { return other_scalar("true or false"); }
  bool number_integer(std::int64_t value) { return integer(value); }
  bool number_unsigned(std::uint64_t value);
  bool number_float(double value, std::string_view text);
  bool string(std::string& value);
  bool binary(nlohmann::json::binary_t&) { return true; }  // the text format has none
  bool key(std::string& name);
  bool start_object(std::size_t);
  bool start_array(std::size_t);
  bool end_object() { return end(); }
  bool end_array() { return end(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error);

 private:
  enum Depth { kOutside, kInRoot, kInEvents, kInEvent, kInArguments, kInTriple };

  [[noreturn]] void fail(std::string_view problem) const;
  std::string path() const;
  void refuse(std::string_view problem);
  bool integer(std::int64_t value);
  bool other_scalar(std::string_view what);
  void set_time(std::optional<std::int64_t> ns);
  bool is_time() const { return depth_ == kInEvent && (key_ == "ts" || key_ == "dur"); }
  std::optional<std::int64_t>* integer_field();
  void begin_events();
  void begin_event();
  bool end();

  std::string_view source_;
  const Callback& on_event_;
  Depth depth_ = kOutside;
  bool root_is_array_ = false;
  int skipping_ = 0;         // containers open that nobody reads
  std::size_t index_ = 0;    // in "traceEvents"
  std::size_t element_ = 0;  // in a triple
  bool saw_events_ = false;
  std::string root_key_, key_, argument_;
  TraceEventText event_;
};

}  // namespace fusegate::baselines
