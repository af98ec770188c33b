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

/// The names of the process's threads, without those that Dispatch, Swift and Swift Testing keep.
///
/// The threads of their pools begin and end at times of their own: a thread that has been idle for some seconds ends. A count of all
/// threads of a process compares them too. The threads of the library have names; those of Swift's pool have the name of the process.
package func namesOfOwnThreads() -> [String] {
    let names = namesOfEntries("/proc/self/task").map { firstLine("/proc/self/task/\($0)/comm") }
    let process = firstLine("/proc/self/comm")
    return names.filter { $0 != process && $0 != "" && !$0.contains("qos") && !$0.hasPrefix("SWT ") }.sorted()
}

/// The names in a directory that do not begin with a dot.
package func namesOfEntries(_ path: String) -> [String] {
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        if name.first != "." { names.append(name) }
    }
    return names
}

/// The first line of a file, up to 4096 bytes; empty if there is no such file.
package func firstLine(_ path: String) -> String {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return "" }
    defer { close(file) }
    return String(readText(file).prefix { $0 != "\n" })
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
