// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The daemon `tally` on Foundation and Dispatch.
//
//     tally-foundation FOLDER

import Foundation

/// A line of the log: with the priority in front, which systemd takes from standard error.
func log(_ priority: Priority, _ text: String) {
    FileHandle.standardError.write(Data("<\(priority.rawValue)>\(text)\n".utf8))
}

enum Priority: Int {
    case critical = 2
    case error, warning, notice, info
}

guard CommandLine.arguments.count == 2 else {
    log(.critical, "usage: tally-foundation FOLDER")
    exit(EX_USAGE)
}
do {
    try Daemon(folder: CommandLine.arguments[1]).run()
} catch {
    log(.critical, "not started: \(error)")
    exit(EXIT_FAILURE)
}
