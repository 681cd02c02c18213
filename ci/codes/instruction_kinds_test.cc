#include "ci/codes/instruction_kinds.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdint>
#include <sstream>

namespace fusegate::ci {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

// What nvdisasm 13.5 called them, by their lowest twelve bits: the 333,218 instructions of the 644
// kernels of fusegate_bench, built for sm_80 and sm_90a by nvcc 13.0, and 5,576 of kernels that
// were written to have other ones, for sm_80, sm_86, sm_89 and sm_90a.
constexpr const char* kSeen = R"(
202 MOV, 207 SEL, 208 FSEL, 209 FMNMX, 20b FSETP, 20c ISETP, 210 IADD3, 211 LEA, 212 LOP3,
213 IABS, 214 VABSDIFF, 215 VABSDIFF4, 219 SHF, 220 FMUL, 221 FADD, 223 FFMA, 224 IMAD, 225 IMAD,
226 IDP, 227 IMAD, 228 DMUL, 229 DADD, 22a DSETP, 22b DFMA, 230 HADD2, 231 HFMA2, 232 HMUL2,
233 HSET2, 234 HSETP2, 235 HFMA2, 237 IMMA, 23a MOVM, 23c HMMA, 23e F2FP, 23f DMMA, 240 HMNMX2,
245 I2FP, 246 VIADDMNMX, 248 VIMNMX, 287 USEL, 28c UISETP, 290 UIADD3, 291 ULEA, 292 ULOP3,
2a4 UIMAD, 2a5 UIMAD, 2bd UFLO, 2ca R2UR, 300 FLO, 301 BREV, 302 FCHK, 305 F2I, 306 I2F, 307 FRND,
308 MUFU, 309 POPC, 310 F2F, 311 F2I, 312 I2F, 313 FRND, 31c B2R, 343 CALL, 348 WARPSYNC,
34e LEPC, 387 STL, 388 STS, 389 SHFL, 38b ATOM, 38c ATOMS, 38d ATOMS, 3a1 MATCH, 3a9 ATOMG,
3aa QSPC, 3b4 UTMALDG, 3b5 UTMASTG, 3b6 UTMAREDG, 3ba UBLKCP, 3bb UBLKRED, 3bc UBLKPF, 3c4 REDUX,
3c6 FENCE, 419 SHF, 421 FADD, 423 FFMA, 424 IMAD, 429 DADD, 42a DSETP, 42b DFMA, 435 HFMA2,
446 VIADDMNMX, 4a4 UIMAD, 51d BAR, 589 SHFL, 5a7 SYNCS, 5ab CGAERRBAR, 5b2 SYNCS, 5b4 UTMALDG,
5b8 UTMAPF, 616 PRMT, 624 IMAD, 625 IMAD, 629 DADD, 62a DSETP, 62b DFMA, 802 MOV, 803 P2R,
804 R2P, 805 CS2R, 806 VOTE, 807 SEL, 808 FSEL, 80b FSETP, 80c ISETP, 810 IADD3, 811 LEA,
812 LOP3, 816 PRMT, 817 IMNMX, 819 SHF, 81c PLOP3, 820 FMUL, 823 FFMA, 824 IMAD, 825 IMAD,
827 IMAD, 828 DMUL, 82b DFMA, 82d PREEXIT, 82e ACQBULK, 82f ELECT, 835 HFMA2, 836 VIADD, 83b LDSM,
844 STSM, 848 VIMNMX, 882 UMOV, 886 VOTEU, 887 USEL, 88c UISETP, 890 UIADD3, 891 ULEA, 892 ULOP3,
896 UPRMT, 897 UIADD3, 899 USHF, 8a4 UIMAD, 8a5 UIMAD, 908 MUFU, 918 NOP, 919 S2R, 91a DEPBAR,
91b ENDCOLLECTIVE, 941 BSYNC, 944 CALL, 945 BSSY, 946 YIELD, 947 BRA, 948 WARPSYNC, 949 BRX,
94d EXIT, 94e LEPC, 950 RET, 95c BPT, 95d NANOSLEEP, 980 LD, 981 LDG, 983 LDL, 984 LDS, 985 ST,
986 STG, 988 STS, 98a ATOM, 98e RED, 98e REDG, 98f CCTL, 992 MEMBAR, 9a3 ATOMG, 9a6 REDG,
9a7 SYNCS, 9a8 ATOMG, 9ab ERRBAR, 9af LDGDEPBAR, 9b7 UTMACMDFLUSH, 9b9 UTMACCTL, 9c3 S2UR,
9c5 WARPGROUP, 9c7 UCGABAR_ARV, 9c8 USETMAXREG, 9f0 HGMMA, 9f1 IGMMA, 9f3 QGMMA, a02 MOV, a07 SEL,
a08 FSEL, a0c ISETP, a10 IADD3, a11 LEA, a12 LOP3, a13 IABS, a17 IMNMX, a24 IMAD, a25 IMAD,
a26 IDP, a27 IMAD, a28 DMUL, a2b DFMA, ab9 ULDC, b06 I2F, b10 F2F, b12 I2F, b1d BAR, b82 LDC,
c02 MOV, c07 SEL, c08 FSEL, c0c ISETP, c10 IADD3, c11 LEA, c12 LOP3, c24 IMAD, c25 IMAD, c27 IMAD,
c28 DMUL, c2b DFMA, c36 VIADD, c46 VIADDMNMX, c48 VIMNMX, c82 UMOV, d00 FLO, d06 I2F, d09 POPC,
d10 F2F, d12 I2F, dbd STAS, dc7 UCGABAR_WAIT, e24 IMAD, e25 IMAD, e29 DADD, e2a DSETP, e2b DFMA,
e46 VIADDMNMX, f89 SHFL, f8c ATOMS, fae LDGSTS
)";

