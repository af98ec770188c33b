// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The number of loops that call a source's closure at this moment, the number of the source's signal, and whether the
/// source is invalid.
///
/// All of this is in one atomic word, so that a call of the closure needs no lock and no reference counting. While a
/// loop calls the closure, the closure belongs to that loop. The last loop that ends a call of an invalid source
/// releases the closure; the word shows which loop is the last.
struct CallWord: ~Copyable {
    private enum Bits {
        /// The bit of a signalled source; never set together with `invalid`.
        static let signalled: UInt64 = 1
        static let invalid: UInt64 = 2
        static let call: UInt64 = 4
        static let allCalls: UInt64 = 0xFFFC
        static let numberShift: UInt64 = 16
    }

    // Sequentially consistent: if a call begins while another thread makes the source invalid, at least one of the two
    // threads sees the other's change. And a source is marked as signalled before its places are looked at, see
    // SignalQueue.Place.enqueue.
    private let word = Atomic<UInt64>(0)

    init() {}

    // MARK: Signals

    var isSignalled: Bool { word.load(ordering: .sequentiallyConsistent) & Bits.signalled != 0 }

    /// The number of the signal; 0 if there is none.
    var signalNumber: UInt64 { word.load(ordering: .sequentiallyConsistent) >> Bits.numberShift }

    /// Sets the signal; returns false if it is set already, or the source is invalid.
    ///
    /// - Parameter makeNumber: Returns the number of the signal; not called if the signal is set already or the source
    ///   is invalid.
    func signal(_ makeNumber: () -> UInt64) -> Bool {
        var old = word.load(ordering: .relaxed)
        if old & (Bits.signalled | Bits.invalid) != 0 { return false }
        let number = makeNumber()
        while true {
            let (exchanged, found) = word.compareExchange(
                expected: old, desired: old | Bits.signalled | number << Bits.numberShift,
                ordering: .sequentiallyConsistent)
            if exchanged { return true }
            if found & (Bits.signalled | Bits.invalid) != 0 { return false }
            old = found
        }
    }

    // MARK: Calls

    /// Begins a call, unless the source is invalid.
    func begin() -> Bool { begin { $0 & Bits.invalid == 0 } }

    /// Begins a call if the source is signalled, and clears the signal.
    func beginIfSignalled() -> Bool { begin { $0 & Bits.signalled != 0 } }

    private func begin(_ condition: (UInt64) -> Bool) -> Bool {
        // sequentiallyConsistent: the loop has let the source's place be queued again before, see SignalQueue.Place.enqueue.
        var old = word.load(ordering: .sequentiallyConsistent)
        while condition(old) {
            let (exchanged, found) = word.compareExchange(
                expected: old, desired: (old & Bits.allCalls) + Bits.call, ordering: .sequentiallyConsistent)
            if exchanged { return true }
            old = found
        }
        return false
    }

    /// Ends a call; returns whether the caller has to release the closure.
    func end() -> Bool { word.subtract(Bits.call, ordering: .sequentiallyConsistent).newValue == Bits.invalid }

    /// Clears the signal and prevents further calls; returns whether the caller has to release the closure.
    func becomeInvalid() -> Bool {
        var old = word.load(ordering: .relaxed)
        while true {
            let (exchanged, found) = word.compareExchange(
                expected: old, desired: (old & Bits.allCalls) | Bits.invalid, ordering: .sequentiallyConsistent)
            if exchanged { return old & Bits.allCalls == 0 }
            old = found
        }
    }
}
