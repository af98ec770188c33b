// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
/// Parts of a picture, few enough to be sent to a compositor that does not read.
struct DamagedArea: Hashable {
    private(set) var areas: [PixelRect] = []

    /// The maximum number of parts; beyond it, one rectangle around all of them is kept.
    static let maxAreas = 64

    init(_ areas: [PixelRect] = []) {
        for area in areas { insert(area) }
    }

    var isEmpty: Bool { areas.isEmpty }

    mutating func insert(_ area: PixelRect) {
        if area.width <= 0 || area.height <= 0 || areas.contains(area) { return }
        areas.append(area)
        if areas.count <= Self.maxAreas { return }
        let (left, top) = (areas.map(\.x).min() ?? 0, areas.map(\.y).min() ?? 0)
        let (right, bottom) = (areas.map { $0.x + $0.width }.max() ?? 0, areas.map { $0.y + $0.height }.max() ?? 0)
        areas = [PixelRect(x: left, y: top, width: right - left, height: bottom - top)]
    }

    mutating func formUnion(_ other: DamagedArea) {
        for area in other.areas { insert(area) }
    }
}
#endif
