#include "baselines/launches/kernel_code.h"

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "baselines/io/content_hash.h"
#include "baselines/launches/elf_file.h"

namespace fusegate::baselines {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::string_view kText = ".text.";

// Whose constants a section has: ".nv.constant2.<kernel>" has that kernel's, ".nv.constant3" those
// of all kernels of the file, "". Nothing where it has none.
std::optional<std::string_view> constants_of(std::string_view section) {
  constexpr std::string_view kConstant = ".nv.constant";
  if (section == ".nv.global.init") return "";
  if (!section.starts_with(kConstant)) return std::nullopt;
  section.remove_prefix(kConstant.size());
  section.remove_prefix(std::min(section.size(), section.find_first_not_of("0123456789")));
  if (section.empty()) return "";
  return section.starts_with('.') ? std::optional(section.substr(1)) : std::nullopt;
}

void add_content(const ElfSection& section, ContentHash& hash) {
  hash.add(static_cast<std::uint64_t>(section.content.size()));
  hash.add(section.content);
}

// What enters the hashes of kernels.
class Hashed {
 public:
  explicit Hashed(const std::vector<ElfSection>& sections) : sections_(sections) {
    ContentHash all;
    for (std::size_t i = 0; i < sections.size(); ++i) {
      const std::string_view name = sections[i].name;
      if (name.starts_with(kText)) {
        texts_.push_back(i);
        add_content(sections[i], all);
      } else if (const auto kernel = constants_of(name)) {
        (kernel->empty() ? shared_ : of_kernel_[*kernel]).push_back(i);
      } else if (name.starts_with(".rel") && !sections[i].content.empty()) {
        linked_.insert(name.substr(std::min(name.find(kText), name.size())));
      }
    }
    all_texts_ = all.value();
  }

  const std::vector<std::size_t>& texts() const { return texts_; }

  // Its own text, and what lies beside it. Each of NCCL's kernels is linked with all texts, 20 MB
  // of them: these enter as one number, for which they are read once.
  std::string hash_of(const ElfSection& text) const {
    ContentHash hash;
    add_content(text, hash);
    for (const std::size_t index : beside(text.name)) add_content(sections_[index], hash);
    if (linked_.contains(text.name)) hash.add(all_texts_);
    return hash.hex();
  }

 private:
  // In the file's order.
  std::vector<std::size_t> beside(std::string_view text) const {
    std::vector<std::size_t> indices = shared_;
    if (const auto own = of_kernel_.find(text.substr(kText.size())); own != of_kernel_.end()) {
      indices.insert(indices.end(), own->second.begin(), own->second.end());
    }
    std::ranges::sort(indices);
    return indices;
  }

  const std::vector<ElfSection>& sections_;
  std::vector<std::size_t> texts_, shared_;  // by their index in the file
  std::map<std::string_view, std::vector<std::size_t>> of_kernel_;
  std::set<std::string_view> linked_;  // texts that are completed by what lies elsewhere
  std::uint64_t all_texts_ = 0;
};

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

// ".nv.info" is a list: format and attribute, a byte each, then two bytes: a value, or how many
// bytes of value follow. Of these two attributes they are a symbol and its number.
void add_resources(const ElfFile& cubin, Bytes info, std::map<std::string, KernelCode>& codes) {
  constexpr std::uint8_t kSized = 4, kFrameSize = 0x11, kRegisters = 0x2f;
  struct Attribute {
    std::uint8_t format, attribute;
    std::uint16_t size;
  };
  for (std::uint64_t at = 0; at + sizeof(Attribute) <= info.size();) {
    const auto [format, attribute, size] = record_at<Attribute>(info, at);
    at += sizeof(Attribute);
    if (format != kSized) continue;
    if (size == 8 && (attribute == kFrameSize || attribute == kRegisters)) {
      const auto symbol = record_at<std::uint32_t>(info, at);
      const auto number = static_cast<int>(record_at<std::uint32_t>(info, at + 4));
      const auto code = symbol < cubin.symbols.size()
                            ? codes.find(std::string(cubin.symbols[symbol].name))
                            : codes.end();
      if (code != codes.end()) {
        (attribute == kRegisters ? code->second.registers : code->second.local_bytes) = number;
      }
    }
    at += size;
  }
}

void add_facts(const ElfFile& cubin, std::map<std::string, KernelCode>& codes) {
  constexpr std::string_view kShared = ".nv.shared.";
  constexpr std::uint8_t kKernel = 0x10;  // of st_other: STO_CUDA_ENTRY
  for (const ElfSection& section : cubin.sections) {
    if (section.name == ".nv.info") add_resources(cubin, section.content, codes);
    if (!section.name.starts_with(kShared)) continue;
    const auto code = codes.find(std::string(section.name.substr(kShared.size())));
    if (code != codes.end()) code->second.shared_bytes = static_cast<std::int64_t>(section.size);
  }
  for (const ElfSymbol& symbol : cubin.symbols) {
    const auto code = codes.find(std::string(symbol.name));
    if (code != codes.end()) code->second.is_function = (symbol.other & kKernel) == 0;
  }
}

}  // namespace

std::map<std::string, KernelCode> kernel_codes(Bytes cubin) {
  const ElfFile elf = read_elf(cubin);
  const Hashed hashed(elf.sections);
  std::map<std::string, KernelCode> codes;
  for (const std::size_t index : hashed.texts()) {
    const ElfSection& text = elf.sections[index];
    codes.emplace(text.name.substr(kText.size()),
                  KernelCode{hashed.hash_of(text), instructions_of(text.content)});
  }
  add_facts(elf, codes);
  return codes;
}

KernelCode taken_together(const std::map<std::string, KernelCode>& codes) {
  if (codes.size() == 1) return codes.begin()->second;
  ContentHash all;
  KernelCode together = codes.begin()->second;
  for (const auto& [hash, code] : codes) {
    all.add(hash);
    const auto keep_equal = [&](auto member) {
      if (code.*member != together.*member) together.*member = 0;
    };
    keep_equal(&KernelCode::instructions);
    keep_equal(&KernelCode::registers);
    keep_equal(&KernelCode::local_bytes);
    keep_equal(&KernelCode::shared_bytes);
  }
  together.hash = all.hex();
  return together;
}

std::string cubin_architecture(Bytes cubin) {
  constexpr std::uint16_t kCuda = 190;
  const ElfFile elf = read_elf(cubin);
  if (elf.machine != kCuda) throw std::runtime_error("is not a cubin");
  // The assembler's call: e_flags are the same of sm_90a and sm_90.
  for (const ElfSection& section : elf.sections) {
    if (section.name != ".note.nv.tkinfo") continue;
    std::string_view note(reinterpret_cast<const char*>(section.content.data()),
                          section.content.size());
    const std::size_t at = note.find("-arch sm_");
    if (at == note.npos) continue;
    note.remove_prefix(at + 6);
    const std::size_t end = note.find_first_not_of("sm_0123456789af");
    return std::string(note.substr(0, std::min<std::size_t>(end, 8)));
  }
  constexpr std::uint8_t kAbiOfCuda13 = 8;
  return "sm_" +
         std::to_string((elf.abi_version >= kAbiOfCuda13 ? elf.flags >> 8 : elf.flags) & 0xff);
}

}  // namespace fusegate::baselines
