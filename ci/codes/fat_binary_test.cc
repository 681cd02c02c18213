#include "ci/codes/fat_binary.h"

#include <gmock/gmock.h>
#ifdef FUSEGATE_HAS_LZ4
#include <lz4.h>
#endif
#ifdef FUSEGATE_HAS_ZSTD
#include <zstd.h>
#endif

#include <stdexcept>

#include "ci/codes/test_fat_binary.h"

namespace fusegate::ci {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint64_t kLz4Flag = 0x2000, kZstdFlag = 0x8000, kAcceleratedFlag = 0x100000;

// "90a: the entry's bytes", of each entry.
std::vector<std::string> entries_in(const std::string& section, std::size_t budget = 1 << 20) {
  std::vector<std::string> entries;
  for_each_entry(
      bytes_in(section), budget,
      [&](const FatBinaryEntry& entry) {
        const std::string text(reinterpret_cast<const char*>(entry.bytes.data()),
                               entry.bytes.size());
        entries.push_back(entry.architecture + ": " + text);
      },
      [] { throw std::runtime_error("budget"); });
  return entries;
}

std::string refusal(const std::string& section, std::size_t budget = 1 << 20) {
  try {
    entries_in(section, budget);
    return "";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

TEST(FatBinary, HasTheEntriesOfEachContainer) {
  const std::string section = made_fat_binary({{.bytes = "first---", .flags = kAcceleratedFlag},
                                               {.bytes = "second--", .architecture = 80}}) +
                              std::string(40, '\0') + made_fat_binary({{.bytes = "third---"}});
  EXPECT_THAT(entries_in(section), ElementsAre("90a: first---", "80: second--", "90: third---"));
  EXPECT_THAT(entries_in(""), ElementsAre());
}

TEST(FatBinary, ThatIsCutShortAnywhereIsRefused) {
  const std::string whole = made_fat_binary({{.bytes = "first---"}, {.bytes = "second--"}});
  for (std::size_t size = 8; size < whole.size(); ++size) {
    EXPECT_THAT(refusal(whole.substr(0, size)), HasSubstr("fat binary 1 ends before")) << size;
  }
}

// Sizes that no file has must neither wrap round nor be believed.
TEST(FatBinary, OfHostileSizesIsRefused) {
  const std::string whole = made_fat_binary({{.bytes = "first---"}});
  for (const std::size_t at : {8u, 16u + 4u, 16u + 8u}) {
    std::string hostile = whole;
    hostile.replace(at, 4, "\xff\xff\xff\xff");
    if (at != 20) hostile.replace(at + 4, 4, "\xff\xff\xff\xff");
    EXPECT_THAT(refusal(hostile), HasSubstr("fat binary 1 ends before")) << at;
  }
  std::string no_head = whole;
  no_head.replace(20, 4, std::string(4, '\0'));
  EXPECT_THAT(refusal(no_head), HasSubstr("a head of 0 bytes"));
}

[[maybe_unused]] void expect_unpacked(std::uint64_t flag, const std::string& packed,
                                      const std::string& plain) {
  const MadeEntry entry{.bytes = packed, .flags = flag, .unpacked = plain.size()};
  EXPECT_THAT(entries_in(made_fat_binary({entry})), ElementsAre("90: " + plain));
  EXPECT_THAT(refusal(made_fat_binary({entry}), plain.size() - 1), HasSubstr("budget"));
  for (const std::uint64_t wrong : {plain.size() - 1, plain.size() + 1}) {
    MadeEntry other = entry;
    other.unpacked = wrong;
    EXPECT_THAT(refusal(made_fat_binary({other})), HasSubstr("does not unpack")) << wrong;
  }
  MadeEntry cut = entry;
  cut.bytes.resize(packed.size() / 2);
  EXPECT_THAT(refusal(made_fat_binary({cut})), HasSubstr("does not unpack"));
}

const std::string kPlain = std::string(5000, 'a') + "b";

#ifdef FUSEGATE_HAS_ZSTD
TEST(FatBinary, PackedByZstdIsUnpacked) {
  std::string packed(ZSTD_compressBound(kPlain.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), kPlain.data(), kPlain.size(), 1));
  expect_unpacked(kZstdFlag, packed, kPlain);
}
#endif

#ifdef FUSEGATE_HAS_LZ4
TEST(FatBinary, PackedByLz4IsUnpacked) {
  const int size = static_cast<int>(kPlain.size());
  std::string packed(static_cast<std::size_t>(LZ4_compressBound(size)), '\0');
  packed.resize(static_cast<std::size_t>(
      LZ4_compress_default(kPlain.data(), packed.data(), size, static_cast<int>(packed.size()))));
  expect_unpacked(kLz4Flag, packed, kPlain);
}
#endif

}  // namespace
}  // namespace fusegate::ci
