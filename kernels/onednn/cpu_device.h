// The CPU as a device, through oneDNN: what a machine without a GPU measures.
#pragma once

#include <dnnl.hpp>
#include <utility>
#include <vector>

#include "kernels/contract/device.h"
#include "kernels/contract/host_reference.h"

namespace fusegate::kernels {

class CpuDevice : public Device {
 public:
  CpuDevice();

  std::string_view kind() const override { return "cpu"; }
  std::string name() const override;
  std::string uuid() const override { return ""; }
  std::map<std::string, std::string> versions() const override;
  std::size_t available_bytes() const override;
  Memory allocate(std::size_t bytes) override;
  bool lay_out(std::uint64_t) override { return false; }
  void fill(const Tensor& tensor, const Fill& fill, std::uint64_t seed) override;
  void poison(const Tensor& tensor) override;
  void copy_to_host(const void* from, std::span<std::byte> to) override;
  void copy_to_device(std::span<const std::byte> from, void* to) override;
  std::uint64_t digest(const Tensor& tensor) override;
  void synchronize() override;
  ReferenceMath& reference_math() override { return reference_; }

  // The speed of generated code depends on its address: with one copy per process, times of the
  // same kernel differed by a factor of up to 1.75 (docs/evidence/cpu.md). Freed code would be
  // generated again at the same address. So primitives live as long as the device, and each memory
  // layout has others.
  const dnnl::primitive& store(dnnl::primitive primitive) {
    return primitives_.emplace_back(std::move(primitive));
  }

  dnnl::engine& engine() { return engine_; }
  dnnl::stream& stream() { return stream_; }

 private:
  dnnl::engine engine_;
  dnnl::stream stream_;
  HostReference reference_;
  std::vector<dnnl::primitive> primitives_;
};

}  // namespace fusegate::kernels
