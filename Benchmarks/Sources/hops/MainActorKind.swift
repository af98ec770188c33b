// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What the main actor of a process is on.
enum MainActorKind: String, CaseIterable {
    /// libdispatch's main queue, served by any of its threads, as a queue is: with a queue it may share one, with a
    /// loop it cannot.
    case dispatch = "main actor"
    /// The same queue, served by the main loop on the main thread.
    case adopted = "main actor, adopted"
    /// The main loop's own executor.
    case onLoop = "main actor, on the loop"

    /// A pass in a process of its own.
    func measure(_ hops: Int) -> [Row] {
        guard let program = realpath("/proc/self/exe", nil) else { return [] }
        defer { free(program) }
        guard let stream = popen("'\(String(cString: program))' \(hops) '\(rawValue)'", "r") else { return [] }
        defer { pclose(stream) }
        var text: [UInt8] = []
        while true {
            let byte = fgetc(stream)
            if byte == EOF { break }
            text.append(UInt8(truncatingIfNeeded: byte))
        }
        return String(decoding: text, as: UTF8.self).split(separator: "\n").compactMap(Row.init)
    }
}
