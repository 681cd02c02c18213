// The CPU as a device, without a library: what a machine without a GPU measures.
#pragma once

#include "kernels/contract/device.h"
#include "kernels/contract/host_reference.h"

namespace fusegate::kernels {

class CpuDevice : public Device {
 public:
  std::string_view kind() const override { return "cpu"; }
  std::string name() const override;
  std::string uuid() const override { return ""; }
  std::map<std::string, std::string> versions() const override;
  std::size_t available_bytes() const override;
  Memory allocate(std::size_t bytes) override;
  bool lay_out(std::uint64_t) override { return false; }
  void fill(const Tensor& tensor, const Fill& fill, std::uint64_t seed) override;
  void poison(const Tensor& tensor) override;
  void copy(const void* from, void* to, std::size_t bytes) override;
  void copy_to_host(const void* from, std::span<std::byte> to) override;
  void copy_to_device(std::span<const std::byte> from, void* to) override;
  std::uint64_t digest(const Tensor& tensor) override;
  void synchronize() override {}
  ReferenceMath& reference_math() override { return reference_; }

 private:
  HostReference reference_;
};

}  // namespace fusegate::kernels
