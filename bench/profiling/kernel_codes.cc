#include "bench/profiling/kernel_codes.h"

#include <elf.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "bench/profiling/content_hash.h"

namespace fusegate::bench {
namespace {

using Bytes = std::span<const std::byte>;

Bytes slice(Bytes bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) {
    throw std::runtime_error("a cubin ends before what its header names");
  }
  return bytes.subspan(offset, size);
}

// A copy, since nothing says that the file lies aligned in memory.
template <typename Record>
Record record_at(Bytes bytes, std::uint64_t offset) {
  Record record;
  std::memcpy(&record, slice(bytes, offset, sizeof(Record)).data(), sizeof(Record));
  return record;
}

struct Section {
  std::string_view name;
  Bytes content;  // empty where it takes no room in the file
};

std::vector<Section> sections_of(Bytes cubin) {
  const auto header = record_at<Elf64_Ehdr>(cubin, 0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    throw std::runtime_error("a module is not an ELF file");
  }
  const auto entry = [&](std::uint64_t index) {
    return record_at<Elf64_Shdr>(cubin, header.e_shoff + index * sizeof(Elf64_Shdr));
  };
  const Elf64_Shdr strings = entry(header.e_shstrndx);
  const Bytes names = slice(cubin, strings.sh_offset, strings.sh_size);
  std::vector<Section> sections;
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr section = entry(i);
    const Bytes name = slice(names, section.sh_name, names.size() - section.sh_name);
    const auto end = std::ranges::find(name, std::byte{0});
    const bool in_file = section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL;
    sections.push_back(
        {{reinterpret_cast<const char*>(name.data()), static_cast<std::size_t>(end - name.begin())},
         in_file ? slice(cubin, section.sh_offset, section.sh_size) : Bytes{}});
  }
  return sections;
}

constexpr std::string_view kText = ".text.";

// ".nv.constant2.<kernel>" is 2 of that kernel, ".nv.constant3" of all kernels of the file.
bool is_constant_of(std::string_view section, std::string_view kernel) {
  constexpr std::string_view kConstant = ".nv.constant";
  if (!section.starts_with(kConstant)) return false;
  section.remove_prefix(kConstant.size());
  section.remove_prefix(std::min(section.size(), section.find_first_not_of("0123456789")));
  if (kernel.empty()) return section.empty();
  return section.starts_with('.') && section.substr(1) == kernel;
}

// Whether the kernel's code is completed by what lies elsewhere when it is loaded.
bool is_linked(const std::vector<Section>& sections, std::string_view text) {
  return std::ranges::any_of(sections, [&](const Section& section) {
    return !section.content.empty() && section.name.starts_with(".rel") &&
           section.name.ends_with(text);
  });
}

// Since Volta an instruction has 16 bytes and its opcode in the lowest 12 bits. Sections are filled
// up with no-operations.
int instructions_of(Bytes text) {
  constexpr std::size_t kBytes = 16;
  constexpr std::uint64_t kOpcode = 0xfff, kNoOperation = 0x918;
  std::size_t count = text.size() / kBytes;
  while (count > 0 &&
         (record_at<std::uint64_t>(text, (count - 1) * kBytes) & kOpcode) == kNoOperation) {
    --count;
  }
  return static_cast<int>(count);
}

void add(const Section& section, ContentHash& hash) {
  hash.add(static_cast<std::uint64_t>(section.content.size()));
  hash.add(section.content);
}

}  // namespace

std::map<std::string, KernelCode> kernel_codes(Bytes cubin) {
  const std::vector<Section> sections = sections_of(cubin);
  std::map<std::string, KernelCode> codes;
  for (const Section& text : sections) {
    if (!text.name.starts_with(kText)) continue;
    const std::string kernel(text.name.substr(kText.size()));
    ContentHash hash;
    add(text, hash);
    const bool linked = is_linked(sections, text.name);
    for (const Section& other : sections) {
      const bool shared = is_constant_of(other.name, "") || other.name == ".nv.global.init" ||
                          (linked && other.name.starts_with(kText));
      if (shared || is_constant_of(other.name, kernel)) add(other, hash);
    }
    codes.emplace(kernel, KernelCode{hash.hex(), instructions_of(text.content)});
  }
  return codes;
}

void KernelCodes::add(std::span<const std::byte> cubin) {
  try {
    const std::map<std::string, KernelCode> codes = kernel_codes(cubin);
    const std::lock_guard lock(mutex_);
    for (const auto& [kernel, code] : codes) codes_[kernel].emplace(code.hash, code.instructions);
  } catch (const std::runtime_error&) {
    // Its kernels stay unknown: find() has no hash for them.
  }
}

KernelCode KernelCodes::find(const std::string& kernel) const {
  const std::lock_guard lock(mutex_);
  const auto found = codes_.find(kernel);
  if (found == codes_.end()) return {};
  const auto& [first_hash, instructions] = *found->second.begin();
  if (found->second.size() == 1) return {first_hash, instructions};
  ContentHash all;
  bool same_number = true;
  for (const auto& [hash, number] : found->second) {
    all.add(hash);
    same_number = same_number && number == instructions;
  }
  return {all.hex(), same_number ? instructions : 0};
}

KernelCodes& seen_kernel_codes() {
  static KernelCodes codes;
  return codes;
}

}  // namespace fusegate::bench
