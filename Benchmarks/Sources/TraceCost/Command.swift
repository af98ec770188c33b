// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

/// Does what the last two arguments say, an operation and how often, and prints what one took.
public func runCommand(prepare: @escaping @Sendable (RunLoop) -> Void) {
    let words = CommandLine.arguments.suffix(2)
    guard let operation = words.first.flatMap(Operation.init(rawValue:)), let count = words.last.flatMap({ Int($0) })
    else {
        print("usage: … \(Operation.allCases.map(\.rawValue).joined(separator: "|")) COUNT")
        return
    }
    let (processor, clock) = operation.measure(count, prepare: prepare)
    print(processor, clock)
}
