// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import LoopUITesting
import RunLoops
import Testing

/// The loop of an application, as its description shows it, against the dump of a real main loop.
@MainActor @Suite struct MainLoopTests {
    /// The items of the dump in [000] that every application has, with Core Foundation's numbers of the activities.
    private static let dump = """
        CFRunLoopSource {order =-1, {
        callout = _UIApplicationHandleEventQueue}}
        CFRunLoopObserver {order = -2147483647, activities = 0x1, // Entry
        callout = _wrapRunLoopWithAutoreleasePoolHandler}
        CFRunLoopObserver {order = 0, activities = 0x20, // BeforeWaiting
        callout = _UIGestureRecognizerUpdateObserver}
        CFRunLoopObserver {order = 1999000, activities = 0xa0, // BeforeWaiting | Exit
        callout = _afterCACommitHandler}
        CFRunLoopObserver {order = 2000000, activities = 0xa0, // BeforeWaiting | Exit
        callout = _ZN2CA11Transaction17observer_callbackEP19__CFRunLoopObservermPv}
        CFRunLoopObserver {order = 2147483647, activities = 0xa0, // BeforeWaiting | Exit
        callout = _wrapRunLoopWithAutoreleasePoolHandler}
        """

    private static let activityNumbers = ["entry": 0x1, "beforeWaiting": 0x20, "exit": 0x80]

    /// The dump's names of callouts, by the labels of the items here.
    private static let callouts = [
        "handleEventQueue": "_UIApplicationHandleEventQueue",
        "release pool opens": "_wrapRunLoopWithAutoreleasePoolHandler",
        "gestures": "_UIGestureRecognizerUpdateObserver",
        "after commit": "_afterCACommitHandler",
        "transaction": "_ZN2CA11Transaction17observer_callbackEP19__CFRunLoopObservermPv",
        "release pool empties": "_wrapRunLoopWithAutoreleasePoolHandler",
    ]

    /// The order, the activities and the callout of an observer; of a source, without activities.
    private struct Line: Hashable, CustomStringConvertible {
        let order: Int
        let activities: Int
        let callout: String
        var description: String { "\(order) 0x\(String(activities, radix: 16)) \(callout)" }
    }

    private static var dumped: [Line] {
        dump.matches(of: /order ?= ?(-?\d+),(?: activities = 0x([0-9a-f]+))?[^\n]*\ncallout = (\w+)/).map {
            Line(order: Int($0.1) ?? 0, activities: $0.2.flatMap { Int($0, radix: 16) } ?? 0, callout: String($0.3))
        }
    }

    /// The lines of one mode in a description.
    private func section(_ mode: String, of text: String) -> [Substring] {
        let lines = text.split(separator: "\n")
        guard let start = lines.firstIndex(where: { $0.hasPrefix("    \(mode)") }) else { return [] }
        return Array(lines[(start + 1)...].prefix { $0 != "    }" })
    }

