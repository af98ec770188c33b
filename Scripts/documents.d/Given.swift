// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Declarations that the code in documentation comments uses without making them. Compiled with it by Scripts/documents.

import LoopUI
import RunLoops
import RunLoopsKit

let loop = RunLoop.current
let audioThread = try! RunLoopThread(name: "audio")

/// Something that adds a timer to the current loop and counts its fires.
final class Ticker {
    private(set) var ticks = 0

    init(every interval: Duration) {
        RunLoop.current.add(RunLoop.Timer(.every(interval)) { [weak self] _ in self?.ticks += 1 }, in: .default)
    }
}

/// Something that any thread may send to.
final class Inbox: Sendable {
    let count = 0

    init(on loop: RunLoop) {}
    func send(_ text: String) {}
}

/// An application's own parts.
@MainActor let view = View()
@MainActor let table = TableView()
@MainActor let controller = ViewController()
@MainActor final class Program: ApplicationDelegate {}
@MainActor let document = Document()

/// Something that can be saved.
@MainActor final class Document {
    func save() {}
    func delete() {}
}

/// A meter that a program moves itself, in step with the screen.
@MainActor var application: Application { Application.current! }
@MainActor let meter = Meter()

/// Something that shows a level.
@MainActor final class Meter {
    var value = 0.0
}
func level(at time: RunLoop.Instant) -> Double { 0 }

/// Somebody else's code, which sleeps.
final class Session: Sendable {
    let isExpired = true
    func expire() async {}
}

/// Long work, and what shows how far it has come.
@MainActor let bar = ProgressView()
let files = ["a", "b"]
func compress(_ file: String) {}
