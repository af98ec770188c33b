// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// `runloop describe`.
struct DescribeTool {
    static let usage = """
        OVERVIEW: A small loop with an item of every kind, as its debugDescription lists it.

        USAGE: runloop describe

        """

    /// Reads what follows the command's name: nothing.
    init(_ arguments: inout Arguments) throws {
        guard let word = arguments.next() else { return }
        if word == "--help" || word == "-h" { throw CommandEnd.help(Self.usage) }
        throw CommandEnd.misuse("unknown argument '\(word)'", Self.usage)
    }

    func run() throws {
        try MainActor.assumeIsolated { try Self.describe() }
    }

    @MainActor
    private static func describe() throws {
        let loop = RunLoop.main
        loop.addCommonMode(.tracking)

        let clock = RunLoop.Timer.mainActor(.every(.seconds(1)), tolerance: .milliseconds(100), label: "clock") { _ in }
        let alarm = RunLoop.Timer.mainActor(.after(.seconds(60)), label: "alarm") { _ in }
        let inbox = RunLoop.Source.mainActor(order: 1, label: "inbox") { _ in }
        let input = RunLoop.DescriptorSource.mainActor(STDIN_FILENO, label: "standard input") { _, _ in }
        let pool = RunLoop.Observer.mainActor(.entry, order: -2_147_483_647, label: "pool") { _, _ in }
        let commit = RunLoop.Observer.mainActor([.beforeWaiting, .exit], order: 2_000_000, label: "commit") { _, _ in }

        loop.add(pool, in: .common)
        loop.add(commit, in: .common)
        loop.add(clock, in: .common)
        loop.add(inbox, in: .common)
        loop.add(alarm, in: .default)
        try loop.add(input, in: .default)
        inbox.signal()
        RunLoop.performOnMainActor(in: .default) {}

        print(loop.debugDescription)
        for item in [pool, commit, clock, inbox, alarm, input] as [RunLoop.Item] { item.invalidate() }
    }
}
