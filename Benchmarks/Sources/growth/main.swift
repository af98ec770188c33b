// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Does one operation to each of n items, for Benchmarks/growth to count the instructions:
//
//   growth              the names of the operations
//   growth NAME N

internal import RunLoops

/// The function between whose beginning and end callgrind counts.
@inline(never)
func counted(_ body: () -> Void) { body() }

let words = CommandLine.arguments.dropFirst()
if words.isEmpty {
    for operation in Operation.all { print(operation.name) }
} else if let operation = Operation.all.first(where: { $0.name == words.first }),
    let count = words.last.flatMap({ Int($0) })
{
    counted(operation.prepare(RunLoop.current, count))
} else {
    fatalError("growth NAME N: \(words.joined(separator: " "))")
}
