// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoops
internal import RunLoopsLibC
internal import RunLoopsSystem

/// One inotify descriptor for all file watches and followers whose closures run on one thread.
///
/// A user of the machine has 128 such descriptors. The kernel has one watch for each inode and descriptor, so that the users of a hub
/// share the watch of an inode: its mask is the union of theirs, and each user gets the records of its own mask.
///
/// Every user adds the descriptor to its loop. The first user that reads in a turn takes a portion of the kernel's queue for all, and then has
/// the others read what belongs to them: they take no further portion, so that a turn costs one portion, however many users there are and
/// however fast the queue fills. A user counts the whole queue, also the bytes of records for others, so that a place in the queue means
/// the same to all.
final class WatchHub: Sendable {
    /// A watch of the kernel.
    private struct Watch {
        /// The mask that the kernel has.
        var mask: UInt32 = 0
        /// The masks that the users have asked for.
        var masks: [Int: UInt32] = [:]
        /// The name in the directory that is the only one of interest to a user; no entry if all are.
        var names: [Int: SystemText] = [:]

        /// The bits that the users have asked for.
        var wanted: UInt32 { masks.values.reduce(0, |) }

        /// Sets the mask of a user; returns whether bits that nobody wants are to be taken from the kernel's mask.
        ///
        /// Only for a watch of a few users: to look at the masks of all for each user would be quadratic.
        mutating func add(_ bits: UInt32, of user: Int) -> Bool {
            mask |= bits
            masks[user] = bits
            names[user] = nil
            return masks.count <= 64 && mask != wanted
        }

        /// Whether a record is of interest to a user.
        func concerns(_ user: Int, _ record: InotifyRecord) -> Bool {
            guard !record.name.isEmpty, let name = names[user] else { return true }
            return name == record.name
        }
    }

    private struct User {
        var watches: Set<CInt> = []
        /// The records that the user has not read.
        var records: [InotifyRecord] = []
        /// How many bytes of the kernel's queue these records stand for.
        var size = 0
        /// How many bytes of the kernel's queue the user has received, or will receive with these records.
        var position: Int
        /// Whether records are missing behind the last one.
        var isFull = false
        var callback: (@Sendable () -> Void)?

        /// Appends a record that begins at a place of the queue.
        mutating func push(_ record: InotifyRecord, at place: Int, _ maxRecords: Int) {
            if isFull { return }
            // The kernel too queues a repetition once.
            if let last = records.last, last.isRepeated(by: record) { return }
            var record = record
            if records.count >= maxRecords, !record.has(IN_Q_OVERFLOW) {
                isFull = true
                record = InotifyRecord(watch: -1, mask: UInt32(IN_Q_OVERFLOW), size: record.size)
            }
            if place > position { records.append(InotifyRecord(ofOthers: place - position)) }
            records.append(record)
            size += place + record.size - position
            position = place + record.size
        }
    }

    private struct State {
        var watches: [CInt: Watch] = [:]
        var users: [Int: User] = [:]
        var lastUser = 0
        /// How many bytes of the kernel's queue were read.
        var position = 0
        /// The users that know of bytes in the kernel's queue, and wait for them.
        var waiting: Set<Int> = []
        /// The users that have something to read that the descriptor no longer reports.
        var informed: Set<Int> = []
        /// Set when the last user has left: the descriptor is about to be closed.
        var isClosed = false
    }

    /// As many records as the kernel's own queue has room for.
    private static let maxRecords = 16384
    /// Reported whatever the mask.
    private static let always = UInt32(IN_IGNORED | IN_UNMOUNT)
    /// The bits of a mask that concern the call alone.
    private static let callFlags = UInt32(IN_ONLYDIR | IN_DONT_FOLLOW)

    private struct WeakHub { weak var hub: WatchHub? }
    /// The hubs of this process, by the thread on which closures run; 0 for closures that may run on any thread.
    private static let hubs = PerProcess { Guarded<[Int32: WeakHub]>([:]) }

    let file: Descriptor
    private let state = Guarded(State())

    private init(_ file: Descriptor) { self.file = file }

