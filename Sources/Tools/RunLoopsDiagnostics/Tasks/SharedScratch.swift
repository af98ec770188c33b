// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoopsLibC

/// Memory for copies of tasks, where tasks are not searched.
///
/// A process that looks into itself would find copies on its heap or on a stack again, as tasks. The memory is shared, and
/// only private memory is searched.
final class SharedScratch {
    // SAFETY: a mapping of its own, unmapped in deinit.
    let bytes: UnsafeMutableRawBufferPointer

    init(count: Int) {
        let memory = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
        guard let memory, memory != MAP_FAILED else {
            fatalError("Out of memory for \(count) bytes of tasks: give the process more memory.")
        }
        bytes = UnsafeMutableRawBufferPointer(start: memory, count: count)
    }

    deinit { munmap(bytes.baseAddress, bytes.count) }
}
