#include "util/thread_pool.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace baytree {

void Workers::run(size_t tasks, AnyTask task) {
  std::atomic<size_t> next{0};
  std::atomic<bool> stop{false};
  std::exception_ptr failure;
  std::mutex guard;
  const auto work = [&](int worker) {
    try {
      for (size_t i; !stop && (i = next++) < tasks;) {
        task.call(task.it, i, worker);
        if (worker == 0) poll();
      }
    } catch (...) {
      stop = true;
      const std::lock_guard lock(guard);
      if (!failure) failure = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  const int needed = int(std::min<size_t>(size_t(threads_), tasks));
  try {
    for (int worker = 1; worker < needed; ++worker) others.emplace_back(work, worker);
  } catch (...) {  // no more threads available: those that started and the calling thread do the work
  }
  work(0);
  for (auto& other : others) other.join();
  if (failure) std::rethrow_exception(failure);
}

void Workers::poll() {
  const auto now = std::chrono::steady_clock::now();
  if (now - asked_ < std::chrono::milliseconds(20)) return;
  asked_ = now;
  if (is_stopped_ && is_stopped_()) throw Interrupted();
}

}  // namespace baytree
