// Independent pieces of work over a few threads; the result never depends on how many.
#pragma once
#include <atomic>
#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace baytree::fractional {

// Called between pieces of work by the calling thread only; throws to stop.
using Poll = std::function<void()>;

// work(piece, thread) for every piece. An exception of any thread is thrown here, after all have ended.
template <std::invocable<size_t, size_t> Work>
void for_each_piece(size_t pieces, size_t threads, const Poll& poll, const Work& work) {
  if (threads <= 1 || pieces <= 1) {
    for (size_t piece = 0; piece < pieces; ++piece) {
      work(piece, size_t{0});
      poll();
    }
    return;
  }
  std::atomic<size_t> next{0};
  std::atomic<bool> is_stopped{false};
  std::exception_ptr failure;
  std::mutex guard;
  const auto run = [&](size_t thread) {
    try {
      for (size_t piece; !is_stopped && (piece = next++) < pieces;) {
        work(piece, thread);
        if (thread == 0) poll();
      }
    } catch (...) {
      is_stopped = true;
      const std::lock_guard lock(guard);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (size_t thread = 1; thread < std::min(threads, pieces); ++thread) others.emplace_back(run, thread);
    run(0);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace baytree::fractional
