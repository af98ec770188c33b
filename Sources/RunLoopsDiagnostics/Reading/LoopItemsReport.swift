// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// What was in which mode of one loop, read back from a trace; times in microseconds from its beginning.
struct LoopItemsReport: Sendable {
    struct Item: Sendable, Hashable {
        var kind: String
        var label: String
        var modes: Set<String>
        var isCommon: Bool

        /// The same item elsewhere: two items that are made in one place, without their own labels, count as one item.
        func isSame(as other: Item) -> Bool { kind == other.kind && label == other.label }
    }

    struct Page: Sendable {
        var time: Double
        var items: [Item]
        var unserved: [(label: String, since: Double)]
    }

    var thread: Int
    var modesRun: Set<String>
    /// In the order of their times, the last that of the trace's end.
    var pages: [Page]

    init(_ json: JSON) {
        thread = Int(json["thread"]?.number ?? 0)
        modesRun = json["modesRun"].strings
        pages = (json["pages"]?.array ?? []).map { page in
            Page(
                time: page["time"]?.number ?? 0,
                items: (page["items"]?.array ?? []).map { item in
                    Item(
                        kind: item["kind"]?.string ?? "", label: item["label"]?.string ?? "",
                        modes: item["modes"].strings, isCommon: item["common"]?.number == 1)
                },
                unserved: (page["unserved"]?.array ?? []).map {
                    ($0["label"]?.string ?? "", $0["since"]?.number ?? 0)
                })
        }
    }
}

extension JSON? {
    fileprivate var strings: Set<String> { Set((self?.array ?? []).compactMap(\.string)) }
}
