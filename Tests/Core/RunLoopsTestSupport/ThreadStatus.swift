// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
package import RunLoops

/// What the kernel says of one of the process's threads under that name, as `State:`.
package func threadStatus(_ thread: Int32, _ name: String) -> String? {
    let file = open("/proc/self/task/\(thread)/status", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    for line in readText(file).split(separator: "\n") where line.hasPrefix(name) {
        return String(line.dropFirst(name.count).drop { $0 == "\t" || $0 == " " })
    }
    return nil
}

/// How often the kernel has put the thread to sleep, as the thread asked.
package func sleeps(ofThread thread: Int32) -> Int {
    threadStatus(thread, "voluntary_ctxt_switches:").flatMap { Int($0) } ?? -1
}

/// Waits until the loop's thread is in the sleep of its loop, and not on its way there.
///
/// A test that forks beside a loop waits for that: a thread on its way may be looking a type up for the first time, under a
/// lock of the Swift runtime, which a child would have for ever.
package func waitUntilAtRest(_ loop: RunLoop) {
    waitUntil { loop.isWaiting && threadStatus(loop.threadID, "State:")?.hasPrefix("S") == true }
}
