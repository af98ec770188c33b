// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The descriptor sources of one mode, by descriptor.
struct DescriptorTable: ~Copyable {
    /// One descriptor of the mode with all descriptor sources on it; without a source the entry is free.
    private struct Entry {
        let descriptor: CInt
        var generation: UInt32
        /// Whether the kernel watches the descriptor; false while the sources ask for no event, and after the number
        /// was given to another file.
        var isWatched = false
        /// The first of the sources on the descriptor, in the order in which they were added; usually there is only
        /// one.
        var first: RunLoop.DescriptorSource?
        var others: [RunLoop.DescriptorSource] = []

        var sources: [RunLoop.DescriptorSource] { (first.map { [$0] } ?? []) + others }
        var events: RunLoop.DescriptorEvents { sources.reduce([]) { $0.union($1.events) } }
        func contains(_ source: RunLoop.DescriptorSource) -> Bool {
            first === source || others.contains { $0 === source }
        }

        mutating func remove(_ source: RunLoop.DescriptorSource) {
            others.removeAll { $0 === source }
            if first === source { first = others.isEmpty ? nil : others.removeFirst() }
        }
    }

    private let passedByAddress = PassedByAddress()
    let readiness: any Readiness
    /// The entries; free entries are used again.
    ///
    /// Each use has another generation, which distinguishes an event of an earlier use from an event of the present use.
    private var entries: [Entry] = []
    private var freeIndices: [UInt32] = []
    private var indices: [CInt: UInt32] = [:]
    /// The indices of entries whose descriptor number was given to another file; usually there are none.
    private var abandoned: [UInt32] = []
    private var lastGeneration: UInt32 = 0

    init(readiness: any Readiness) { self.readiness = readiness }

    func contains(_ source: RunLoop.DescriptorSource) -> Bool { index(of: source) != nil }

    var sources: [RunLoop.DescriptorSource] { entries.flatMap(\.sources) }

    /// The sources whose descriptors were closed by other code while they are in the table.
    ///
    /// - Complexity: a system call for each descriptor.
    var lostSources: [RunLoop.DescriptorSource] {
        var lost: [RunLoop.DescriptorSource] = []
        for index in entries.indices where isLost(at: UInt32(index)) { lost += entries[index].sources }
        return lost
    }

    private func isLost(at index: UInt32) -> Bool {
        let entry = entries[Int(index)]
        if entry.first == nil { return false }
        if entry.isWatched { return !readiness.isWatching(entry.descriptor) }
        // Without a watch only a number that is not open at all shows it.
        return abandoned.contains(index) || SystemCalls.isClosed(entry.descriptor)
    }

    /// Adds a descriptor source.
    ///
    /// - Precondition: the table does not contain the source.
    mutating func add(_ source: RunLoop.DescriptorSource) throws(RunLoop.SystemCallError) {
        if let index = indices[source.descriptor] {
            if try join(source, at: index) { return }
            // The number has been closed and given to another file since: the old entry cannot be served any more.
            abandon(index)
        }
        let index = freeIndices.last ?? UInt32(entries.count)
        var entry = Entry(descriptor: source.descriptor, generation: nextGeneration(), first: source)
        try watch(&entry, at: index)
        if index < entries.count {
            freeIndices.removeLast()
            entries[Int(index)] = entry
        } else {
            entries.append(entry)
        }
        indices[source.descriptor] = index
    }

    /// Adds a second source on one descriptor.
    ///
    /// Returns false if the kernel no longer knows the descriptor that it watched.
    private mutating func join(
        _ source: RunLoop.DescriptorSource, at index: UInt32
    ) throws(RunLoop.SystemCallError) -> Bool {
        var entry = entries[Int(index)]
        let wasWatched = entry.isWatched
        entry.others.append(source)
        do {
            try watch(&entry, at: index)
        } catch {
            if wasWatched, error.isUnknownDescriptor { return false }
            throw error
        }
        entries[Int(index)] = entry
        return true
    }

    /// Stops watching the descriptor of an entry, and separates the entry from the descriptor's number.
    ///
    /// The sources of the entry stay in the table, and get no more events.
    private mutating func abandon(_ index: UInt32) {
        let descriptor = entries[Int(index)].descriptor
        var entry = entries[Int(index)]
        unwatch(&entry)
        entries[Int(index)] = entry
        indices[descriptor] = nil
        abandoned.append(index)
    }

