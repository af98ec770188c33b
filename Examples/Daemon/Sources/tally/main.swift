// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Adds up readings: each file that comes into FOLDER/in becomes a file of sums in FOLDER/out.
//
//     tally FOLDER
//
// README.md says what the folder holds, and which commands standard input and the socket take.

import Glibc
import Logging
import RunLoops
import RunLoopsLog

// systemd sets JOURNAL_STREAM if standard error goes to the journal.
let journal = getenv("TALLY_JOURNAL").map { String(cString: $0) } ?? "/run/systemd/journal/socket"
LoggingSystem.bootstrap { label in
    if getenv("JOURNAL_STREAM") == nil { return StreamLogHandler.standardError(label: label) }
    return JournalLogHandler(label: label, path: journal)
}
let log = Logger(label: "tally")
do {
    guard CommandLine.arguments.count == 2 else { throw RunLoop.SystemCallError(call: "tally FOLDER", code: EINVAL) }
    try Daemon(folder: CommandLine.arguments[1], log).run()
} catch {
    log.critical("not started: \(error)")
    exit(EXIT_FAILURE)
}
