internal import Synchronization

/// What can be added to a run loop: a timer, a source, a port source or an observer.
///
/// Thread safety: all members may be used by any thread. The item's closure runs on the loop's thread.
public class RunLoopItem: @unchecked Sendable, CustomStringConvertible {
    /// Among sources and observers of one mode the lower order goes first; timers keep theirs without using it.
    public let order: Int

    /// Which subclass it is, to know without asking the runtime.
    enum Kind: UInt8 { case timer, source, port, observer }

    // In the order in which they leave no gaps: a program may have many items.
    let labelStorage: ItemLabel
    let kind: Kind
    private let valid = Atomic<Bool>(true)
    /// The one thread whose loop may take the item, by the kernel's number; 0 for any.
    let home: Int32

    init(_ kind: Kind, order: Int, label: ItemLabel, home: Int32) {
        self.kind = kind
        self.order = order
        labelStorage = label
        self.home = home
    }

    /// What the item is called in descriptions and tools: the label it was given, or where it was made.
    public final var label: String { labelStorage.text }

    /// Whether the item can still fire.
    ///
    /// Once `false`, for ever `false`.
    public final var isValid: Bool { valid.load(ordering: .relaxed) }

    /// Takes the item out of every loop and mode, for good, and releases its closure.
    ///
    /// Legal everywhere, also inside the item's own callout, which ends normally. A second call does nothing.
    /// Corresponds to `CFRunLoopTimerInvalidate` and its like.
    /// Thread safety: any thread; a callout under way on the loop's thread is not waited for.
    public func invalidate() { fatalError("every kind of item says how it leaves its loops") }

    /// Kind, label and state in one line.
    public var description: String { "<RunLoop.Item \(label)>" }

    /// Whether this call made the item invalid.
    final func becomeInvalid() -> Bool {
        // acquiringAndReleasing: who finds the item invalid also finds what was done to it before.
        valid.exchange(false, ordering: .acquiringAndReleasing)
    }
}

/// Where an item's closure may run, as the number of a thread.
enum ItemHome {
    static var anyThread: Int32 { 0 }
    static var currentThread: Int32 { SystemCalls.threadID }
    static var mainThread: Int32 { SystemCalls.mainThreadID }
}

/// An item that belongs to one loop at most, and remembers which.
///
/// The reference can be read without a lock, which is what makes "take the lock of the loop I am in" possible: it is
/// kept until the item dies, so that a thread that has read it can always take that loop's lock and look again.
public class RunLoopSingleLoopItem: RunLoopItem, @unchecked Sendable {
    /// Whether the item was in other loops before: those are kept in a table, since few are.
    ///
    /// Guarded by the present owner's lock.
    @exclusivity(unchecked) private var hasMoved = false
    private let ownerReference = Atomic<UnsafeRawPointer?>(nil)

    deinit {
        if hasMoved { FormerOwners.shared.forget(self) }
        if let pointer = ownerReference.load(ordering: .acquiring) {
            Unmanaged<LoopCore>.fromOpaque(pointer).release()
        }
    }

    /// The loop the item is in or was in last.
    final var owner: LoopCore? {
        // acquiring: pairs with the release in replaceOwner, so that the loop is seen whole.
        guard let pointer = ownerReference.load(ordering: .acquiring) else { return nil }
        return Unmanaged<LoopCore>.fromOpaque(pointer).takeUnretainedValue()
    }

    @inline(__always)
    final func isOwned(by loop: LoopCore) -> Bool {
        ownerReference.load(ordering: .acquiring) == UnsafeRawPointer(Unmanaged.passUnretained(loop).toOpaque())
    }

    /// Makes `new` the item's loop, unless another has it in one of its modes.
    ///
    /// Called without a lock held.
    final func claim(for new: LoopCore) -> Bool {
        if isOwned(by: new) { return true }
        while true {
            guard let old = owner else {
                if Self.unowned.withLock({ replaceOwner(nil, with: new) }) { return true }
                continue
            }
            if old === new { return true }
            let answer = old.lock.withLock { () -> Bool? in
                guard owner === old else { return nil }
                if old.holds(self) { return false }
                // A thread that has read the old reference may be about to take that loop's lock: it stays alive.
                hasMoved = true
                FormerOwners.shared.keep(old, for: self)
                return replaceOwner(old, with: new)
            }
            if let answer { return answer }
        }
    }

    private func replaceOwner(_ old: LoopCore?, with new: LoopCore) -> Bool {
        guard owner === old else { return false }
        let previous = ownerReference.exchange(
            UnsafeRawPointer(Unmanaged.passRetained(new).toOpaque()), ordering: .acquiringAndReleasing)
        if let previous { Unmanaged<LoopCore>.fromOpaque(previous).release() }
        return true
    }

    /// Whose lock has been taken for an item's fields.
    typealias FieldsOwner = Unmanaged<LoopCore>?

    /// Takes the lock of the item's loop, or that of all items that have none, so that the fields are the caller's.
    final func lockFields() -> FieldsOwner {
        while true {
            let pointer = ownerReference.load(ordering: .acquiring)
            let owner = pointer.map { Unmanaged<LoopCore>.fromOpaque($0) }
            // SAFETY: an owner is kept until the item dies, so that no reference of our own is needed.
            if let owner { owner._withUnsafeGuaranteedRef { $0.lock.lock() } } else { Self.unowned.lock() }
            if ownerReference.load(ordering: .relaxed) == pointer { return owner }
            unlockFields(owner)
        }
    }

    final func unlockFields(_ owner: FieldsOwner) {
        if let owner { owner._withUnsafeGuaranteedRef { $0.lock.unlock() } } else { Self.unowned.unlock() }
    }

    /// Runs `body` with the item's fields to itself.
    @inline(__always)
    final func withFields<Result>(_ body: (LoopCore?) -> Result) -> Result {
        let owner = lockFields()
        defer { unlockFields(owner) }
        guard let owner else { return body(nil) }
        return owner._withUnsafeGuaranteedRef { body($0) }
    }

    static let unowned = Lock()
}

/// The loops that items were in before, and that a slow thread may still be looking at: kept as long as the item.
private final class FormerOwners: @unchecked Sendable {
    static let shared = FormerOwners()

    private let lock = Lock()
    // Guarded by the lock.
    private var loops: [ObjectIdentifier: [LoopCore]] = [:]

    func keep(_ loop: LoopCore, for item: RunLoopItem) {
        lock.withLock { loops[ObjectIdentifier(item), default: []].append(loop) }
    }

    func forget(_ item: RunLoopItem) {
        let waste = lock.withLock { loops.removeValue(forKey: ObjectIdentifier(item)) }
        withExtendedLifetime(waste) {}
    }
}
