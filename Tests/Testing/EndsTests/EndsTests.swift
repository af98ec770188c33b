// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport
import Testing

private let program = BuiltPrograms.path("EndsPrograms")

/// What a shell command prints, with its errors.
private func shell(_ command: String) throws -> String {
    try TestThread.run {
        let stream = try #require(popen("exec 2>&1; \(command)", "re"))
        var bytes: [UInt8] = []
        while case let byte = fgetc(stream), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
        pclose(stream)
        return String(decoding: bytes, as: UTF8.self)
    }
}

private let names: [String] =
    (try? program.map { try shell("'\($0)'").split(separator: "\n").map(String.init) }) ?? []

/// Every initialiser and setter that takes a number or a duration, with the ends of its type.
///
/// A program of its own says what happens. That takes a minute of both processors, which the gate has not.
@Suite(.ownThread, .enabled(if: program != nil && isThorough)) struct EndsTests {
    /// What the standard library says by itself: there is no word of what to do instead.
    private static let wordless = [
        "overflow", "Index out of range", "out of range", "cannot be converted", "Double value", "Not enough bits",
        "Negative value", "Unexpectedly found nil", "Range requires", "Can't form Range", "negative count",
        "Simultaneous accesses",
    ]

    @Test(arguments: names) func `A number at the limit of its type is accepted, or the trap says what to do`(
        name: String
    ) throws {
        let program = try #require(program)
        var first = 0
        while true {
            let said = try shell("timeout -s KILL 120 '\(program)' '\(name)' \(first)")
            if said.hasSuffix("done\n") { return }
            let lines = said.split(separator: "\n").map(String.init)
            let last = lines.last { $0.hasPrefix("end ") }.flatMap { Int($0.dropFirst(4)) }
            let marks = ["Fatal error: ", "Precondition failed: "]
            let text = marks.compactMap { mark in lines.lazy.compactMap { $0.after(mark) }.first }.first ?? ""
            let isHelp = text.contains(" ") && !Self.wordless.contains { text.contains($0) }
            #expect(isHelp, "\(name), end \(last ?? first): \(said.suffix(600))")
            first = (last ?? first) + 1
        }
    }
}

extension String {
    /// What stands behind a mark; nil if it is not there.
    fileprivate func after(_ mark: String) -> String? { firstRange(of: mark).map { String(self[$0.upperBound...]) } }
}