InstructionKinds kinds_of(std::vector<std::uint64_t> low_halves,
                          std::string_view architecture = "sm_90a") {
  std::vector<std::uint64_t> code;
  for (const std::uint64_t half : low_halves) code.insert(code.end(), {half, 0});
  return instruction_kinds(std::as_bytes(std::span(code)), architecture);
}

TEST(InstructionKinds, HaveTheNamesThatTheDisassemblerGave) {
  std::istringstream seen(kSeen);
  std::string opcode, name;
  int count = 0;
  for (; seen >> opcode >> name; ++count) {
    if (name.back() == ',') name.pop_back();
    const InstructionKinds kinds =
        kinds_of({std::stoull(opcode, nullptr, 16) | 0xabcd'ef00'0000'7000});
    ASSERT_EQ(kinds.size(), 1u);
    // RED has REDG's number too, and the two barriers of a cluster have one.
    EXPECT_THAT(name, HasSubstr(kinds.begin()->first)) << opcode;
  }
  EXPECT_EQ(count, 244);
}

TEST(InstructionKinds, AreCountedAndHaveNumbersWhereTheyHaveNoNames) {
  EXPECT_THAT(kinds_of({0x9f0, 0x223, 0x423, 0x1ff}),
              ElementsAre(Pair("FFMA", 2), Pair("HGMMA", 1), Pair("opcode 0x1ff", 1)));
  EXPECT_THAT(kinds_of({0x223}, "sm_120a"), ElementsAre(Pair("opcode 0x023", 1)));
}

TEST(InstructionKinds, ThatChangedMostAreNamed) {
  const InstructionKinds before{{"FFMA", 10}, {"MOV", 5}, {"BRA", 2}, {"LDS", 1}, {"HMMA", 4}};
  InstructionKinds after = before;
  EXPECT_EQ(kinds_text(before, after), "");
  after["MOV"] = 2;
  after["HMMA"] = 12;
  after["STL"] = 1;
  EXPECT_EQ(kinds_text(before, after), "STL +1, HMMA +8, MOV -3");
  after.erase("BRA");
  after["LDS"] = 2;
  EXPECT_EQ(kinds_text(before, after), "STL +1, HMMA +8, MOV -3, BRA -2, and 1 more kinds");
}

}  // namespace
}  // namespace fusegate::ci
