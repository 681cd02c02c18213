// Whether what registered itself can be measured: asked once, before anything is planned.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "kernels/contract/kernel.h"

namespace fusegate::kernels {
namespace {

// A part of a benchmark's name, which '/' and ':' divide.
bool is_name(std::string_view text) {
  const auto fits = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
  };
  return !text.empty() && std::ranges::all_of(text, fits);
}

// Also none that Google Benchmark adds to a name itself, nor a key of a sweep.
bool is_axis_name(std::string_view text) {
  constexpr std::array<std::string_view, 10> kTaken{
      "dtype",      "implementations", "iterations", "manual_time", "min_time",
      "operations", "process_time",    "real_time",  "repeats",     "threads"};
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return !text.empty() && std::ranges::all_of(text, fits) &&
         std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::ranges::find(kTaken, text) == kTaken.end();
}

class Complaints {
 public:
  void about(const std::string& at, const std::string& whose) {
    head_ = fmt::format("{}: {}", at, whose);
  }
  void expect(bool fine, const std::string& field, const std::string& problem) {
    if (!fine) lines_.push_back(fmt::format("{}: {}: {}", head_, field, problem));
  }
  void throw_any() const {
    if (!lines_.empty()) throw ContractError(fmt::format("{}", fmt::join(lines_, "\n")));
  }

 private:
  std::string head_;
  std::vector<std::string> lines_;
};

void check(const Operation& operation, Complaints& complaints) {
  const std::vector<std::string>& axes = operation.axes;
  complaints.expect(is_name(operation.name), "name",
                    "must be of letters, digits, '_', '-' and '.'");
  complaints.expect(!axes.empty(), "axes", "there is none");
  for (const std::string& axis : axes) {
    complaints.expect(is_axis_name(axis), "axes", fmt::format("'{}' cannot name one", axis));
    complaints.expect(std::ranges::count(axes, axis) == 1, "axes",
                      fmt::format("'{}' is there twice", axis));
  }
  for (const std::string& axis : operation.unswept_axes) {
    complaints.expect(std::ranges::find(axes, axis) != axes.end(), "unswept_axes",
                      fmt::format("'{}' is not among its axes", axis));
  }
  complaints.expect(operation.outputs != nullptr, "outputs", "is missing");
  complaints.expect((operation.reference != nullptr) != (operation.host_reference != nullptr),
                    "reference", "must be given, or host_reference, and not both");
}

const Operation* operation_of(const Implementation& implementation) {
  const auto found = std::ranges::find(operations(), implementation.operation, &Operation::name);
  return found == operations().end() ? nullptr : &*found;
}

void check(const Implementation& implementation, Complaints& complaints) {
  const Operation* const operation = operation_of(implementation);
  complaints.expect(operation != nullptr, "operation", "no operation has that name");
  complaints.expect(is_name(implementation.name), "name",
                    "must be of letters, digits, '_', '-' and '.'");
  complaints.expect(!implementation.device.empty(), "device", "is missing");
  complaints.expect(!implementation.dtypes.empty(), "dtypes", "there is none");
  complaints.expect(implementation.prepare != nullptr, "prepare", "is missing");
  for (const auto& [axis, multiple] : implementation.multiples) {
    const bool has =
        operation == nullptr || std::ranges::find(operation->axes, axis) != operation->axes.end();
    complaints.expect(has, "multiples", fmt::format("its operation has no axis '{}'", axis));
    complaints.expect(multiple > 0, "multiples", fmt::format("{} of '{}'", multiple, axis));
  }
}

}  // namespace

void require_sound_registrations() {
  Complaints complaints;
  const Operation* before = nullptr;  // of that name; equal ones are neighbours
  for (const Operation& operation : operations()) {
    complaints.about(operation.registered_at, fmt::format("operation '{}'", operation.name));
    if (before != nullptr && before->name == operation.name) {
      complaints.expect(false, "name", "is registered twice, first at " + before->registered_at);
    }
    check(operation, complaints);
    before = &operation;
  }
  const Implementation* same = nullptr;
  for (const Implementation& implementation : implementations()) {
    complaints.about(implementation.registered_at,
                     fmt::format("implementation '{}/{}' for {}", implementation.operation,
                                 implementation.name, implementation.device));
    const auto identity = [](const Implementation& i) {
      return std::tie(i.operation, i.name, i.device);
    };
    if (same != nullptr && identity(*same) == identity(implementation)) {
      complaints.expect(false, "name", "is registered twice, first at " + same->registered_at);
    }
    check(implementation, complaints);
    same = &implementation;
  }
  complaints.throw_any();
}

}  // namespace fusegate::kernels