    /// Makes a user of the hub for a thread.
    ///
    /// - Throws: `EMFILE` if the user of the machine or the process has too many descriptors.
    static func makeUser(for thread: Int32) throws(RunLoop.SystemCallError) -> WatchUser {
        let made = hubs.own.withLock { hubs -> Result<WatchUser, RunLoop.SystemCallError> in
            if let user = hubs[thread]?.hub?.makeUser() { return .success(user) }
            let number = rl_inotify_create()
            if number < 0 { return .failure(RunLoop.SystemCallError(call: "inotify_init1", code: -number)) }
            hubs = hubs.filter { $0.value.hub != nil }
            let (hub, user) = WatchHub.withUser(Descriptor(number))
            hubs[thread] = WeakHub(hub: hub)
            return .success(user)
        }
        return try made.get()
    }

    /// Makes a hub with its first user.
    static func withUser(_ file: Descriptor) -> (WatchHub, WatchUser) {
        let hub = WatchHub(file)
        guard let user = hub.makeUser() else { preconditionFailure("a hub is closed when its last user leaves") }
        return (hub, user)
    }

    /// Makes a user; `nil` if the last user has left.
    func makeUser() -> WatchUser? {
        let number = state.withLock { state -> Int? in
            if state.isClosed { return nil }
            state.lastUser += 1
            state.users[state.lastUser] = User(position: state.position)
            return state.lastUser
        }
        return number.map { WatchUser(self, $0) }
    }

    // MARK: For one user

    /// Removes a user and its watches.
    ///
    /// - Complexity: O(n) in the user's watches.
    fileprivate func leave(_ user: Int) {
        // The watches of a forked child are its parent's.
        if file.generation.isInherited { return }
        let left = state.withLock { state -> User? in
            guard let left = state.users.removeValue(forKey: user) else { return nil }
            state.waiting.remove(user)
            state.informed.remove(user)
            if state.users.isEmpty {
                // The kernel releases them with the descriptor.
                state.isClosed = true
                state.watches = [:]
            } else {
                for watch in left.watches { drop(watch, of: user, &state) }
            }
            return left
        }
        withExtendedLifetime(left) {}
    }

    fileprivate func setCallback(of user: Int, _ callback: @escaping @Sendable () -> Void) {
        state.withLock { $0.users[user]?.callback = callback }
    }

    /// Adds a watch for what is at a path, or gives the user's watch another mask.
    ///
    /// - Returns: The number of the watch, or a negative error number.
    fileprivate func add(_ path: SystemText, _ mask: UInt32, for user: Int) -> CInt {
        state.withLock { state in
            guard state.users[user] != nil else { return -EBADF }
            // The mask of another user stays.
            let watch = path.withCString { rl_inotify_add(file.number, $0, mask | UInt32(IN_MASK_ADD)) }
            if watch < 0 { return watch }
            let bits = mask & ~Self.callFlags
            if state.watches[watch] != nil, state.watches[watch]?.masks[user] == nil {
                // The user gets no record that is older than its watch.
                readAll(&state)
                guard state.watches[watch] != nil else {
                    // The inode is gone again, and the kernel has said so.
                    push(InotifyRecord(watch: watch, mask: UInt32(IN_IGNORED), size: 0), to: user, &state)
                    return watch
                }
            }
            // Changed in its place: a copy for each user would be quadratic.
            let isWider = state.watches[watch, default: Watch()].add(bits, of: user)
            state.users[user]?.watches.insert(watch)
            return isWider ? narrow(path, mask, watch, user, &state) : watch
        }
    }

