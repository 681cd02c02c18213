#include "ci/codes/program_codes.h"

#include <gmock/gmock.h>

#include "baselines/io/error.h"
#include "baselines/io/scratch_folder.h"
#include "baselines/io/work_growth.h"
#include "ci/codes/codes_file.h"
#include "ci/codes/test_fat_binary.h"

namespace fusegate::ci {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kCode(64, 'x'), kOtherCode(64, 'y');

ProgramCodes read(const std::string& file) { return codes_in(bytes_in(file), "program"); }

// "sm_90 name", of each kernel.
std::vector<std::string> kernels_in(const ProgramCodes& codes) {
  std::vector<std::string> kernels;
  for (const ProgramKernel& kernel : codes.kernels) {
    kernels.push_back(kernel.architecture + " " + kernel.name);
  }
  return kernels;
}

std::string program_of(const std::string& fat_binary) {
  return made_elf({{".text", "host"}, {".nv_fatbin", fat_binary}}, EM_X86_64);
}

// The kernels of a library such as NCCL call functions that lie in texts of their own. Each text is
// read once or twice, not once a kernel, which took minutes.
TEST(KernelCodesOfACubin, OfLinkedKernelsGoByAllTextsAndAreReadInTheTimeOfThese) {
  const auto cubin_of = [](int kernels, const std::string& last) {
    std::vector<std::pair<std::string, std::string>> sections{{".text.alone", kCode}};
    for (int i = 0; i < kernels; ++i) {
      const std::string name = ".text.k" + std::to_string(i);
      sections.emplace_back(name, std::string(1 << 16, 'x'));
      sections.emplace_back(".rela" + name, "where it is completed");
    }
    sections.emplace_back(".text.function", last);
    return made_elf(sections);
  };
  const auto codes_of = [](const std::string& cubin) {
    return baselines::kernel_codes(bytes_in(cubin));
  };
  const std::string few = cubin_of(25, kCode), many = cubin_of(200, kCode);
  const auto one = codes_of(many), other = codes_of(cubin_of(200, kOtherCode));
  ASSERT_EQ(one.size(), 202u);
  EXPECT_EQ(one.at("alone").hash, other.at("alone").hash);
  EXPECT_NE(one.at("k0").hash, other.at("k0").hash);
  EXPECT_LT(baselines::work_growth([&] { codes_of(few); }, [&] { codes_of(many); }),
            baselines::kMostGrowthOfEight);
}

TEST(ProgramCodes, AreTheSameWhereverTheCubinLies) {
  const std::string cubin = made_cubin({{"scale", kCode}});
  const std::string fat_binary = made_fat_binary({{.bytes = cubin}});
  const ProgramCodes alone = read(cubin);
  ASSERT_THAT(kernels_in(alone), ElementsAre("sm_90 scale"));
  EXPECT_EQ(alone.kernels[0].code.instructions, 4);
  EXPECT_EQ(alone.kernels[0].code, baselines::kernel_codes(bytes_in(cubin)).at("scale"));
  for (const std::string& file :
       {fat_binary, program_of(fat_binary), program_of(std::string(24, '\0') + fat_binary),
        "!<arch>\n" + program_of(fat_binary),
        made_elf({{"__nv_relfatbin", fat_binary}}, EM_X86_64)}) {
    const ProgramCodes codes = read(file);
    ASSERT_THAT(kernels_in(codes), ElementsAre("sm_90 scale"));
    EXPECT_EQ(codes.kernels[0].code, alone.kernels[0].code);
    EXPECT_THAT(codes.notes, IsEmpty());
  }
}

TEST(ProgramCodes, HaveNamesAsPeopleReadThem) {
  EXPECT_THAT(
      kernels_in(read(made_cubin({{"_ZN32_GLOBAL__N__38b1d6f7_4_a_cu_main4anonEPff", kCode}}))),
      ElementsAre("sm_90 (anonymous namespace)::anon(float*, float)"));
  EXPECT_EQ(readable_kernel("__nv_static_28__290e7327_7_some_cu_1efa1a85__ZN39_GLOBAL__N__290e7327_"
                            "7_some_cu_1efa1a855scaleEPff"),
            "(anonymous namespace)::scale(float*, float)");
}

TEST(ProgramCodes, OfOneNameAreTakenTogetherAndSaid) {
  const std::string one = made_cubin({{"scale", kCode}});
  const std::string other = made_cubin({{"scale", kOtherCode}});
  const ProgramCodes same = read(made_fat_binary({{.bytes = one}, {.bytes = one}}));
  EXPECT_EQ(same.kernels[0].code.hash, read(one).kernels[0].code.hash);
  const ProgramCodes both = read(made_fat_binary({{.bytes = one}, {.bytes = other}}));
  const ProgramCodes reversed = read(made_fat_binary({{.bytes = other}, {.bytes = one}}));
  ASSERT_EQ(both.kernels.size(), 1u);
  EXPECT_EQ(both.kernels[0].of_one_name, 2);
  EXPECT_NE(both.kernels[0].code.hash, same.kernels[0].code.hash);
  EXPECT_EQ(both.kernels[0].code.hash, reversed.kernels[0].code.hash);
  EXPECT_THAT(both.notes, ElementsAre(HasSubstr("1 of 1 kernels: several have that name")));
}

TEST(ProgramCodes, OfPtxGoByItsTextWithoutCommentsAndLines) {
  const auto ptx_of = [](const std::string& text) {
    return read(program_of(made_fat_binary({{.bytes = text, .kind = 1, .architecture = 80}})));
  };
  const ProgramCodes codes = ptx_of("// one\n.visible .entry scale(\n\t.loc 1 2 3\n\tret;\n");
  ASSERT_THAT(kernels_in(codes), ElementsAre("compute_80 scale"));
  EXPECT_THAT(codes.notes, ElementsAre(HasSubstr("PTX alone")));
  EXPECT_EQ(codes.kernels[0].code.hash,
            ptx_of("// two\n\n.visible .entry scale(\n\tret;\n").kernels[0].code.hash);
  EXPECT_NE(codes.kernels[0].code.hash,
            ptx_of("// one\n.visible .entry scale(\n\texit;\n").kernels[0].code.hash);
}

TEST(ProgramCodes, SayWhatWasNotRead) {
  EXPECT_THAT(read(made_elf({{".text", "host"}}, EM_X86_64)).notes,
              ElementsAre("program: has no kernels of its own"));
  EXPECT_THAT(read(made_fat_binary({{.bytes = "LTO IR--", .kind = 8}})).notes,
              ElementsAre(HasSubstr("entries of kind 8")));
}

std::string refusal_of(const std::string& file) {
  try {
    read(file);
    return "";
  } catch (const baselines::InputError& error) {
    return error.what();
  }
}

TEST(ProgramCodes, OfWhatIsNoProgramAreRefused) {
  EXPECT_THAT(refusal_of("text"), HasSubstr("program: is not a program, library"));
  EXPECT_THAT(refusal_of(""), HasSubstr("program: is not a program, library"));
  const std::string cubin = made_cubin({{"scale", kCode}});
  EXPECT_THAT(refusal_of(made_fat_binary({{.bytes = cubin.substr(0, 90)}})),
              HasSubstr("program: fat binary 1 ends before"));
  const std::string program = program_of(made_fat_binary({{.bytes = cubin}}));
  for (std::size_t size = 0; size < program.size(); size += 7) {
    EXPECT_THAT(refusal_of(program.substr(0, size)), HasSubstr("program: ")) << size;
  }
}

TEST(ProgramCodes, OfAFolderAreThoseOfItsCubins) {
  const baselines::ScratchFolder folder;
  EXPECT_THROW(read_codes({folder.path()}), baselines::InputError);
  folder.write("AB12/scale.cubin", made_cubin({{"scale", kCode}}));
  folder.write("CD34/shift.cubin", made_cubin({{"shift", kCode}}));
  folder.write("CD34/shift.json", "{}");
  EXPECT_THAT(kernels_in(read_codes({folder.path()})), ElementsAre("sm_90 scale", "sm_90 shift"));
  EXPECT_THAT(kernels_in(load_codes(folder.path())), ElementsAre("sm_90 scale", "sm_90 shift"));
}

TEST(CodesFile, HasWhatWasRead) {
  const ProgramCodes codes = read(made_cubin({{"scale", kCode}}));
  const ProgramCodes again = parse_codes(codes_text(codes), "codes.json");
  EXPECT_THAT(again.sources, ElementsAre("program"));
  ASSERT_THAT(kernels_in(again), ElementsAre("sm_90 scale"));
  EXPECT_EQ(again.kernels[0].code, codes.kernels[0].code);
  EXPECT_THROW(parse_codes(R"({"fusegate_codes": 2})", "codes.json"), baselines::InputError);
}

}  // namespace
}  // namespace fusegate::ci
