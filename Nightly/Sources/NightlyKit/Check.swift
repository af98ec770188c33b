// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

private let failures = Atomic<Int>(0)

/// Prints what does not hold, and remembers that something did not.
package func check(
    _ holds: Bool, _ what: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) {
    if holds { return }
    failures.add(1, ordering: .relaxed)
    print("FAILED \(file):\(line): \(what())")
    fflush(nil)
}

/// Ends the program: with 1 if a check has failed.
package func endOfChecks() -> Never {
    let count = failures.load(ordering: .relaxed)
    print(count == 0 ? "all held" : "\(count) did not hold")
    fflush(nil)
    exit(count == 0 ? 0 : 1)
}

/// Random numbers that come again with the same seed.
package struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// A thread without a loop.
package struct Worker: @unchecked Sendable {
    private let thread: pthread_t

    /// Starts a thread; traps if the system has none.
    package init(_ body: @escaping @Sendable () -> Void) {
        guard let worker = Worker.start(body) else { preconditionFailure("no thread") }
        self = worker
    }

    private init(_ thread: pthread_t) { self.thread = thread }

    /// Starts a thread; `nil` if the system has none.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Worker? {
        final class Box {
            let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }
        var thread = pthread_t()
        let argument = Unmanaged.passRetained(Box(body))
        let result = pthread_create(
            &thread, nil,
            {
                Unmanaged<Box>.fromOpaque($0!).takeRetainedValue().body()
                return nil
            }, argument.toOpaque())
        if result == 0 { return Worker(thread) }
        argument.release()
        return nil
    }

    package func join() { pthread_join(thread, nil) }
}
