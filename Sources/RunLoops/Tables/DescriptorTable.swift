/// The descriptor sources of one mode, by descriptor.
///
/// Guarded by the loop's lock.
final class DescriptorTable {
    /// One descriptor of the mode with all descriptor sources on it; without any the place is free.
    private struct Port {
        let descriptor: CInt
        var generation: UInt32
        /// In the order in which they were added; usually there is one.
        var first: RunLoop.DescriptorSource?
        var others: [RunLoop.DescriptorSource] = []

        var sources: [RunLoop.DescriptorSource] { (first.map { [$0] } ?? []) + others }
        var events: RunLoop.DescriptorEvents { sources.reduce([]) { $0.union($1.events) } }
        func contains(_ source: RunLoop.DescriptorSource) -> Bool { first === source || others.contains { $0 === source } }

        mutating func remove(_ source: RunLoop.DescriptorSource) {
            others.removeAll { $0 === source }
            if first === source { first = others.isEmpty ? nil : others.removeFirst() }
        }
    }

    let readiness: any Readiness
    /// Free places are used again; each use has another generation, so that an event of an earlier one is recognised.
    @exclusivity(unchecked) private var ports: [Port] = []
    @exclusivity(unchecked) private var freeIndices: [UInt32] = []
    @exclusivity(unchecked) private var indices = DescriptorMap<UInt32>()
    /// Ports whose number was given to another file: few, if any.
    @exclusivity(unchecked) private var abandoned: [UInt32] = []
    @exclusivity(unchecked) private var lastGeneration: UInt32 = 0
    @exclusivity(unchecked) private(set) var count = 0

    init(readiness: any Readiness) { self.readiness = readiness }

    func contains(_ source: RunLoop.DescriptorSource) -> Bool {
        index(of: source) != nil
    }

    var sources: [RunLoop.DescriptorSource] { ports.flatMap(\.sources) }

    /// Precondition: the table does not contain it.
    func add(_ source: RunLoop.DescriptorSource) throws(RunLoop.SystemCallError) {
        let descriptor = source.descriptor
        if let index = indices[descriptor] {
            if try join(source, at: index) { return }
            // The number has been closed and given to another file since: the old port cannot be served any more.
            abandon(index)
        }
        lastGeneration &+= 1
        let index = freeIndices.popLast() ?? UInt32(ports.count)
        let port = Port(descriptor: descriptor, generation: lastGeneration, first: source)
        do {
            try readiness.register(descriptor, for: port.events, token: Self.token(index, lastGeneration))
        } catch {
            if index < ports.count { freeIndices.append(index) }
            throw error
        }
        if index < ports.count { ports[Int(index)] = port } else { ports.append(port) }
        indices[descriptor] = index
        count += 1
    }

    /// Adds a second source on one descriptor.
    ///
    /// False if the kernel no longer knows the descriptor.
    private func join(_ source: RunLoop.DescriptorSource, at index: UInt32) throws(RunLoop.SystemCallError) -> Bool {
        var port = ports[Int(index)]
        port.others.append(source)
        do {
            try readiness.modify(port.descriptor, for: port.events, token: Self.token(index, port.generation))
        } catch {
            if error.isUnknownDescriptor { return false }
            throw error
        }
        ports[Int(index)] = port
        count += 1
        return true
    }

    /// Takes the sources of a port out of the kernel's sight; they stay in the table, on no descriptor.
    private func abandon(_ index: UInt32) {
        let descriptor = ports[Int(index)].descriptor
        readiness.unregister(descriptor)
        lastGeneration &+= 1
        ports[Int(index)].generation = lastGeneration
        indices[descriptor] = nil
        abandoned.append(index)
    }

    func remove(_ source: RunLoop.DescriptorSource) {
        // Not by the descriptor's number alone: an abandoned port has lost it.
        guard let index = index(of: source) else { return }
        count -= 1
        ports[Int(index)].remove(source)
        let descriptor = ports[Int(index)].descriptor
        let isRegistered = indices[descriptor] == index
        if ports[Int(index)].first != nil {
            if isRegistered { update(index) }
            return
        }
        if isRegistered {
            readiness.unregister(descriptor)
            indices[descriptor] = nil
        } else {
            abandoned.removeAll { $0 == index }
        }
        freeIndices.append(index)
    }

    /// Tells the kernel what is wanted of the descriptor of `source` now.
    func eventsChanged(of source: RunLoop.DescriptorSource) {
        if let index = index(of: source), indices[source.descriptor] == index { update(index) }
    }

    private func index(of source: RunLoop.DescriptorSource) -> UInt32? {
        if let index = indices[source.descriptor], ports[Int(index)].contains(source) { return index }
        return abandoned.first { ports[Int($0)].contains(source) }
    }

    private func update(_ index: UInt32) {
        let port = ports[Int(index)]
        // Only a descriptor that was closed can be refused (EBADF, ENOENT): it cannot become ready either.
        try? readiness.modify(port.descriptor, for: port.events, token: Self.token(index, port.generation))
    }

    // MARK: Events

    /// The first source to ask for an event; none for an event of an earlier use of the place.
    @inline(__always)
    func firstSource(of event: ReadyDescriptor) -> RunLoop.DescriptorSource? {
        let index = Self.index(of: event)
        let generation = UInt32(truncatingIfNeeded: event.token >> 32)
        guard index < ports.count, ports[index].generation & 0x7FFF_FFFF == generation else { return nil }
        return ports[index].first
    }

    /// The sources to ask for an event after the first.
    @inline(__always)
    func otherSources(of event: ReadyDescriptor) -> [RunLoop.DescriptorSource] {
        ports[Self.index(of: event)].others
    }

    @inline(__always)
    private static func index(of event: ReadyDescriptor) -> Int { Int(truncatingIfNeeded: event.token & 0xFFFF_FFFF) }

    /// Whether an event can still be served; a doubtful one is asked for again.
    func stands(_ event: ReadyDescriptor, isDoubtful: Bool) -> Bool {
        guard let source = firstSource(of: event) else { return false }
        return !isDoubtful || !readiness.confirm(source.descriptor).isEmpty
    }

    private static func token(_ index: UInt32, _ generation: UInt32) -> UInt64 {
        // The top bit stays free: the readiness uses the last tokens itself.
        UInt64(generation & 0x7FFF_FFFF) << 32 | UInt64(index)
    }
}
