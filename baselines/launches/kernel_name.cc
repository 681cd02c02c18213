#include "baselines/launches/kernel_name.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace fusegate::baselines {
namespace {

struct Fact {
  std::string_view label;
  std::string value;
};

std::string sizes_text(const std::vector<int>& sizes) {
  return fmt::format("{}", fmt::join(sizes, "x"));
}

// One a field, in the same order for every kernel.
std::vector<Fact> facts_of(const KernelName& kernel) {
  return {{"library", kernel.library},
          {"kernel", kernel.function},
          {"architecture", kernel.architecture},
          {"dtype", kernel.dtype},
          {"output's dtype", kernel.out_dtype},
          {"sums in", kernel.accumulator},
          {"operations", kernel.operations},
          {"number", kernel.number},
          {"tile", sizes_text(kernel.tile)},
          {"stages", kernel.stages > 0 ? std::to_string(kernel.stages) : std::string()},
          {"cluster", sizes_text(kernel.cluster)},
          {"layout", kernel.layout},
          {"output's layout", kernel.out_layout},
          {"split-K", kernel.split_k ? std::string("yes") : std::string("no")},
          {"epilogue", kernel.epilogue},
          {"template", kernel.arguments},
          {"flavour", fmt::format("{}", fmt::join(kernel.flavour, " "))}};
}

}  // namespace

std::string short_kernel_name(const KernelName& kernel) {
  if (!kernel.is_read()) return kernel.name;
  std::string text = kernel.library;
  for (const std::string& part : {kernel.function, kernel.operations, kernel.number, kernel.dtype,
                                  sizes_text(kernel.tile), kernel.layout}) {
    if (!part.empty()) text += " " + part;
  }
  const bool reduces = kernel.function.starts_with("splitK");  // its name says so already
  if (kernel.split_k && !reduces) text += ", split-K";
  if (!kernel.epilogue.empty()) text += ", " + kernel.epilogue;
  const bool shows_arguments = kernel.is_any_cpp && !kernel.arguments.empty();
  return shows_arguments ? fmt::format("{}, <{}>", text, kernel.arguments) : text;
}

std::vector<std::string> kernel_differences(const KernelName& before, const KernelName& after) {
  if (before.name == after.name) return {};
  const std::string whole = fmt::format("{} -> {}", before.name, after.name);
  if (!before.is_read() || !after.is_read()) return {whole};
  // Of another function little can be compared, and its name says most.
  if (before.library != after.library || before.function != after.function) {
    return {fmt::format("{} -> {}", short_kernel_name(before), short_kernel_name(after))};
  }
  std::vector<std::string> differences;
  const std::vector<Fact> old_facts = facts_of(before);
  const std::vector<Fact> new_facts = facts_of(after);
  for (std::size_t i = 0; i < old_facts.size(); ++i) {
    const auto& [label, value] = old_facts[i];
    const std::string& now = new_facts[i].value;
    if (value == now) continue;
    differences.push_back(fmt::format("{} {} -> {}", label, value.empty() ? "none" : value,
                                      now.empty() ? "none" : now));
  }
  if (differences.empty() && !before.is_any_cpp) return {whole};
  return differences;
}

}  // namespace fusegate::baselines
