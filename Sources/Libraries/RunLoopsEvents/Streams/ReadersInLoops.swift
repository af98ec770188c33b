// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// The readers in the loops of this process, so that a second reader of a descriptor is noticed.
///
/// Both would be called for one readiness, and each would receive a part of the bytes.
enum ReadersInLoops {
    /// A descriptor in a loop.
    struct Place: Hashable {
        let loop: ObjectIdentifier
        let descriptor: CInt
    }

    private struct Entry: Sendable {
        weak var reader: EventSource?
        /// Weak: a later loop may have the address of one that has gone.
        weak var loop: RunLoop?
    }

    private static let entries = Guarded<[Place: Entry]>([:])

    /// Notes a reader that was added to a loop; traps if the loop has another one of the same descriptor.
    ///
    /// - Returns: Where the reader is noted; `nil` if it is invalid.
    static func enter(_ reader: EventSource, _ loop: RunLoop) -> Place? {
        guard let descriptor = reader.withDescriptor({ $0 }) else { return nil }
        let place = Place(loop: ObjectIdentifier(loop), descriptor: descriptor)
        let other = entries.withLock { entries -> EventSource? in
            let known = entries[place]
            if known?.loop === loop, let other = known?.reader, other !== reader, other.isValid { return other }
            entries[place] = Entry(reader: reader, loop: loop)
            return nil
        }
        guard let other else { return place }
        preconditionFailure(
            """
            The input readers \(other.label) and \(reader.label) in one loop read descriptor \(descriptor): each would \
            receive a part of the input. Invalidate the first one before the second is added, or give the input of one \
            reader or sequence to both uses.
            """)
    }

    /// Forgets a reader that was removed from its loop, was invalidated, or is being released.
    static func leave(_ place: Place, _ reader: ObjectIdentifier) {
        entries.withLock { entries in
            if let known = entries[place]?.reader, ObjectIdentifier(known) != reader { return }
            entries[place] = nil
        }
    }
}
