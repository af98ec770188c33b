// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Adds up readings: each file that comes into FOLDER/in becomes a file of sums in FOLDER/out.
//
//     tally FOLDER PORT
//
// README.md says what the folder holds, and which commands the port and standard input take.

import Glibc
import Logging
import RunLoopsLog

func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

// systemd sets JOURNAL_STREAM if standard error goes to the journal.
let journal = variable("TALLY_JOURNAL") ?? variable("JOURNAL_STREAM").map { _ in "/run/systemd/journal/socket" }
LoggingSystem.bootstrap { label in
    guard let journal else { return StreamLogHandler.standardError(label: label) }
    return JournalLogHandler(label: label, path: journal)
}
let log = Logger(label: "tally")

guard CommandLine.arguments.count == 3 else {
    log.critical("usage: tally FOLDER PORT")
    exit(EX_USAGE)
}
do {
    try Daemon(folder: CommandLine.arguments[1], portName: CommandLine.arguments[2], log).run()
} catch {
    log.critical("not started: \(error)")
    exit(EXIT_FAILURE)
}
