#include "baselines/history/change_point.h"

#include <array>
#include <utility>

namespace fusegate::baselines {
namespace {

constexpr std::array kChangeClasses{
    std::pair{ChangeClass::kCode, "code"}, std::pair{ChangeClass::kLibrary, "library"},
    std::pair{ChangeClass::kCard, "card"}, std::pair{ChangeClass::kMethod, "method"},
    std::pair{ChangeClass::kUnexplained, "unexplained"}};
constexpr std::array kConfirmations{std::pair{Confirmation::kAsked, "asked"},
                                    std::pair{Confirmation::kConfirmed, "confirmed"},
                                    std::pair{Confirmation::kRefuted, "refuted"}};

template <typename Names, typename Value>
const char* name_of(const Names& names, Value value) {
  for (const auto& [one, name] : names) {
    if (one == value) return name;
  }
  return "";
}

template <typename Value, std::size_t count>
std::optional<Value> value_of(const std::array<std::pair<Value, const char*>, count>& names,
                              std::string_view text) {
  for (const auto& [one, name] : names) {
    if (name == text) return one;
  }
  return std::nullopt;
}

}  // namespace

const char* change_class_name(ChangeClass of) { return name_of(kChangeClasses, of); }
const char* confirmation_name(Confirmation of) { return name_of(kConfirmations, of); }

std::optional<ChangeClass> change_class_of(std::string_view name) {
  return value_of(kChangeClasses, name);
}
std::optional<Confirmation> confirmation_of(std::string_view name) {
  return value_of(kConfirmations, name);
}

}  // namespace fusegate::baselines
