// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import Testing

/// The map by descriptor against a dictionary.
@Suite(.ownThread) struct DescriptorMapTests {
    @Test func `An empty map contains nothing`() {
        let map = SharedMap()
        #expect(map[0] == nil)
        #expect(map.remove(3) == nil)
        #expect(map.all.isEmpty)
    }

    @Test func `A map can be filled again after removeAll`() {
        let map = SharedMap()
        for descriptor in 0..<100 { map[CInt(descriptor)] = UInt32(descriptor) }
        map.removeAll()
        #expect(map.count == 0)
        #expect(map[5] == nil)
        map[CInt.max] = 7
        #expect(map.all == [.max: 7])
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6]) func `Random operations match a dictionary`(seed: UInt64) {
        var random = SeededRandom(seed)
        let map = SharedMap()
        var model: [CInt: UInt32] = [:]
        // Neighbours, numbers that fall on one place, and far ones.
        let spread: [CInt] = [1, 8, 64, 1_000_003]
        for step in 0..<4000 {
            let descriptor = CInt.random(in: 0..<60, using: &random) * spread[Int.random(in: 0..<4, using: &random)]
            // Grows for the first half, shrinks for the second.
            if Int.random(in: 0..<8, using: &random) < (step < 2000 ? 5 : 2) {
                map[descriptor] = UInt32(step)
                model[descriptor] = UInt32(step)
            } else {
                expectTrue(
                    map.remove(descriptor) == model.removeValue(forKey: descriptor), "what was removed at \(step)")
            }
            expectTrue(map.count == model.count, "count at step \(step)")
            expectTrue(map[descriptor] == model[descriptor], "value at step \(step)")
            if random.oneIn(50) { #expect(map.all == model) }
        }
        for descriptor in model.keys { expectTrue(map[descriptor] == model[descriptor], "value at the end") }
    }
}

/// A map cannot be copied, which expectations do with what they look at.
private final class SharedMap {
    private var map = DescriptorMap<UInt32>()

    var count: Int { map.count }
    func remove(_ descriptor: CInt) -> UInt32? { map.remove(descriptor) }
    func removeAll() { map.removeAll() }

    subscript(descriptor: CInt) -> UInt32? {
        get { map[descriptor] }
        set { map[descriptor] = newValue }
    }

    var all: [CInt: UInt32] {
        var all: [CInt: UInt32] = [:]
        map.visit { all[$0] = $1 }
        return all
    }
}
