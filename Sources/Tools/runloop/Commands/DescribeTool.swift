// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RunLoops

/// The command `runloop describe`, which prints the dump of a small loop with an item of every kind.
struct DescribeTool: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "describe",
        abstract: "Prints the dump() of a small loop that has an item of every kind.")

    func run() throws { try MainActor.assumeIsolated { try describe() } }

    @MainActor
    private func describe() throws {
        let loop = RunLoop.main
        loop.addCommonMode(.tracking)

        let clock = RunLoop.Timer.mainActor(.every(.seconds(1)), tolerance: .milliseconds(100), label: "clock") { _ in }
        let alarm = RunLoop.Timer.mainActor(.after(.seconds(60)), label: "alarm") { _ in }
        let inbox = RunLoop.Source.mainActor(order: 1, label: "inbox") { _ in }
        let input = RunLoop.DescriptorSource.mainActor(0, label: "standard input") { _, _ in }
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

        Output.text(loop.detailedDescription())
        for item in [pool, commit, clock, inbox, alarm, input] as [RunLoop.Item] { item.invalidate() }
    }
}