    /// The sources and observers among the lines of a description, as the dump has them.
    private func items(_ lines: [Substring]) -> [Line] {
        lines.compactMap { line in
            line.firstMatch(of: /<RunLoop.\w+ (.*)>{valid, (?:\[(.*)\], )?order (-?\d+)/).map { match in
                let names = match.2?.split(separator: ", ") ?? []
                return Line(
                    order: Int(match.3) ?? 0,
                    activities: names.reduce(0) { $0 | (Self.activityNumbers[String($1)] ?? 0x1000) },
                    callout: Self.callouts[String(match.1)] ?? String(match.1))
            }
        }
    }

    @Test(arguments: ["kCFRunLoopDefaultMode", "UITrackingRunLoopMode"])
    func `The source and the observers have the same orders, activities and callouts as UIKit's`(mode: String) throws {
        try withProbe { app, _, _ in
            let text = app.application.loop.detailedDescription()
            #expect(Self.dumped.count == 6)
            #expect(items(section(mode, of: text)) == Self.dumped)
            #expect(text.contains("common modes = {kCFRunLoopDefaultMode, UITrackingRunLoopMode}"))
        }
    }

    /// [000]: in the initialization mode stands the transaction's observer alone.
    @Test func `The initialization mode contains only the commit's observer`() throws {
        try withProbe { app, _, _ in
            let lines = section("UIInitializationRunLoopMode", of: app.application.loop.detailedDescription())
            #expect(items(lines) == Self.dumped.filter { $0.order == 2_000_000 })
            #expect(lines.contains("      sources = (none)"))
        }
    }

    @Test func `The common items are in each common mode, and an idle application has no timer`() throws {
        try withProbe { app, view, _ in
            for recognizer in [TapGestureRecognizer(), LongPressGestureRecognizer()] as [GestureRecognizer] {
                view.addGestureRecognizer(recognizer)
            }
            app.tap(at: Point(1, 1))
            app.advance(by: .seconds(1))
            let text = app.application.loop.detailedDescription()
            for mode in ["kCFRunLoopDefaultMode", "UITrackingRunLoopMode"] {
                let lines = section(mode, of: text)
                #expect(lines.contains("      timers = (none)"))
                // The items of modes stand further to the right.
                let common = text.split(separator: "\n").filter { $0.hasPrefix("    <RunLoop.") }
                #expect(common.count == 6)
                for item in common { #expect(lines.contains("    \(item)"), "\(item) in \(mode)") }
            }
        }
    }

    @Test func `A terminated application leaves no item in the loop`() throws {
        try withProbe { app, _, _ in
            app.application.terminate()
            let text = app.application.loop.detailedDescription()
            #expect(!text.contains("RunLoop.Source") && !text.contains("RunLoop.Timer"))
            #expect(items(text.split(separator: "\n")) == [])
        }
    }

    // MARK: Modes

    /// [004]: 即将退出 default, 即将进入 tracking, 即将退出 tracking, 即将进入 default.
    @Test func `Pushing or popping a mode ends the present run and never nests another run in it`() throws {
        try withProbe { app, view, _ in
            let application = app.application
            let log = Log()
            var depth = 0
            let observer = RunLoop.Observer([.entry, .exit], order: 0, label: "modes") { observer, activity in
                MainActor.assumeIsolated {
                    depth += activity == .entry ? 1 : -1
                    log.add("\(activity == .entry ? "entry" : "exit") \(RunLoop.current.currentMode!) \(depth)")
                }
            }
            application.loop.add(observer, in: .common)
            view.whenTouched = { touch in
                if touch.phase == .began { application.modes.push(.tracking) }
                if touch.phase == .ended { application.modes.pop(.tracking) }
            }
            var ticks = (waiting: 0, common: 0)
            let waiting = RunLoop.Timer(.every(.milliseconds(100))) { _ in ticks.waiting += 1 }
            let common = RunLoop.Timer(.every(.milliseconds(100))) { _ in ticks.common += 1 }
            application.loop.add(waiting, in: .default)
            application.loop.add(common, in: .common)
            let finger = RunLoop.Timer(.after(.milliseconds(50))) { _ in
                app.display.push(.pointer(PointerInput(.began, at: Point(1, 1))))
            }
            let lift = RunLoop.Timer(.after(.milliseconds(3_050))) { _ in
                #expect(ticks.waiting == 0 && ticks.common == 30)
                app.display.push(.pointer(PointerInput(.ended, at: Point(1, 1))))
            }
            for timer in [finger, lift] { application.loop.add(timer, in: .common) }
            app.advance(by: .milliseconds(4_010))
            let (normal, tracking) = ("kCFRunLoopDefaultMode", "UITrackingRunLoopMode")
            #expect(
                log.take() == [
                    "entry \(normal) 1", "exit \(normal) 0", "entry \(tracking) 1", "exit \(tracking) 0",
                    "entry \(normal) 1", "exit \(normal) 0",
                ])
            // The dates that passed while the mode was another one have become one.
            #expect(ticks.waiting == 11 && ticks.common == 40)
            waiting.invalidate()
            common.invalidate()
            observer.invalidate()
        }
    }

    @Test func `A mode pushed twice ends with the second pop, and a pop without a push has no effect`() throws {
        try withProbe { app, _, _ in
            let modes = app.application.modes
            modes.pop(.tracking)
            modes.pop(.default)
            #expect(modes.current == .default)
            modes.push(.tracking)
            modes.push(.tracking)
            modes.pop(.tracking)
            #expect(modes.current == .tracking)
            modes.pop(.tracking)
            #expect(modes.current == .default)
        }
    }
}
