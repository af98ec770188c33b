// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// A recording as it travels from the recorded process: numbers in text, and each name once.
///
/// A line is an event: a letter for its kind, its time since the line before, its depth and what belongs to the kind.
/// `s` and a text is not one: it gives the text the next number.
enum TraceTransfer {
    /// The loops that have events.
    static func contents(_ trace: RunLoop.Trace) -> String {
        var json = JSONWriter()
        json.open("{")
        json.name("program")
        json.value(trace.program)
        json.name("loopsNotRecorded")
        json.value(Int64(trace.loopsNotRecorded))
        json.name("loops")
        json.open("[")
        for loop in trace.loops {
            json.open("{")
            json.name("thread")
            json.value(Int64(loop.thread))
            json.name("name")
            json.value(loop.name)
            json.name("main")
            json.value(loop.isMain ? 1 : 0)
            json.name("lost")
            json.value(Int64(loop.lost))
            json.close("}")
        }
        json.close("]")
        json.close("}")
        return json.text
    }

    /// What ``contents(_:)`` has written, without events.
    static func trace(_ json: JSON, process: Int32) -> RunLoop.Trace? {
        guard let program = json["program"]?.string, let loops = json["loops"]?.array else { return nil }
        var trace = RunLoop.Trace(
            process: process, program: program, loops: [],
            loopsNotRecorded: Int(json.integer("loopsNotRecorded") ?? 0))
        for loop in loops {
            guard let thread = loop.integer("thread"), let name = loop["name"]?.string else { return nil }
            trace.loops.append(
                RunLoop.Trace.Loop(
                    thread: Int32(truncatingIfNeeded: thread), name: name, isMain: loop.integer("main") == 1,
                    events: [], lost: Int(loop.integer("lost") ?? 0)))
        }
        return trace
    }

    // MARK: Events

    static func encode(_ events: [RunLoop.Trace.Event]) -> [UInt8] {
        var encoder = Encoder()
        for event in events { encoder.add(event) }
        return encoder.bytes
    }

    private struct Encoder {
        var bytes: [UInt8] = []
        private var texts: [String: Int64] = [:]
        private var last: Int64 = 0

        mutating func add(_ event: RunLoop.Trace.Event) {
            switch event.kind {
            case .runBegan(let mode): line("r", event, [number(mode.rawValue)])
            case .passed(let activity): line("p", event, [Int64(truncatingIfNeeded: activity.rawValue)])
            case .calloutBegan(let callee, let label): line("c", event, [Int64(callee.rawValue), number(label)])
            case .wanted(let wait):
                line("w", event, [wait.since, Int64(wait.thread), wait.tolerance, wait.interval])
            case .calloutEnded: line("e", event, [])
            case .woke(let waking):
                line(
                    "k", event,
                    [Int64(waking.cause.rawValue), waking.asleepSince, waking.calledAt, Int64(waking.thread)])
            case .runEnded(let result): line("x", event, [Int64(result.rawValue)])
            }
        }

        private mutating func line(_ letter: Character, _ event: RunLoop.Trace.Event, _ numbers: [Int64]) {
            bytes += String(letter).utf8
            for number in [event.time &- last, Int64(event.depth)] + numbers {
                bytes.append(UInt8(ascii: " "))
                bytes += String(number).utf8
            }
            bytes.append(UInt8(ascii: "\n"))
            last = event.time
        }

        /// The text's number; a new one is written first.
        private mutating func number(_ text: String) -> Int64 {
            if let known = texts[text] { return known }
            let number = Int64(texts.count)
            texts[text] = number
            bytes += "s ".utf8
            bytes += text.utf8.map { $0 == UInt8(ascii: "\n") ? UInt8(ascii: " ") : $0 }
            bytes.append(UInt8(ascii: "\n"))
            return number
        }
    }

    /// What ``encode(_:)`` has written; `nil` for anything else.
    static func decode(_ bytes: [UInt8]) -> [RunLoop.Trace.Event]? {
        var events: [RunLoop.Trace.Event] = []
        var texts: [String] = []
        var last: Int64 = 0
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            if line.starts(with: "s ".utf8) {
                texts.append(String(decoding: line.dropFirst(2), as: UTF8.self))
                continue
            }
            var numbers: [Int64] = []
            for word in line.dropFirst(2).split(separator: UInt8(ascii: " ")) {
                guard let number = Int64(String(decoding: word, as: UTF8.self)) else { return nil }
                numbers.append(number)
            }
            guard let letter = line.first, numbers.count >= 2, let kind = kind(letter, numbers[2...], texts) else {
                return nil
            }
            last &+= numbers[0]
            events.append(RunLoop.Trace.Event(time: last, depth: Int(truncatingIfNeeded: numbers[1]), kind: kind))
        }
        return events
    }

    private static func kind(_ letter: UInt8, _ numbers: ArraySlice<Int64>, _ texts: [String]) -> RunLoop.Trace.Event
        .Kind?
    {
        let numbers = Array(numbers)
        func text(_ index: Int64) -> String? { texts.indices.contains(Int(index)) ? texts[Int(index)] : nil }
        switch (Character(UnicodeScalar(letter)), numbers.count) {
        case ("r", 1): return text(numbers[0]).map { .runBegan(RunLoop.Mode($0)) }
        case ("p", 1): return .passed(RunLoop.Activities(rawValue: UInt(truncatingIfNeeded: numbers[0])))
        case ("c", 2):
            guard let callee = RunLoop.Trace.Event.Callee(rawValue: UInt8(truncatingIfNeeded: numbers[0])),
                let label = text(numbers[1])
            else { return nil }
            return .calloutBegan(callee, label)
        case ("w", 4):
            return .wanted(
                RunLoop.Trace.Event.Wait(
                    since: numbers[0], thread: Int32(truncatingIfNeeded: numbers[1]), tolerance: numbers[2],
                    interval: numbers[3]))
        case ("e", 0): return .calloutEnded
        case ("k", 4):
            guard let cause = RunLoop.Trace.Event.Waking.Cause(rawValue: UInt8(truncatingIfNeeded: numbers[0])) else {
                return nil
            }
            return .woke(
                RunLoop.Trace.Event.Waking(
                    cause: cause, asleepSince: numbers[1], calledAt: numbers[2],
                    thread: Int32(truncatingIfNeeded: numbers[3])))
        case ("x", 1):
            return RunLoop.RunResult(rawValue: Int(truncatingIfNeeded: numbers[0])).map { .runEnded($0) }
        default: return nil
        }
    }
}
