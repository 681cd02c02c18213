#include "baselines/traces/text_handler.h"

#include <fmt/format.h>

#include "baselines/io/error.h"
#include "baselines/io/json_field.h"

namespace fusegate::baselines {
namespace {

constexpr std::int64_t kLargestMicroseconds = 9'200'000'000'000'000;  // in ns, 64 bits hold no more

std::optional<std::int64_t> nanoseconds(std::int64_t microseconds) {
  if (microseconds > kLargestMicroseconds || microseconds < -kLargestMicroseconds) {
    return std::nullopt;
  }
  return microseconds * 1000;
}

std::string* text_field(TraceEventText& event, std::string_view key) {
  if (key == "ph") return &event.phase;
  if (key == "cat") return &event.category;
  if (key == "name") return &event.name;
  return nullptr;
}

}  // namespace

void TraceTextHandler::fail(std::string_view problem) const {
  throw InputError(source_, path(), problem);
}

std::string TraceTextHandler::path() const {
  if (depth_ <= kInRoot) return depth_ == kInRoot ? root_key_ : "";
  std::string path = fmt::format("traceEvents[{}]", index_);
  if (depth_ >= kInEvent && !key_.empty()) path += "." + key_;
  if (depth_ >= kInArguments && !argument_.empty()) path += "." + argument_;
  return path;
}

// Ids of tracks may be texts, as Kineto's "Spans" is; such tracks hold nothing that is read, and an
// event that is read and has no number there says so when it is complete.
std::optional<std::int64_t>* TraceTextHandler::integer_field() {
  if (depth_ == kInArguments) return integer_argument(event_, argument_);
  if (depth_ == kInEvent && key_ == "pid") return &event_.process;
  if (depth_ == kInEvent && key_ == "tid") return &event_.thread;
  return nullptr;
}

void TraceTextHandler::set_time(std::optional<std::int64_t> ns) {
  if (!ns) fail("is no time in microseconds that 64 bits hold in ns");
  (key_ == "ts" ? event_.start_ns : event_.duration_ns) = ns;
}

// A value of a wrong type: an error, but for an argument that only GPU work must have right.
void TraceTextHandler::refuse(std::string_view problem) {
  const auto* ids = depth_ >= kInArguments ? integer_argument(event_, argument_) : nullptr;
  if (depth_ < kInArguments || ids == &event_.correlation || ids == &event_.external_id) {
    fail(problem);
  }
  if (!event_.wrong_argument.empty()) return;
  event_.wrong_argument = argument_;
  event_.wrong_because = problem;
}

bool TraceTextHandler::integer(std::int64_t value) {
  if (skipping_ > 0) return true;
  if (is_time()) {
    set_time(nanoseconds(value));
  } else if (depth_ == kInTriple) {
    auto& triple = *triple_argument(event_, argument_);
    if (element_ < triple->size()) (*triple)[element_] = value;
    ++element_;
  } else if (auto* field = integer_field()) {
    *field = value;
  } else if (depth_ == kInArguments && event_.phase == "C") {
    event_.values.emplace_back(argument_, static_cast<double>(value));
  } else {
    return other_scalar("a number");
  }
  return true;
}

bool TraceTextHandler::number_unsigned(std::uint64_t value) {
  constexpr auto kMost = static_cast<std::uint64_t>(INT64_MAX);
  if (value > kMost && (is_time() || integer_field() != nullptr) && skipping_ == 0) {
    refuse("must be an integer below 2^63");
    return true;
  }
  return integer(static_cast<std::int64_t>(value & kMost));
}

bool TraceTextHandler::number_float(double value, std::string_view text) {
  if (skipping_ > 0) return true;
  if (is_time()) {
    set_time(nanoseconds_of_microseconds(text));
  } else if (depth_ == kInArguments && event_.phase == "C") {
    event_.values.emplace_back(argument_, value);
  } else if (integer_field() != nullptr) {
    refuse("must be an integer");
  } else {
    return other_scalar("a number");
  }
  return true;
}

bool TraceTextHandler::string(std::string& value) {
  if (skipping_ > 0) return true;
  if (depth_ == kInEvent) {
    if (std::string* field = text_field(event_, key_)) {
      field->swap(value);
      return true;
    }
    if (key_ == "pid" || key_ == "tid") return true;
  } else if (depth_ == kInArguments && argument_ == "name") {
    event_.given_name = value;
    return true;
  }
  return other_scalar("a string");
}

// A scalar where another type belongs; elsewhere nobody reads it.
bool TraceTextHandler::other_scalar(std::string_view what) {
  if (skipping_ > 0) return true;
  if (depth_ == kOutside) fail("must be a JSON object or an array of events");
  if (depth_ == kInRoot && root_key_ == "traceEvents") fail("must be an array");
  if (depth_ == kInEvents) fail("must be an object");
  if (depth_ == kInTriple) refuse("must be three integers");
  if (is_time()) fail(fmt::format("must be a number and not {}", what));
  if (depth_ == kInEvent && text_field(event_, key_)) {
    fail(fmt::format("must be a string and not {}", what));
  }
  if (depth_ == kInEvent && key_ == "args") fail("must be an object");
  if (integer_field() != nullptr) refuse(fmt::format("must be an integer and not {}", what));
  if (depth_ == kInArguments && triple_argument(event_, argument_)) {
    refuse("must be three integers");
  }
  return true;
}

bool TraceTextHandler::key(std::string& name) {
  if (skipping_ > 0) return true;
  (depth_ == kInRoot ? root_key_ : depth_ == kInEvent ? key_ : argument_).swap(name);
  return true;
}

void TraceTextHandler::begin_events() {
  if (saw_events_) fail("stands there twice");
  saw_events_ = true;
  depth_ = kInEvents;
}

void TraceTextHandler::begin_event() {
  depth_ = kInEvent;
  key_.clear();
  argument_.clear();
  event_.clear();
}

bool TraceTextHandler::start_object(std::size_t) {
  if (skipping_ > 0) {
    ++skipping_;
  } else if (depth_ == kOutside) {
    depth_ = kInRoot;
  } else if (depth_ == kInRoot && root_key_ != "traceEvents") {
    skipping_ = 1;
  } else if (depth_ == kInEvents) {
    begin_event();
  } else if (depth_ == kInEvent && key_ == "args") {
    depth_ = kInArguments;
    argument_.clear();
  } else {
    other_scalar("an object");
    skipping_ = 1;
  }
  return true;
}

bool TraceTextHandler::start_array(std::size_t) {
  if (skipping_ > 0) {
    ++skipping_;
  } else if (depth_ == kOutside) {
    root_is_array_ = true;
    begin_events();
  } else if (depth_ == kInRoot && root_key_ == "traceEvents") {
    begin_events();
  } else if (depth_ == kInArguments && triple_argument(event_, argument_)) {
    triple_argument(event_, argument_)->emplace();
    element_ = 0;
    depth_ = kInTriple;
  } else {
    if (depth_ != kInRoot) other_scalar("an array");
    skipping_ = 1;
  }
  return true;
}

bool TraceTextHandler::end() {
  if (skipping_ > 0) {
    --skipping_;
    return true;
  }
  switch (depth_) {
    case kInTriple:
      if (element_ != 3) refuse("must be three integers");
      depth_ = kInArguments;
      break;
    case kInArguments:
      depth_ = kInEvent;
      break;
    case kInEvent:
      depth_ = kInEvents;
      on_event_(index_, event_);
      ++index_;
      break;
    case kInEvents:
      depth_ = root_is_array_ ? kOutside : kInRoot;
      break;
    default:
      depth_ = kOutside;
  }
  return true;
}

bool TraceTextHandler::parse_error(std::size_t, const std::string&,
                                   const nlohmann::detail::exception& error) {
  fail(json_problem(error));
}

}  // namespace fusegate::baselines
