// A night from which on a benchmark, or a family of them, takes another time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fusegate::baselines {

enum class ChangeClass {
  kCode,         // the identity of what it launches changed that night
  kLibrary,      // the driver, CUDA or cuBLAS
  kCard,         // the card
  kMethod,       // the protocol or the suite
  kUnexplained,  // none of these
};

// "code", "library", "card", "method", "unexplained"
const char* change_class_name(ChangeClass of);

enum class Confirmation { kAsked, kConfirmed, kRefuted };

// "asked", "confirmed", "refuted"
const char* confirmation_name(Confirmation of);

// Of these names; nothing of any other text.
std::optional<ChangeClass> change_class_of(std::string_view name);
std::optional<Confirmation> confirmation_of(std::string_view name);

struct ChangePoint {
  // A benchmark's name; of a family "operation geglu_mlp", "kernel NAME"; of a driver, card or
  // method "everything".
  std::string subject;
  std::vector<std::string> benchmarks{};  // those that moved
  std::string first_session{};            // the first night after the change
  std::string last_session_before{};
  std::string alarm_session{};  // the night at which it was found
  double effect = 0;            // after over before, minus one
  double low = 0, high = 0;     // its 95 % interval
  ChangeClass of_class = ChangeClass::kUnexplained;
  std::string reason{};  // "driver 570.1 -> 580.2"; "commit a..b"; ...
  // By a duet of the commits around it; nothing where none was asked for.
  std::optional<Confirmation> confirmation{};
  std::optional<bool> is_true{};  // by triage
};

}  // namespace fusegate::baselines
