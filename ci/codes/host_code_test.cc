#include "ci/codes/host_code.h"

#include <gmock/gmock.h>

#include "ci/codes/test_fat_binary.h"

namespace fusegate::ci {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Key;
using Sections = std::vector<std::pair<std::string, std::string>>;
using HostCode = std::map<std::string, std::string>;

HostCode host_of(const Sections& sections, std::uint16_t type = ET_DYN) {
  const std::string program = made_elf(sections, EM_X86_64, type);
  return host_code(baselines::read_elf(bytes_in(program)));
}

TEST(HostCode, IsWhatIsLoadedButForKernelsNotesAndTablesForExceptions) {
  EXPECT_THAT(host_of({{".text", "call"},
                       {".rodata", "text"},
                       {".nv_fatbin", "kernels"},
                       {".nvFatBinSegment", "where"},
                       {".note.gnu.build-id", "01"},
                       {".eh_frame_hdr", "02"},
                       {".gcc_except_table", "03"}}),
              ElementsAre(Key(".rodata"), Key(".text")));
  EXPECT_NE(host_of({{".text", "call"}}), host_of({{".text", "tail"}}));
  EXPECT_THAT(host_of({{".text", "call"}}, ET_REL), IsEmpty());
}

TEST(HostCode, IsTheSameOfEveryCommit) {
  const auto of = [](const std::string& constants) {
    const HostCode code = host_of({{".rodata", constants}});
    return code.at(".rodata");
  };
  const std::string one(40, 'a'), other(40, 'b');
  EXPECT_EQ(of("waits for the" + one + "\xff!"), of("waits for the" + other + "\xff!"));
  EXPECT_NE(of(one + "1"), of(one + "x"));
  EXPECT_NE(of("launches 1"), of("launches 2"));
  EXPECT_EQ(of("_ZN39_GLOBAL__N__290e7327_7_some_cu_1efa1a855scaleEPff"),
            of("_ZN39_GLOBAL__N__38b1d6f7_7_some_cu_1efa1a855scaleEPff"));
}

TEST(HostCode, HasNotWhereTheFatBinariesLie) {
  const auto of = [](std::uint64_t host, std::uint64_t kernels) {
    // The first entry is of the section that follows the ELF header.
    const std::string table =
        bytes_of(Elf64_Rela{sizeof(Elf64_Ehdr), 8, static_cast<std::int64_t>(kernels)}) +
        bytes_of(Elf64_Rela{0x5000, 8, static_cast<std::int64_t>(host)});
    return host_of({{".nvFatBinSegment", std::string(24, 's')}, {".rela.dyn", table}});
  };
  EXPECT_EQ(of(1, 2), of(1, 3));
  EXPECT_NE(of(1, 2), of(2, 2));
}

}  // namespace
}  // namespace fusegate::ci
