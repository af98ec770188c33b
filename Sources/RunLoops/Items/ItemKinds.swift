/// An item as what it is.
enum ItemByKind {
    case timer(RunLoopTimer)
    case source(RunLoopSource)
    case port(RunLoopPortSource)
    case observer(RunLoopObserver)
}

extension RunLoopItem {
    /// The item by its class, without asking the runtime.
    @inline(__always)
    final var byKind: ItemByKind {
        // SAFETY: each kind has one class, and that class alone passes it to init.
        switch kind {
        case .timer: .timer(unsafeDowncast(self, to: RunLoopTimer.self))
        case .source: .source(unsafeDowncast(self, to: RunLoopSource.self))
        case .port: .port(unsafeDowncast(self, to: RunLoopPortSource.self))
        case .observer: .observer(unsafeDowncast(self, to: RunLoopObserver.self))
        }
    }

    /// Items of these kinds belong to one loop at most.
    @inline(__always)
    final var asSingleLoopItem: RunLoopSingleLoopItem? {
        // SAFETY: the classes of these two kinds are subclasses.
        kind == .timer || kind == .observer ? unsafeDowncast(self, to: RunLoopSingleLoopItem.self) : nil
    }
}
