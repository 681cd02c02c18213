#include "baselines/traces/event_text.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "baselines/io/error.h"

namespace fusegate::baselines {
namespace {

using simdjson::ondemand::json_type;
using simdjson::ondemand::value;

constexpr std::int64_t kNanosecondsInMicrosecond = 1000;

// Exponents come from programs that write doubles; a double's precision is then all there is.
std::optional<std::int64_t> of_double(std::string_view text) {
  const double ns = std::strtod(std::string(text).c_str(), nullptr) * kNanosecondsInMicrosecond;
  if (!(std::abs(ns) < 9.2e18)) return std::nullopt;
  return std::llround(ns);
}

// Where an integer argument belongs; null where nobody reads it.
std::optional<std::int64_t>* integer_argument(TraceEventText& event, std::string_view key) {
  if (key == "correlation") return &event.correlation;
  if (key == "External id" || key == "external id") return &event.external_id;
  if (key == "stream") return &event.stream;
  if (key == "bytes") return &event.bytes;
  if (key == "registers per thread") return &event.registers;
  if (key == "shared memory") return &event.shared_bytes;
  return nullptr;
}

class EventReader {
 public:
  EventReader(std::string_view source, std::size_t index) : source_(source), index_(index) {}

  TraceEventText read(simdjson::ondemand::object event) {
    for (auto member : event) {
      key_ = key_of(member);
      read_unless_null(member.value(), [this](value field) { read_field(field); });
    }
    return std::move(event_);
  }

 private:
  [[noreturn]] void fail(std::string_view problem) const {
    std::string path = fmt::format("traceEvents[{}].{}", index_, key_);
    if (!argument_.empty()) path += fmt::format(".{}", argument_);
    throw InputError(source_, path, problem);
  }

  // An argument of a wrong type: what joins events must be right everywhere, the rest where it is
  // read.
  void refuse(std::string_view problem) {
    const auto* field = integer_argument(event_, argument_);
    if (field == &event_.correlation || field == &event_.external_id) fail(problem);
    if (!event_.wrong_argument.empty()) return;
    event_.wrong_argument = argument_;
    event_.wrong_because = problem;
  }

  // Null is the same as absent.
  template <typename Read>
  static void read_unless_null(value from, const Read& read) {
    from.type() == json_type::null ? check_json(from) : read(from);
  }

  void read_field(value field) {
    if (key_ == "ph") {
      event_.phase = text(field);
    } else if (key_ == "cat") {
      event_.category = text(field);
    } else if (key_ == "name") {
      event_.name = text(field);
    } else if (key_ == "ts") {
      event_.start_ns = time(field);
    } else if (key_ == "dur") {
      event_.duration_ns = time(field);
    } else if (key_ == "pid") {
      event_.process = track_id(field);
    } else if (key_ == "tid") {
      event_.thread = track_id(field);
    } else if (key_ == "args") {
      read_arguments(field);
    }
  }

  std::string_view text(value field) const {
    if (field.type() != json_type::string) {
      fail(fmt::format("must be a string and not {}", type_name(field.type())));
    }
    return text_of(field);
  }

  std::int64_t time(value field) const {
    if (field.type() != json_type::number) {
      fail(fmt::format("must be a number and not {}", type_name(field.type())));
    }
    std::string_view digits = field.raw_json_token();
    digits = digits.substr(0, digits.find_first_of(" \t\r\n"));
    check_json(field);
    const auto ns = nanoseconds_of_microseconds(digits);
    if (!ns) fail("is no time in microseconds that 64 bits hold in ns");
    return *ns;
  }

  // May be a text, as Kineto's "Spans" is; such tracks hold nothing that is read, and an event that
  // is read and has no number there says so when it is complete.
  std::optional<std::int64_t> track_id(value field) const {
    if (field.type() == json_type::string) return std::nullopt;
    std::string problem;
    const auto id = integer(field, problem);
    if (!id) fail(problem);
    return id;
  }

  static std::optional<std::int64_t> integer(value field, std::string& problem) {
    std::int64_t result = 0;
    const json_type type = field.type();
    if (type != json_type::number) {
      problem = fmt::format("must be an integer and not {}", type_name(type));
    } else if (!field.get_int64().get(result)) {
      return result;
    } else {
      const double number = field.get_double();
      const bool whole = number == std::trunc(number);
      problem = whole ? "must be an integer below 2^63" : "must be an integer";
    }
    return std::nullopt;
  }

  void read_arguments(value arguments) {
    if (arguments.type() != json_type::object) fail("must be an object");
    for (auto member : arguments.get_object()) {
      argument_ = key_of(member);
      read_unless_null(member.value(), [this](value argument) { read_argument(argument); });
    }
    argument_ = {};
  }

  void read_argument(value argument) {
    const json_type type = argument.type();
    if (auto* field = integer_argument(event_, argument_)) {
      std::string problem;
      *field = integer(argument, problem);
      if (!*field) refuse(problem);
    } else if (argument_ == "grid") {
      event_.grid = triple(argument);
    } else if (argument_ == "block") {
      event_.block = triple(argument);
    } else if (argument_ == "name" && type == json_type::string) {
      event_.given_name = text_of(argument);
    } else if (event_.phase == "C" && type == json_type::number) {
      event_.values.emplace_back(argument_, argument.get_double());
    }
  }

  std::optional<std::array<std::int64_t, 3>> triple(value argument) {
    std::array<std::int64_t, 3> result{};
    std::size_t count = 0;
    bool fits = argument.type() == json_type::array;
    if (fits) {
      for (value element : argument.get_array()) {
        std::int64_t number = 0;
        fits = fits && count < result.size() && !element.get_int64().get(number);
        if (fits) result[count++] = number;
      }
    }
    if (fits && count == result.size()) return result;
    refuse("must be three integers");
    return std::nullopt;
  }

  std::string_view source_;
  std::size_t index_;
  std::string_view key_, argument_;
  TraceEventText event_;
};

}  // namespace

TraceEventText read_event(simdjson::ondemand::object event, std::string_view source,
                          std::size_t index) {
  return EventReader(source, index).read(event);
}

std::optional<std::int64_t> nanoseconds_of_microseconds(std::string_view text) {
  if (text.find_first_of("eE") != text.npos) return of_double(text);
  const std::string_view whole = text.substr(0, text.find('.'));
  std::string_view fraction = text.substr(std::min(text.size(), whole.size() + 1)).substr(0, 3);
  std::int64_t microseconds = 0;
  if (std::from_chars(whole.begin(), whole.end(), microseconds).ec != std::errc() ||
      std::abs(microseconds) > 9'200'000'000'000'000) {
    return std::nullopt;
  }
  std::int64_t ns = 0;
  for (std::size_t i = 0; i < 3; ++i) ns = 10 * ns + (i < fraction.size() ? fraction[i] - '0' : 0);
  const bool negative = text.starts_with('-');  // "-0.5" too, whose whole part has no sign
  return microseconds * kNanosecondsInMicrosecond + (negative ? -ns : ns);
}

}  // namespace fusegate::baselines