    /// Takes the bits that no user has asked for from the kernel's mask, so that the kernel does not wake the loop for them.
    private func narrow(_ path: SystemText, _ mask: UInt32, _ watch: CInt, _ user: Int, _ state: inout State) -> CInt {
        let wanted = state.watches[watch]?.wanted ?? 0
        let result = path.withCString { rl_inotify_add(file.number, $0, wanted | mask & Self.callFlags) }
        if result < 0 { return result }
        if result == watch {
            state.watches[watch]?.mask = wanted
            return watch
        }
        // The kernel takes a path and not a watch, and something else is there since the call before.
        let others = state.watches[result]?.masks.keys.filter { $0 != user } ?? []
        _ = state.watches[result, default: Watch()].add(mask & ~Self.callFlags, of: user)
        state.watches[result]?.mask |= wanted
        state.users[user]?.watches.insert(result)
        if let all = state.watches[result]?.mask, !others.isEmpty {
            // Other users watch it. They get their bits back, and are told that records may be missing.
            _ = path.withCString { rl_inotify_add(file.number, $0, all | mask & Self.callFlags | UInt32(IN_MASK_ADD)) }
            for other in others {
                push(InotifyRecord(watch: -1, mask: UInt32(IN_Q_OVERFLOW), size: 0), to: other, &state)
            }
        }
        return result
    }

    /// Removes a watch of a user, with its records that the user has not read.
    fileprivate func remove(_ watch: CInt, of user: Int) {
        if file.generation.isInherited { return }
        state.withLock { state in
            guard state.users[user]?.watches.remove(watch) != nil else { return }
            drop(watch, of: user, &state)
            // Another user may keep the watch and its number, and a later watch of this user would have the number too.
            guard let records = state.users[user]?.records, !records.isEmpty else { return }
            state.users[user]?.records = records.map { record in
                record.watch == watch ? InotifyRecord(ofOthers: record.size) : record
            }
        }
    }

    /// Sets the only name of interest in each of a user's watches; in the others all names are.
    fileprivate func setNames(_ names: [CInt: SystemText], of user: Int) {
        state.withLock { state in
            guard let watches = state.users[user]?.watches else { return }
            for watch in watches { state.watches[watch]?.names[user] = names[watch] }
        }
    }

    private func drop(_ watch: CInt, of user: Int, _ state: inout State) {
        state.watches[watch]?.masks[user] = nil
        state.watches[watch]?.names[user] = nil
        guard state.watches[watch]?.masks.isEmpty == true else { return }
        state.watches[watch] = nil
        // EINVAL: the kernel has released the watch before.
        _ = rl_inotify_remove(file.number, watch)
    }

    /// How many bytes of the queue the user has not received.
    fileprivate func bytesWaiting(for user: Int) -> Int {
        state.withLock { state in
            let inKernel = max(0, Int(rl_bytes_waiting(file.number)))
            guard let own = state.users[user] else { return inKernel }
            let bytes = inKernel + own.size + (state.position - own.position)
            if bytes > 0 { state.waiting.insert(user) }
            return bytes
        }
    }

    fileprivate func hasUnreported(for user: Int) -> Bool {
        state.withLock { state in state.users[user].map { $0.size > 0 || $0.position < state.position } ?? false }
    }

    /// Returns the records that others have read for the user; if there are none, and `fromKernel` is true, those of the next portion of
    /// the kernel's queue.
    fileprivate func read(for user: Int, fromKernel: Bool) -> [InotifyRecord] {
        state.withLock { state in
            let isUnreported = state.users[user].map { $0.size > 0 || $0.position < state.position } ?? false
            if fromKernel, !isUnreported { readPortion(&state) }
            guard var own = state.users[user] else { return [] }
            var records = own.records
            let rest = state.position - own.position
            if rest > 0 { records.append(InotifyRecord(ofOthers: rest)) }
            (own.records, own.size, own.position, own.isFull) = ([], 0, state.position, false)
            state.users[user] = own
            state.waiting.remove(user)
            state.informed.remove(user)
            return records
        }
    }

    /// Calls the users for which records were read by another one; with no lock held.
    fileprivate func informUsers() {
        let callbacks = state.withLock { state in
            defer { state.informed = [] }
            return state.informed.compactMap { state.users[$0]?.callback }
        }
        for callback in callbacks { callback() }
    }

    // MARK: Records. With the lock held.

    /// Reads what is in the kernel's queue now, and not what comes meanwhile.
    private func readAll(_ state: inout State) {
        let end = state.position + max(0, Int(rl_bytes_waiting(file.number)))
        while state.position < end, readPortion(&state) > 0 {}
    }

    @discardableResult
    private func readPortion(_ state: inout State) -> Int {
        let records = InotifyRecord.read(file)
        for record in records { pass(record, &state) }
        if !records.isEmpty {
            state.informed.formUnion(state.waiting)
            state.waiting = []
        }
        return records.count
    }