    /// Removes a descriptor source.
    ///
    /// - Precondition: the table contains the source.
    mutating func remove(_ source: RunLoop.DescriptorSource) {
        // Not by the descriptor's number alone: an abandoned entry has lost its number.
        guard let index = index(of: source) else { return }
        entries[Int(index)].remove(source)
        let isAbandoned = indices[source.descriptor] != index
        // No new event is asked for, so the kernel can refuse only a closed descriptor, which cannot become ready
        // either.
        if !isAbandoned { try? watch(at: index) }
        if entries[Int(index)].first != nil { return }
        if isAbandoned { abandoned.removeAll { $0 == index } } else { indices[source.descriptor] = nil }
        freeIndices.append(index)
    }

    /// Applies a change of the events of `source`.
    mutating func eventsChanged(of source: RunLoop.DescriptorSource) throws(RunLoop.SystemCallError) {
        guard let index = index(of: source), indices[source.descriptor] == index else { return }
        try watch(at: index)
    }

    private func index(of source: RunLoop.DescriptorSource) -> UInt32? {
        if let index = indices[source.descriptor], entries[Int(index)].contains(source) { return index }
        return abandoned.first { entries[Int($0)].contains(source) }
    }

    // MARK: The kernel

    /// Makes the kernel watch the descriptor for the events that its sources ask for now.
    ///
    /// If they ask for no event, the kernel does not watch the descriptor, since it would report a hang-up repeatedly.
    private mutating func watch(_ entry: inout Entry, at index: UInt32) throws(RunLoop.SystemCallError) {
        let events = entry.events
        if events.isEmpty { return unwatch(&entry) }
        let token = Self.token(index, entry.generation)
        if entry.isWatched {
            try readiness.modify(entry.descriptor, for: events, token: token)
        } else {
            try readiness.register(entry.descriptor, for: events, token: token)
            entry.isWatched = true
        }
    }

    private mutating func watch(at index: UInt32) throws(RunLoop.SystemCallError) {
        var entry = entries[Int(index)]
        defer { entries[Int(index)] = entry }
        try watch(&entry, at: index)
    }

    private mutating func unwatch(_ entry: inout Entry) {
        guard entry.isWatched else { return }
        readiness.unregister(entry.descriptor)
        entry.isWatched = false
        // An event that was fetched before is not served to a source that asks later.
        entry.generation = nextGeneration()
    }

    private mutating func nextGeneration() -> UInt32 {
        lastGeneration &+= 1
        return lastGeneration
    }

    // MARK: Events

    /// The first source on the descriptor of an event; `nil` for an event of an earlier use of the entry.
    @inline(__always)
    func firstSource(of event: ReadyDescriptor) -> RunLoop.DescriptorSource? {
        let index = Self.index(of: event)
        let generation = UInt32(truncatingIfNeeded: event.token >> 32)
        guard index < entries.count, entries[index].generation & 0x7FFF_FFFF == generation else { return nil }
        return entries[index].first
    }

    /// The other sources on the descriptor of an event that has a first one; `nil` if there are none.
    @inline(__always)
    func otherSources(of event: ReadyDescriptor) -> [RunLoop.DescriptorSource]? {
        let index = Self.index(of: event)
        return entries[index].others.isEmpty ? nil : entries[index].others
    }

    private static func index(of event: ReadyDescriptor) -> Int { Int(truncatingIfNeeded: event.token & 0xFFFF_FFFF) }

    /// Whether an event can still be served; the kernel is asked again about an event that may be out of date.
    func stands(_ event: ReadyDescriptor, isDoubtful: Bool) -> Bool {
        guard let source = firstSource(of: event) else { return false }
        return !isDoubtful || !readiness.confirm(source.descriptor).isEmpty
    }

    private static func token(_ index: UInt32, _ generation: UInt32) -> UInt64 {
        // The top bit stays free: the readiness uses the last tokens itself.
        UInt64(generation & 0x7FFF_FFFF) << 32 | UInt64(index)
    }
}
