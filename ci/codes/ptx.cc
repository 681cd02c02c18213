#include "ci/codes/ptx.h"

#include <re2/re2.h>

#include <algorithm>

#include "baselines/io/content_hash.h"

namespace fusegate::ci {
namespace {

bool is_about_sources(std::string_view line) {
  constexpr std::string_view kSkipped[] = {"//", ".loc", ".file"};
  return line.empty() ||
         std::ranges::any_of(kSkipped, [&](auto start) { return line.starts_with(start); });
}

}  // namespace

std::string without_source_numbers(std::string_view text) {
  static const re2::RE2 number("(_GLOBAL__N__|__nv_static_[0-9]+__)[0-9a-f]{8}", re2::RE2::Latin1);
  std::string without(text);
  re2::RE2::GlobalReplace(&without, number, "\\1");
  return without;
}

Ptx read_ptx(std::string_view text) {
  constexpr std::string_view kEntry = ".entry ", kBlank = " \t\r";
  text = text.substr(0, text.find('\0'));
  Ptx ptx;
  baselines::ContentHash hash;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
    if (is_about_sources(line)) continue;
    hash.add(without_source_numbers(line));
    const std::size_t entry = line.find(kEntry);
    if (entry == line.npos) continue;
    const std::string_view name = line.substr(entry + kEntry.size());
    ptx.kernels.emplace_back(name.substr(0, name.find_first_of("( \t\r")));
  }
  ptx.hash = hash.hex();
  return ptx;
}

}  // namespace fusegate::ci
