// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Tries the ends of numbers:
//
//   EndsPrograms               the names of the initialisers and setters
//   EndsPrograms NAME FIRST    tries one with each end, beginning with a number; says which before each
//
// An error that is thrown is an answer; so is a trap that says what to do.

import Glibc

let cases =
    loopCases + kitCases + eventCases + portCases + calendarCases + terminalCases + diagnosticsCases + geometryCases
    + viewCases
    + displayCases
let words = CommandLine.arguments.dropFirst()
if words.isEmpty {
    for name in cases.map(\.name).sorted() { print(name) }
} else if let tried = cases.first(where: { $0.name == words.first }), let first = words.last.flatMap({ Int($0) }) {
    for number in first..<max(first, tried.count) {
        print("end \(number)")
        fflush(nil)
        do { try tried.run(number) } catch { print("threw \(error)") }
    }
    print("done")
} else {
    fatalError("EndsPrograms NAME FIRST: \(words.joined(separator: " "))")
}
