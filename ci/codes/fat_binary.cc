#include "ci/codes/fat_binary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "baselines/launches/elf_file.h"
#include "ci/codes/unpack.h"

namespace fusegate::ci {
namespace {

using baselines::record_at;
using baselines::slice;
using Bytes = std::span<const std::byte>;

struct ContainerHead {
  std::uint32_t magic;
  std::uint16_t version, head_bytes;
  std::uint64_t bytes;  // of all entries
};
static_assert(sizeof(ContainerHead) == 16);

struct EntryHead {
  std::uint16_t kind, version;
  std::uint32_t head_bytes;
  std::uint64_t bytes;  // with what fills them up to a multiple of eight
  std::uint32_t packed_bytes, options_at;
  std::uint16_t minor, major;
  std::uint32_t architecture, name_at, name_bytes;
  std::uint64_t flags, reserved, unpacked_bytes;
};
static_assert(sizeof(EntryHead) == 64);

constexpr std::uint16_t kPtxEntry = 1, kCubinEntry = 2;
constexpr std::uint64_t kLz4 = 0x2000, kZstd = 0x8000, kAccelerated = 0x100000, kFamily = 0x200000;

struct EntryAt {
  EntryHead head;
  Bytes bytes;
};

std::vector<EntryAt> entries_of(Bytes container) {
  std::vector<EntryAt> entries;
  while (!container.empty()) {
    const auto head = record_at<EntryHead>(container, 0);
    if (head.head_bytes < sizeof(EntryHead)) {
      throw std::runtime_error(
          fmt::format("has an entry with a head of {} bytes; an entry of this "
                      "version has {} or more",
                      head.head_bytes, sizeof(EntryHead)));
    }
    slice(container, 0, head.head_bytes);
    const Bytes bytes = slice(container, head.head_bytes, head.bytes);
    entries.push_back({head, bytes});
    container = container.subspan(head.head_bytes + bytes.size());
  }
  return entries;
}

// Its bytes where it is packed, else nothing.
std::vector<std::byte> unpacked_entry(const EntryAt& entry, std::size_t& budget,
                                      const std::function<void()>& too_large) {
  const EntryHead& head = entry.head;
  if ((head.flags & (kLz4 | kZstd)) == 0) return {};
  if (head.unpacked_bytes > budget) {
    too_large();
    throw std::runtime_error("is too large");
  }
  budget -= head.unpacked_bytes;
  return unpack((head.flags & kLz4) != 0 ? Packing::kLz4 : Packing::kZstd,
                slice(entry.bytes, 0, head.packed_bytes), head.unpacked_bytes);
}

FatBinaryEntry entry_of(const EntryHead& head) {
  const std::string_view letter = (head.flags & kAccelerated) != 0 ? "a"
                                  : (head.flags & kFamily) != 0    ? "f"
                                                                   : "";
  return {.kind = head.kind == kPtxEntry     ? FatBinaryEntry::Kind::kPtx
                  : head.kind == kCubinEntry ? FatBinaryEntry::Kind::kCubin
                                             : FatBinaryEntry::Kind::kOther,
          .number = head.kind,
          .architecture = fmt::format("{}{}", head.architecture, letter)};
}

}  // namespace

std::size_t find_container(Bytes bytes, std::size_t from) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  // The magic number, version 1, and the head's size.
  constexpr std::string_view kStart("\x50\xED\x55\xBA\x01\x00\x10\x00", 8);
  return std::min(text.find(kStart, from), text.size());
}

void for_each_entry(Bytes section, std::size_t& budget,
                    const std::function<void(const FatBinaryEntry&)>& use,
                    const std::function<void()>& too_large) {
  std::size_t number = 0;
  for (std::size_t at = find_container(section, 0); at < section.size();
       at = find_container(section, at)) {
    ++number;
    try {
      const auto head = record_at<ContainerHead>(section, at);
      const Bytes container = slice(section.subspan(at), head.head_bytes, head.bytes);
      const std::vector<EntryAt> entries = entries_of(container);
      const bool has_cubin = std::ranges::any_of(
          entries, [](const EntryAt& entry) { return entry.head.kind == kCubinEntry; });
      for (const EntryAt& entry : entries) {
        const std::vector<std::byte> unpacked = unpacked_entry(entry, budget, too_large);
        FatBinaryEntry read = entry_of(entry.head);
        read.bytes = unpacked.empty() ? entry.bytes : Bytes(unpacked);
        read.has_cubin = has_cubin;
        use(read);
      }
      at += head.head_bytes + container.size();
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(fmt::format("fat binary {} {}", number, error.what()));
    }
  }
}

}  // namespace fusegate::ci
