// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import LoopUI
import LoopUITesting
import RunLoops
import RunLoopsDiagnostics
import StoriesScreens
import Testing

/// Recordings of stories, in virtual time.
///
/// Documentation/Pictures/draw makes pictures of the recordings in Golden.
@MainActor @Suite struct StoryTraceTests {
    @Test func `The launch, Ctrl-Z and the resumption match their recording`() throws {
        let delegate = RecordedDelegate()
        try TestApplication.with(delegate: delegate) { app in
            app.settle()
            app.press(.character("z"), modifiers: .control)
            app.send(.resumed)
            app.settle()
            try compare("1-launch", delegate.recording)
        }
    }

    @Test func `The story of the stuck timer matches its recording`() throws {
        try Playing.with(2) { story in
            try story.expectTrace("2-stuck-timer") {
                story.app.advance(by: .seconds(1))
                let place = try story.place(of: "row 6")
                story.app.play(.drag(from: place, to: place - Point(0, 6), lasting: .seconds(2), steps: 12))
                story.app.advance(by: .seconds(2))
            }
        }
    }

    @Test func `The story of a tap and a pan matches its recording`() throws {
        try Playing.with(3) { story in
            try story.expectTrace("3-tap-and-pan") {
                let place = try story.place(of: "Tap or pan me")
                story.app.tap(at: place)
                story.app.advance(by: .milliseconds(400))
                story.app.play(.drag(from: place, to: place + Point(6, 0)))
                story.app.advance(by: .milliseconds(100))
            }
        }
    }

    @Test func `The story of a commit matches its recording`() throws {
        try Playing.with(4) { story in
            try story.expectTrace("4-commit") {
                try story.tap("1 mark")
                story.app.advance(by: .milliseconds(100))
                try story.press(.enter, on: "10000 marks")
                story.app.advance(by: .milliseconds(100))
            }
        }
    }

    @Test func `The story of release pools matches its recording`() throws {
        try Playing.with(5) { story in
            try story.expectTrace("5-pools") {
                try story.tap("[ 1000 ]")
                story.app.advance(by: .milliseconds(100))
            }
        }
    }

    @Test func `The story of a waiting picture matches its recording`() throws {
        try Playing.with(6) { story in
            try story.wait { try story.pictures == [3, 3, 3] }
            let place = try story.place(of: "picture 1")
            // When the thread has made a picture is not known beforehand: neither the turn nor the time of its block.
            try story.expectTrace("6-picture", times: false, of: ["mode", "source", "block"]) {
                var script = TouchScript()
                script.add(.began, at: place)
                for row in 1...3 { script.add(.moved, at: place - Point(0, Double(row)), after: .milliseconds(200)) }
                story.app.play(script)
                try story.wait { try story.pictures == [4, 4, 3] }
                // A finger that rests does not throw the list.
                story.app.advance(by: .seconds(3))
                story.app.send(.pointer(PointerInput(.ended, at: place - Point(0, 3))))
                try story.wait { try story.pictures == [4, 4, 4] }
            }
        }
    }

    @Test func `The story of kinds of work matches its recording`() throws {
        try Playing.with(7) { story in
            try story.expectTrace("7-work") {
                try story.tap("[ Block ]")
                story.app.advance(by: .milliseconds(100))
                try story.tap("[ Source ]")
                story.app.advance(by: .milliseconds(100))
            }
        }
    }
}

/// Records the loop from the first call that the program gets.
@MainActor private final class RecordedDelegate: ApplicationDelegate {
    let recording = RunLoops.RunLoop.Recording(capacity: 16_384)
    private let stories = StoriesDelegate()

    func applicationWillFinishLaunching(_ application: Application) {
        recording.add(application.loop)
        stories.applicationWillFinishLaunching(application)
    }

    func applicationDidFinishLaunching(_ application: Application) {
        stories.applicationDidFinishLaunching(application)
    }

    func applicationDidBecomeActive(_ application: Application) {
        stories.applicationDidBecomeActive(application)
    }

    func applicationWillResignActive(_ application: Application) {
        stories.applicationWillResignActive(application)
    }

    func applicationDidEnterBackground(_ application: Application) {
        stories.applicationDidEnterBackground(application)
    }

    func applicationWillEnterForeground(_ application: Application) {
        stories.applicationWillEnterForeground(application)
    }
}

extension Playing {
    /// Records the loop while a story is played, and compares with the recording that was kept.
    func expectTrace(
        _ name: String, sourceLocation: SourceLocation = #_sourceLocation, times: Bool = true,
        of kinds: [String]? = nil,
        playing: () throws -> Void
    ) throws {
        let recording = RunLoops.RunLoop.Recording(capacity: 16_384)
        recording.add(.current)
        try playing()
        try compare(name, recording, times: times, of: kinds, sourceLocation: sourceLocation)
    }
}

/// Compares a recording with the one that was kept; `STORIES_RECORD=1` keeps it anew.
///
/// A line is the milliseconds since the beginning, what was done, and its mode or label, separated by tabs. The log of
/// the screen is left out.
///
/// - Parameters:
///   - times: Whether the milliseconds are the same each time; otherwise they are 0.
///   - kinds: What is done in the same order each time, of runs in one mode the first; `nil` for everything.
@MainActor private func compare(
    _ name: String, _ recording: RunLoops.RunLoop.Recording, times: Bool = true, of kinds: [String]? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    recording.stop()
    let loop = try #require(recording.trace().loops.first, sourceLocation: sourceLocation)
    #expect(loop.lost == 0, sourceLocation: sourceLocation)
    let start = try #require(loop.events.first, sourceLocation: sourceLocation).time
    var last: RunLoops.RunLoop.Mode?
    let lines = loop.events.compactMap { event -> String? in
        let (kind, what): (String, String)
        switch event.kind {
        case .runBegan(last) where kinds != nil: return nil
        case .runBegan(let mode):
            last = mode
            (kind, what) = ("mode", mode.rawValue)
        case .calloutBegan(let callee, let label) where label != "turn log": (kind, what) = ("\(callee)", label)
        case .woke(let waking): (kind, what) = ("woke", "\(waking.cause)")
        default: return nil
        }
        guard kinds?.contains(kind) ?? true else { return nil }
        return "\(times ? (event.time - start) / 1_000_000 : 0)\t\(kind)\t\(what)"
    }
    let text = lines.joined(separator: "\n") + "\n"
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden/\(name).tsv")
    if ProcessInfo.processInfo.environment["STORIES_RECORD"] != nil {
        return try text.write(to: file, atomically: true, encoding: .utf8)
    }
    let kept = try String(contentsOf: file, encoding: .utf8)
    #expect(text == kept, sourceLocation: sourceLocation)
}
