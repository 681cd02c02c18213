// Checks of declared tensors and of registrations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/contract/kernel.h"

namespace fusegate::kernels {
namespace {

using testing::HasSubstr;
using Specs = std::vector<TensorSpec>;

const Problem kProblem{Dtype::kFp32, {{"rows", 4}}};

Operation of_tensors(Specs inputs, Specs outputs) {
  return {.name = "mine",
          .axes = {"rows"},
          .inputs = [inputs](const Problem&) { return inputs; },
          .outputs = [outputs](const Problem&) { return outputs; },
          .host_reference = [](auto&&...) {}};
}

// output_specs's error, or "".
std::string error_of(const Operation& operation) {
  try {
    output_specs(operation, kProblem);
    return "";
  } catch (const ContractError& error) {
    return error.what();
  }
}

TEST(Specs, TakeTheProblemsDtypeUnlessTheyNameOne) {
  const Operation operation =
      of_tensors({{"x", {4, 2}}, {"scale", {}, {}, Dtype::kFp32}},
                 {{.name = "q", .shape = {4}, .dtype = Dtype::kInt8}, {"y", {4, 2}}});
  const Problem problem{Dtype::kBf16, {{"rows", 4}}};
  EXPECT_EQ(input_specs(operation, problem)[0].dtype, Dtype::kBf16);
  EXPECT_EQ(input_specs(operation, problem)[1].dtype, Dtype::kFp32);
  EXPECT_EQ(output_specs(operation, problem)[0].dtype, Dtype::kInt8);
  EXPECT_EQ(tensor_bytes(operation, problem), 16 + 4 + 4 + 16);
}

TEST(Specs, CountWhatIsInPlaceOnce) {
  const Operation operation =
      of_tensors({{"x", {4}}}, {{.name = "y", .shape = {4}, .in_place_of = "x"}});
  EXPECT_EQ(tensor_bytes(operation, kProblem), 16);
}

TEST(Specs, InvalidOnesAreReportedWithOperationAndTensor) {
  const Specs none, x{{"x", {4}}};
  const auto of_output = [&](const TensorSpec& spec) { return error_of(of_tensors(x, {spec})); };
  const auto of_fill = [&](const Fill& fill) {
    return error_of(of_tensors({{"x", {4}, fill, Dtype::kInt8}}, {{"y", {4}}}));
  };
  EXPECT_EQ(of_output({"y", {4}}), "");
  EXPECT_EQ(error_of(of_tensors(x, none)),
            "operation 'mine': outputs of fp32/rows:4: name at least one");
  EXPECT_EQ(
      of_output({"y", {4, 0}}),
      "operation 'mine': outputs of fp32/rows:4: 'y': an axis has size 0, must be at least 1");
  EXPECT_THAT(of_output({"y", {kLargestAxis, kLargestAxis, kLargestAxis}}),
              HasSubstr("'y': more elements than fit into 64 bits"));
  EXPECT_THAT(error_of(of_tensors({{"x", {4}}, {"x", {4}}}, {{"y", {4}}})),
              HasSubstr("inputs of fp32/rows:4: 'x': is repeated"));
  EXPECT_THAT(of_output({"", {4}}), HasSubstr("a name is missing"));
  EXPECT_THAT(of_output({.name = "y", .shape = {4}, .tolerance = -1}),
              HasSubstr("tolerance is -1"));
  EXPECT_THAT(of_output({.name = "y", .shape = {4}, .in_place_of = "z"}),
              HasSubstr("in_place_of: 'z' is not an input"));
  EXPECT_THAT(of_output({.name = "y", .shape = {5}, .in_place_of = "x"}),
              HasSubstr("another shape or dtype"));
  EXPECT_THAT(error_of(of_tensors(x, {{.name = "y", .shape = {4}, .in_place_of = "x"},
                                      {.name = "z", .shape = {4}, .in_place_of = "x"}})),
              HasSubstr("'z': in_place_of: another output overwrites 'x' too"));
  EXPECT_THAT(of_fill(Fill::integers(-129, 5)), HasSubstr("'x': integers from -129 to 5"));
  EXPECT_THAT(of_fill(Fill::integers(3, 2)), HasSubstr("integers from 3 to 2"));
  EXPECT_THAT(of_fill(Fill::uniform(std::nan(""))), HasSubstr("must be finite"));
  EXPECT_THAT(of_fill(Fill::values(nullptr)), HasSubstr("Fill::values needs a function"));
}

TEST(Specs, ReportWhatAShapeFunctionThrows) {
  Operation operation = of_tensors({}, {{"y", {4}}});
  operation.inputs = [](const Problem& problem) -> Specs { return {{"x", {problem.at("heads")}}}; };
  EXPECT_EQ(error_of(operation),
            "operation 'mine': inputs of fp32/rows:4: no axis 'heads'; the problem has rows");
  EXPECT_THROW(tensor_bytes(operation, kProblem), ContractError);
}

// Expects require_sound_registrations's error with these added. In a child process, since nothing
// can be unregistered.
void expect_error(const std::vector<Operation>& more, const std::vector<Implementation>& kernels,
                  const std::string& expected) {
  EXPECT_EXIT(
      {
        for (const Operation& each : more) OperationRegistration{each};
        for (const Implementation& each : kernels) ImplementationRegistration{each};
        try {
          require_sound_registrations();
        } catch (const ContractError& error) {
          std::fprintf(stderr, "%s", error.what());
          std::exit(2);
        }
        std::exit(0);
      },
      testing::ExitedWithCode(expected.empty() ? 0 : 2), expected);
}

Implementation for_mine() {
  return {.operation = "mine",
          .name = "fast",
          .device = "cpu",
          .dtypes = {Dtype::kFp32},
          .prepare = [](auto&&...) { return PreparedKernel(); }};
}

TEST(Registrations, SoundOnesAreAccepted) {
  EXPECT_NO_THROW(require_sound_registrations());
  expect_error({of_tensors({}, {})}, {for_mine()}, "");
}

TEST(Registrations, RepeatedOnesAreReportedWithBothLocations) {
  const Operation mine = of_tensors({}, {});
  expect_error({mine, mine}, {},
               "specs_test.cc: operation 'mine': name: is registered twice, first at "
               "specs_test.cc$");
  expect_error({mine}, {for_mine(), for_mine()},
               "specs_test.cc: implementation 'mine/fast' for cpu: name: is registered twice");
}

TEST(Registrations, InvalidOnesAreReportedWithTheField) {
  const auto expect = [](void (*spoil)(Operation&), const std::string& expected) {
    Operation operation = of_tensors({}, {});
    spoil(operation);
    expect_error({operation}, {}, expected);
  };
  expect([](Operation& o) { o.name = "a/b"; }, "operation 'a/b': name: must be of letters");
  expect([](Operation& o) { o.axes = {}; }, "axes: name at least one");
  expect([](Operation& o) { o.axes = {"kv", "kv"}; }, "axes: 'kv' is repeated");
  expect([](Operation& o) { o.axes = {"k:v"}; }, "axes: 'k:v' is not an axis name");
  expect([](Operation& o) { o.axes = {"dtype"}; }, "axes: 'dtype' is not an axis name");
  expect([](Operation& o) { o.unswept_axes = {"dim"}; },
         "unswept_axes: 'dim' is not among its axes");
  expect([](Operation& o) { o.compared_with = "magic"; },
         "compared_with: no implementation is named 'magic'");
  expect([](Operation& o) { o.outputs = nullptr; }, "outputs: is missing");
  expect([](Operation& o) { o.host_reference = nullptr; }, "reference: set either");
  const auto expect_of = [](void (*spoil)(Implementation&), const std::string& expected) {
    Implementation implementation = for_mine();
    spoil(implementation);
    expect_error({of_tensors({}, {})}, {implementation}, expected);
  };
  expect_of([](Implementation& i) { i.operation = "nine"; },
            "implementation 'nine/fast' for cpu: operation: no operation 'nine' is registered");
  expect_of([](Implementation& i) { i.name = ""; }, "name: must be of letters");
  expect_of([](Implementation& i) { i.device = ""; }, "device: is missing");
  expect_of([](Implementation& i) { i.dtypes = {}; }, "dtypes: name at least one");
  expect_of([](Implementation& i) { i.prepare = nullptr; }, "prepare: is missing");
  expect_of(
      [](Implementation& i) {
        i.compared_with = {"fast", "magic"};
      },
      "compared_with: no implementation is named 'magic'");
  expect_of(
      [](Implementation& i) {
        i.multiples = {{"dim", 8}};
      },
      "multiples: its operation has no axis 'dim'");
  expect_of(
      [](Implementation& i) {
        i.multiples = {{"rows", 0}};
      },
      "multiples: that of 'rows' must be positive, but is 0");
}

TEST(OneOrMore, ConvertsWhereThereIsOne) {
  const std::vector<Tensor> one{{nullptr, {3}, Dtype::kFp32}}, two(2);
  const auto count = [](const Tensor& out) { return out.count(); };
  EXPECT_EQ(count(Outputs(one)), 3);
  EXPECT_EQ(Outputs(two).size(), 2u);
  EXPECT_THROW(count(Outputs(two)), ContractError);
}

TEST(Tensor, IsAMatrixOfItsLastAxis) {
  const Tensor tensor{nullptr, {2, 3, 5}, Dtype::kInt32};
  EXPECT_EQ(tensor.count(), 30);
  EXPECT_EQ(tensor.rows(), 6);
  EXPECT_EQ(tensor.cols(), 5);
  EXPECT_EQ(tensor.bytes(), 120u);
  const Tensor scalar{nullptr, {}, Dtype::kInt8};
  EXPECT_EQ(scalar.rows() * scalar.cols(), 1);
}

}  // namespace
}  // namespace fusegate::kernels
