// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops

/// What was asked of the daemon, and what it has done.
final class Ledger {
    struct File {
        let lines: Int
        /// Whether the daemon may have missed it: it was removed right after it was written.
        let isFleeting: Bool
        var conversions = 0
        /// How often the load has ended the conversion; the daemon gives a file up after the fifth time.
        var kills = 0
        var finalLines = 0
    }

    private(set) var files: [String: File] = [:]
    private(set) var commands: Set<String> = []
    private(set) var oldResults: Set<String> = []
    private(set) var counts: [String: Int] = [:]
    private(set) var surprises: [String] = []

    func ask(file name: String, lines: Int, isFleeting: Bool) {
        files[name] = File(lines: lines, isFleeting: isFleeting)
        count("files asked")
    }

    func ask(command: String) {
        commands.insert(command)
        count("commands asked")
    }

    func ask(removalOf name: String) {
        oldResults.insert(name)
        count("removals asked")
    }

    func count(_ what: String) { counts[what, default: 0] += 1 }

    /// Takes an answer: the command, a colon, the rest.
    func answered(_ text: String) {
        let command = String(text.prefix { $0 != ":" })
        if commands.remove(command) != nil { count("commands answered") } else { surprises.append("answer: \(text)") }
    }

    /// Takes a line of the daemon's log.
    func logged(_ message: String) {
        let words = message.split(separator: " ").map { String($0) }
        count("log lines")
        switch (words.first, words.dropFirst().first) {
        case ("converted", let name?):
            count("converted")
            if files[name] == nil { surprises.append(message) } else { files[name]?.conversions += 1 }
        case ("removed", let name?):
            if oldResults.remove(name) == nil { surprises.append(message) } else { count("removals done") }
        case ("reloaded:", _): count("reloads done")
        case ("kept", "house:"?): count("housekeeping")
        case ("changes", _): count("overflows")
        case (let name?, "says"?):
            count("lines of children")
            if message.hasSuffix(" readings") { files[name]?.finalLines += 1 }
        case (let name?, "again:"?):
            count("conversions tried again")
            files[name]?.kills += 1
        case ("failed", let name?)
        where files[String(name.dropLast())]?.kills == 4 && words.dropFirst(2).first?.hasPrefix("signalled") == true:
            count("given up after five kills")
            files[String(name.dropLast())]?.kills += 1
        default: count("other log lines")
        }
    }

    var isSettled: Bool {
        commands.isEmpty && oldResults.isEmpty && counts["reloads asked"] == counts["reloads done"]
            && files.values.allSatisfy { $0.isFleeting || $0.conversions > 0 || $0.kills == 5 }
    }

    /// How many files were gone before the daemon saw them, which is no loss.
    var unseen: Int { files.values.count { $0.isFleeting && $0.conversions == 0 } }

    /// What is wrong, each with its number; compares every result with what was written.
    func losses(in folder: String) -> [(what: String, count: Int)] {
        var found: [String: Int] = [:]
        for (name, file) in files {
            if file.conversions > 1 { found["files converted twice", default: 0] += 1 }
            if file.conversions == 0 {
                if !file.isFleeting && file.kills < 5 { found["files not converted", default: 0] += 1 }
                continue
            }
            if file.finalLines == 0 { found["last lines of children lost", default: 0] += 1 }
            let result = Figures.text("\(folder)/out/\(name)")
            let sum = file.lines * (file.lines - 1) / 2
            if result != "\(file.lines) \(sum)\n" { found["wrong results", default: 0] += 1 }
        }
        found["commands without an answer"] = commands.count
        found["old results not removed"] = oldResults.count
        found["reloads without a line"] = (counts["reloads asked"] ?? 0) - (counts["reloads done"] ?? 0)
        found["lines that nobody asked for"] = surprises.count
        for name in ["in", "taken", "failed"] {
            found["files left in \(name)"] = Figures.entries("\(folder)/\(name)").count
        }
        // Where the daemon keeps them for people to look at.
        found["files left in failed", default: 0] -= files.values.count { $0.kills == 5 }
        found["unfinished results"] = Figures.entries("\(folder)/out").filter { $0.hasPrefix(".") }.count
        return found.filter { $0.value != 0 }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
