// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A small seeded generator of random numbers: the same seed always gives the same scenario, on every machine.
///
/// The standard library's own generator cannot be seeded, and a difference that cannot be reproduced cannot be
/// repaired.
/// The constants are those of the published SplitMix64 (Steele, Lea and Flood, 2014).
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    /// Makes a generator for scenario `number` of `seed`, so that one scenario can be made without the earlier ones.
    package init(seed: UInt64, number: Int) {
        var mixer = SplitMix64(seed: seed)
        let first = mixer.next()
        self.init(seed: first ^ (UInt64(truncatingIfNeeded: number) &* 0xD134_2543_DE82_EF95))
        _ = next()
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns true with a probability of `percent` in a hundred.
    package mutating func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &self) < percent
    }

    package mutating func upTo(_ most: Int) -> Int {
        most <= 0 ? 0 : Int.random(in: 0...most, using: &self)
    }

    /// One of `values`, which must not be empty.
    package mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &self)]
    }
}
