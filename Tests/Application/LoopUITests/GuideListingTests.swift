// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import LoopUI
import LoopUITesting
import RunLoopsTestSupport
import Testing

/// Each program that the guide teaches for LoopUI, unchanged, on a virtual display and in virtual time.
@MainActor @Suite struct GuideListingTests {
    nonisolated static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")

    @Test(.enabled(if: FileManager.default.fileExists(atPath: root.appending(path: "Snippets").path)))
    func `Each listing that the tests run is the listing of the guide`() throws {
        let files = ["LoopUITests/GuideListings.swift", "LoopUITerminalPrograms/EditorListing.swift"]
        let listings = try files.flatMap { file in
            try String(contentsOf: Self.root.appending(path: "Tests/Application/\(file)"), encoding: .utf8)
                .split(separator: "\n// MARK: ").dropFirst()
        }.filter { $0.hasPrefix("Snippets/") || $0.hasPrefix("Sources/") || $0.hasPrefix("Examples/") }
        #expect(listings.count == 8)
        for listing in listings {
            let lines = listing.split(separator: "\n")
            let path = String(try #require(lines.first))
            let guide = try String(contentsOf: Self.root.appending(path: path), encoding: .utf8).split(separator: "\n")
                .prefix { !$0.hasPrefix("try TestApplication") && !$0.hasPrefix("do {") }
                .filter { !$0.hasPrefix("import ") && !$0.contains("// snippet.") && $0 != "#if Window" }
                // The first lines of a snippet say what it is.
                .drop { $0.hasPrefix("// ") }
                .map { String($0).replacing("@main final class", with: "final class") }
            // Without the enumeration around it, which sets it in.
            let own = lines.dropFirst(2).dropLast().map { String($0) }
            #expect(Self.withoutSpaces(own) == Self.withoutSpaces(guide), "\(path)")
        }
    }

    private static func withoutSpaces(_ lines: [String]) -> String { lines.joined().filter { !$0.isWhitespace } }

    private func run(_ delegate: any ApplicationDelegate, _ body: @MainActor (TestApplication) throws -> Void) throws {
        try TestApplication.with(size: Size(width: 50, height: 12), delegate: delegate, body)
    }

    @Test func `The list of things to do adds and removes things`() throws {
        try run(UIToDo.Program()) { app in
            #expect(app.text.contains("Buy milk") && app.text.contains("To do: 2"))
            app.type("Test it")
            app.press(.enter)
            #expect(app.text.contains("Test it") && app.text.contains("To do: 3"))
        }
    }

    @Test func `The clock of the progress program counts seconds of virtual time, also during a drag`() throws {
        try run(UIProgress.Program()) { app in
            #expect(app.text.contains("0 s"))
            app.advance(by: .seconds(5))
            #expect(app.text.contains("5 s"))
            app.waitForOtherThreads { app.text.contains("line 3") }
            app.play(.drag(from: Point(x: 5, y: 8), to: Point(x: 5, y: 3), lasting: .seconds(3)))
            #expect(app.text.contains("8 s"))
        }
    }

    @Test func `The slow table shows its rows, and its question has an answer that was prepared`() throws {
        try run(UISlowTable.Program()) { app in
            app.advance(by: .seconds(1))
            #expect(app.text.contains("steps"))
            app.press(.down, .enter)
            app.advance(by: .seconds(1))
            #expect(app.text.contains("was chosen"))
            app.send(.key(KeyInput(.escape)), after: .milliseconds(100))
            app.press(.character("q"))
            app.advance(by: .seconds(1))
            #expect(app.application.state == .active && !app.text.contains("Leave the table?"))
            app.send(.key(KeyInput(.enter)), after: .milliseconds(100))
            app.press(.character("q"))
            app.advance(by: .seconds(1))
            #expect(app.application.state == .notRunning)
        }
    }

    @Test func `The greeter greets`() throws {
        try run(UITerminalProgram.Program()) { app in
            app.type("Ada")
            app.press(.enter)
            #expect(app.text.contains("1: hello, Ada!"))
        }
    }

    @Test func `The program in a window greets`() throws {
        try run(UIWindowProgram.Program()) { app in #expect(app.text.contains("Hello from a window.")) }
    }

    @Test(.limited, arguments: [("echo Milk >", "Milk"), ("exit 3 #", "exit 3 #: exited(3)")])
    func `The note shows what the user's editor has written, or how the editor has ended`(editor: String, shown: String)
        throws
    {
        let program = Process()
        let folder = try #require(Bundle.main.executableURL).deletingLastPathComponent()
        program.executableURL = folder.appending(path: "LoopUITerminalPrograms")
        program.arguments = ["editor", shown]
        program.environment = ProcessInfo.processInfo.environment.merging(["EDITOR": editor]) { $1 }
        let output = Pipe()
        program.standardOutput = output
        try program.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        program.waitUntilExit()
        #expect(text == "shown: \(shown)\n")
    }

    @Test func `The box follows a drag and returns after two taps`() throws {
        try TestApplication.with { app in
            let controller = UITesting.BoxController()
            app.show(controller)
            app.play(.drag(from: Point(x: 5, y: 2), to: Point(x: 25, y: 10), lasting: .seconds(3)))
            #expect(controller.box.frame.origin == Point(x: 22, y: 9))
            app.tap(at: Point(x: 60, y: 20), count: 2)
            #expect(controller.box.frame.origin == Point(x: 2, y: 1))
        }
    }

    @Test func `The counter of the tutorial shows its hint after a second of virtual time`() throws {
        try run(TerminalTutorial.Program()) { app in
            app.press(.enter)
            #expect(app.text.contains("Pressed: 1") && !app.text.contains("The key q"))
            app.advance(by: .seconds(1))
            #expect(app.text.contains("The key q ends the program."))
            app.press(.character("q"))
            #expect(app.application.state == .notRunning)
        }
    }
}