    /// Passes a record to its users.
    private func pass(_ record: InotifyRecord, _ state: inout State) {
        defer { state.position += record.size }
        if record.has(IN_Q_OVERFLOW) {
            for user in Array(state.users.keys) { push(record, to: user, &state) }
        } else if let watch = state.watches[record.watch] {
            for (user, mask) in watch.masks
            where record.mask & (mask | Self.always) != 0 && watch.concerns(user, record) {
                push(record, to: user, &state)
            }
            guard record.has(IN_IGNORED) else { return }
            for user in watch.masks.keys { state.users[user]?.watches.remove(record.watch) }
            state.watches[record.watch] = nil
        }
    }

    private func push(_ record: InotifyRecord, to user: Int, _ state: inout State) {
        state.informed.insert(user)
        // Changes the user where it is: a copy of the records for each record would be quadratic.
        state.users[user]?.push(record, at: state.position, Self.maxRecords)
    }
}

extension InotifyRecord {
    /// Stands for records of other users in the queue; no watch has the number.
    init(ofOthers size: Int) { self.init(watch: -2, mask: 0, size: size) }

    fileprivate func isRepeated(by other: InotifyRecord) -> Bool {
        watch == other.watch && mask == other.mask && cookie == other.cookie && name == other.name
    }
}

/// The kernel watches of one object, among those of its hub.
///
/// Any thread may use it; an object guards its own with a lock, and calls ``informUsers()`` after the lock.
final class WatchUser: Sendable {
    private let hub: WatchHub
    private let number: Int

    fileprivate init(_ hub: WatchHub, _ number: Int) { (self.hub, self.number) = (hub, number) }

    deinit { leave() }

    /// The descriptor that is readable when something has happened.
    var file: Descriptor { hub.file }

    /// Removes all watches; a second call does nothing.
    func leave() { hub.leave(number) }

    /// Sets what is called when another user of the hub has read records of this one, or bytes that it waits for.
    func whenInformed(_ callback: @escaping @Sendable () -> Void) { hub.setCallback(of: number, callback) }

    /// - Returns: The number of the watch, or a negative error number.
    func add(_ path: SystemText, _ mask: UInt32) -> CInt { hub.add(path, mask, for: number) }

    func remove(_ watch: CInt) { hub.remove(watch, of: number) }

    /// Sets the only name of interest in each watch; in the user's other watches all names are.
    ///
    /// Records of other names are not queued for the user. A call of ``add(_:_:)`` with the watch ends that.
    func setNames(_ names: [CInt: SystemText]) { hub.setNames(names, of: number) }

    /// How many bytes of the queue wait to be read: a mark behind all that has happened.
    var bytesWaiting: Int { hub.bytesWaiting(for: number) }

    /// Whether a part of the queue was read that this user has not received, and that the descriptor no longer reports.
    var hasUnreported: Bool { hub.hasUnreported(for: number) }

    /// Takes the records that other users have read for this one, or, if there are none, a portion of the kernel's queue.
    ///
    /// - Parameter fromKernel: Whether the kernel's queue may be read: the descriptor was reported, not the records of another user.
    func read(fromKernel: Bool = true) -> [InotifyRecord] { hub.read(for: number, fromKernel: fromKernel) }

    /// Calls the other users whose records were read meanwhile; with no lock held.
    func informUsers() { hub.informUsers() }

    /// The records that are there; and a few later ones, if the records end in the middle of a move.
    ///
    /// The kernel queues the halves of a move right after each other, but not in one step. A reader that comes in
    /// between waits a millisecond for the other half: only a move out of the watched paths takes that long.
    func readMoves(fromKernel: Bool = true) -> [InotifyRecord] {
        var records: [InotifyRecord] = []
        for attempt in 0..<4 {
            let portion = read(fromKernel: fromKernel || attempt > 0)
            if portion.isEmpty { break }
            records += portion
            if !MovePairs(records).isIncomplete || rl_wait_readable(file.number, 1) <= 0 { break }
        }
        return records
    }
}
