// Cubins are made by NVRTC, which needs no GPU.
#include "bench/profiling/kernel_codes.h"

#include <gtest/gtest.h>
#include <nvrtc.h>

#include <string>
#include <vector>

namespace fusegate::bench {
namespace {

using baselines::kernel_codes;

std::vector<std::byte> compiled(const std::string& source) {
  nvrtcProgram program = nullptr;
  EXPECT_EQ(nvrtcCreateProgram(&program, source.c_str(), "test.cu", 0, nullptr, nullptr),
            NVRTC_SUCCESS);
  const std::vector<const char*> flags{"--gpu-architecture=sm_90a", "-lineinfo"};
  EXPECT_EQ(nvrtcCompileProgram(program, static_cast<int>(flags.size()), flags.data()),
            NVRTC_SUCCESS);
  std::size_t bytes = 0;
  EXPECT_EQ(nvrtcGetCUBINSize(program, &bytes), NVRTC_SUCCESS);
  std::vector<std::byte> cubin(bytes);
  EXPECT_EQ(nvrtcGetCUBIN(program, reinterpret_cast<char*>(cubin.data())), NVRTC_SUCCESS);
  nvrtcDestroyProgram(&program);
  return cubin;
}

std::map<std::string, KernelCode> codes_of(const std::string& source) {
  return kernel_codes(compiled(source));
}

const std::string kScale =
    R"(extern "C" __global__ void scale(float* p, float by) { p[threadIdx.x] *= by; })";
const std::string kShift =
    R"(extern "C" __global__ void shift(float* p, float by) { p[threadIdx.x] += by; })";

TEST(KernelCodesOfACubin, HaveEachKernelOfTheFile) {
  const auto codes = codes_of(kScale + kShift);
  ASSERT_EQ(codes.size(), 2u);
  EXPECT_NE(codes.at("scale").hash, codes.at("shift").hash);
}

TEST(KernelCodesOfACubin, OfOneKernelStayWhereAnotherChanges) {
  const auto before = codes_of(kScale + kShift);
  const auto after = codes_of(
      kScale +
      R"(extern "C" __global__ void shift(float* p, float by) { p[threadIdx.x] += 2 * by; })");
  EXPECT_EQ(before.at("scale"), after.at("scale"));
  EXPECT_NE(before.at("shift").hash, after.at("shift").hash);
}

TEST(KernelCodesOfACubin, GoByNeitherLinesNorComments) {
  EXPECT_EQ(codes_of(kScale).at("scale"),
            codes_of("// What it does\n\n" + kShift + "\n" + kScale).at("scale"));
}

TEST(KernelCodesOfACubin, GoByTheConstantsThatTheKernelReads) {
  const std::string read =
      R"(extern "C" __global__ void read(float* p, int i) { p[threadIdx.x] = table[i]; })";
  EXPECT_NE(codes_of("__constant__ float table[2] = {1, 2};" + read).at("read").hash,
            codes_of("__constant__ float table[2] = {1, 3};" + read).at("read").hash);
}

// Code that does more has more, and one of so few has none of the alignment's.
TEST(KernelCodesOfACubin, CountTheInstructions) {
  const std::string empty = R"(extern "C" __global__ void empty() {})";
  const auto codes = codes_of(kScale + empty);
  EXPECT_GT(codes.at("scale").instructions, codes.at("empty").instructions + 2);
  EXPECT_LT(codes.at("empty").instructions, 8) << "a section has a multiple of eight";
  EXPECT_GT(codes.at("empty").instructions, 1) << "it exits, and has an endless loop after that";
}

TEST(KernelCodesOfACubin, RefuseWhatIsNoCubinOrCutShort) {
  std::vector<std::byte> cubin = compiled(kScale);
  EXPECT_THROW(kernel_codes({}), std::runtime_error);
  EXPECT_THROW(kernel_codes(std::vector<std::byte>(4096)), std::runtime_error);
  // What stands last in the file is for the loader, and nobody here reads it.
  for (std::size_t bytes = 0; bytes < cubin.size() / 2; bytes += 97) {
    EXPECT_THROW(kernel_codes(std::span(cubin).first(bytes)), std::runtime_error) << bytes;
  }
}

const std::string kDivide =
    R"(extern "C" __global__ void scale(float* p, float by) { p[threadIdx.x] /= by; })";
constexpr ModuleKey kOne{nullptr, 1}, kOther{nullptr, 2}, kBroken{nullptr, 3};

TEST(KernelCodes, AreOfTheModulesThatTheCallLaunchedFrom) {
  const std::vector<std::byte> one = compiled(kScale), other = compiled(kDivide);
  KernelCodes codes;
  codes.launch(kOne, one);
  const KernelCode scaled = codes.find("scale");
  EXPECT_EQ(scaled, codes_of(kScale).at("scale"));
  codes.load(kOther, other);
  EXPECT_EQ(codes.find("scale"), scaled) << "loading launches nothing";
  codes.begin_call();
  codes.launch(kOther, other);
  EXPECT_EQ(codes.find("scale"), codes_of(kDivide).at("scale")) << "whatever ran before";
  codes.begin_call();
  codes.launch(kOne, one);
  EXPECT_EQ(codes.find("scale"), scaled) << "and again, whatever ran in between";
}

TEST(KernelCodes, OfAModuleThatReplacesAnotherAreItsOwn) {
  KernelCodes codes;
  codes.launch(kOne, compiled(kScale));
  codes.begin_call();
  const std::vector<std::byte> other = compiled(kDivide);
  codes.load(kOne, other);
  codes.launch(kOne, other);
  EXPECT_EQ(codes.find("scale"), codes_of(kDivide).at("scale"));
  const ModuleKey elsewhere{&codes, kOne.number};
  codes.begin_call();
  codes.launch(elsewhere, compiled(kScale));
  EXPECT_EQ(codes.find("scale"), codes_of(kScale).at("scale")) << "another context's";
}

TEST(KernelCodes, OfOneNameInTwoModulesAreTakenTogether) {
  const std::vector<std::byte> one = compiled(kScale), other = compiled(kDivide);
  KernelCodes codes, loaded, reversed;
  EXPECT_EQ(codes.find("scale").hash, "");
  codes.launch(kOne, one);
  const KernelCode alone = codes.find("scale");
  codes.launch(kOne, one);
  codes.launch(ModuleKey{nullptr, 4}, one);
  EXPECT_EQ(codes.find("scale"), alone) << "the same code twice is one";
  codes.launch(kOther, other);
  reversed.launch(kOther, other);
  EXPECT_NE(reversed.find("scale").hash, alone.hash);
  reversed.launch(kOne, one);
  EXPECT_NE(codes.find("scale").hash, alone.hash);
  EXPECT_EQ(codes.find("scale").instructions, 0) << "a division takes more of them";
  EXPECT_EQ(codes.find("scale"), reversed.find("scale"));
  codes.launch(kBroken, std::vector<std::byte>(16));
  EXPECT_EQ(codes.find("scale"), reversed.find("scale")) << "what cannot be read adds nothing";
  loaded.load(kOther, other);
  loaded.load(kOne, one);
  EXPECT_EQ(loaded.find("scale"), codes.find("scale")) << "all, where none is known to be launched";
}

}  // namespace
}  // namespace fusegate::bench
