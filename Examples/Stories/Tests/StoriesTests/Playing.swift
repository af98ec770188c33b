// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import LoopUI
import LoopUITesting
import StoriesScreens
import Testing

/// A story on the synthetic display, played by the test.
@MainActor struct Playing {
    let app: TestApplication
    let delegate: StoriesDelegate

    /// Launches the program, and chooses a story by its number.
    static func with<Result>(
        _ number: Int, size: Size = Size(80, 24), abilities: DisplayAbilities? = nil,
        _ body: @MainActor (Playing) throws -> Result
    ) throws -> Result {
        let delegate = StoriesDelegate()
        return try TestApplication.with(size: size, delegate: delegate) { app in
            if let abilities {
                app.display.abilities = abilities
                app.application.theme = Theme(for: abilities)
            }
            app.settle()
            app.type("\(number % 10)")
            return try body(Playing(app: app, delegate: delegate))
        }
    }

    /// The rows of the screen.
    var rows: [String] { app.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) }

    /// The first cell of a text on the screen.
    func place(of text: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> Point {
        for (y, row) in rows.enumerated() {
            if let range = row.range(of: text) {
                return Point(Double(row.distance(from: row.startIndex, to: range.lowerBound)), Double(y))
            }
        }
        Issue.record("\(text) is not on the screen:\n\(app.text)", sourceLocation: sourceLocation)
        throw CancellationError()
    }

    func tap(_ text: String) throws { app.tap(at: try place(of: text) + Point(1, 0)) }

    /// Moves the focus by keys until it is on a text, and presses a key there.
    func press(_ key: Key, on text: String) throws {
        let place = try place(of: text)
        for _ in 0..<10 {
            let focused = try #require(app.application.keyWindow?.firstResponder as? View)
            if focused is Control, focused.convert(focused.bounds, to: nil).contains(place) { return app.press(key) }
            app.press(.tab)
        }
        Issue.record("\(text) does not get the focus:\n\(app.text)")
    }

    /// The row with a text.
    func row(of text: String) throws -> String { rows[Int(try place(of: text).y)] }

    /// How many pictures were asked for, made and set, as the screen says.
    var pictures: [Int] { get throws { try ["asked", "made", "set"].map { try number(before: $0) } } }

    /// How often the loop's thread was woken by something.
    var wakeUps: Int { get throws { try #require(delegate.watch).book.wakeUps } }

    /// Lets virtual time pass, a little at a time, until another thread has done its part.
    func wait(until isDone: () throws -> Bool, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let deadline = ContinuousClock.now + .seconds(300)
        while try !isDone() {
            guard ContinuousClock.now < deadline else {
                Issue.record("This took too long:\n\(app.text)", sourceLocation: sourceLocation)
                return
            }
            app.settle()
            usleep(1000)
        }
    }

    /// Whether a text is on the screen.
    func shows(_ text: String) -> Bool { app.text.contains(text) }

    /// The number before a word on the screen.
    func number(before word: String) throws -> Int {
        let match = try #require(app.text.firstMatch(of: Regex("([0-9]+) \(word)", as: (Substring, Substring).self)))
        return try #require(Int(match.1))
    }

    /// The screen without the lines of the log, which say how the test let time pass.
    private var withoutLog: [String] {
        get throws {
            let heading = Int(try place(of: " for this log").y)
            return rows.prefix(heading) + rows.filter { $0.contains("Tab  next") }
        }
    }

    /// Compares the screen with the one that was kept; `STORIES_RECORD=1` keeps it anew.
    func expectGolden(_ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "Golden/\(name).txt")
        let lines = try withoutLog.map { String($0.reversed().drop { $0 == " " }.reversed()) }
        let text = lines.joined(separator: "\n") + "\n"
        if ProcessInfo.processInfo.environment["STORIES_RECORD"] != nil {
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        let kept = try String(contentsOf: file, encoding: .utf8)
        #expect(text == kept, sourceLocation: sourceLocation)
    }
}
