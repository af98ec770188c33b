// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// The items of each mode of one loop, as in a trace's JSON; times in microseconds from the beginning of the trace.
struct LoopItemsReport: Sendable, JSONRecord {
    struct Item: Sendable, Equatable, JSONRecord {
        var kind = ""
        var label = ""
        var modes: [String] = []
        var isCommon = false
        var isClosed = false

        /// Whether both are the same item: two items with the same kind and label count as one, such as items made at
        /// one line of code without labels of their own.
        func isSame(as other: Item) -> Bool { kind == other.kind && label == other.label }

        static var fields: [JSONField<Self>] {
            [
                .init("kind", \.kind), .init("label", \.label), .init("modes", \.modes), .init("common", \.isCommon),
                .init("closed", \.isClosed),
            ]
        }
    }

    /// A signalled source or posted block that waits until something wakes the loop.
    struct Unserved: Sendable, JSONRecord {
        var kind = ""
        var label = ""
        var since = 0.0

        static var fields: [JSONField<Self>] {
            [.init("kind", \.kind), .init("label", \.label), .init("since", \.since)]
        }
    }

    struct Page: Sendable, JSONRecord {
        var time = 0.0
        var items: [Item] = []
        var unserved: [Unserved] = []

        static var fields: [JSONField<Self>] {
            [.init("time", \.time), .init("items", \.items), .init("unserved", \.unserved)]
        }
    }

    var thread = 0
    var modesRun: [String] = []
    /// The pages in the order of their times; the last page shows the end of the trace.
    var pages: [Page] = []
    /// How long the loop's host has not run the loop, although a timer is due.
    var hostOverdue = 0.0

    static var fields: [JSONField<Self>] {
        [
            .init("thread", \.thread), .init("modesRun", \.modesRun), .init("pages", \.pages),
            .init("hostOverdue", \.hostOverdue),
        ]
    }
}

extension LoopItemsReport {
    init(_ loop: RunLoop.Trace.Loop, origin: Int64) {
        func microseconds(_ time: Int64) -> Double { Double(time - origin) / 1000 }
        thread = Int(loop.thread)
        modesRun = loop.modesRun.map(\.rawValue)
        hostOverdue = Double(loop.hostOverdue ?? 0) / 1000
        pages = loop.pages.map { page in
            Page(
                time: microseconds(page.time),
                items: page.items.map {
                    Item(
                        kind: $0.kind.rawValue, label: $0.label, modes: $0.modes.map(\.rawValue), isCommon: $0.isCommon,
                        isClosed: $0.isClosed)
                },
                unserved: page.unserved.map {
                    Unserved(kind: $0.kind.rawValue, label: $0.label, since: microseconds($0.since))
                })
        }
    }
}
