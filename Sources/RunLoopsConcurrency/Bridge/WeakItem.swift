internal import RunLoops

/// An item that its loop alone keeps, for who may want to take it out.
// Unchecked: the reference is written by init alone, and reading a weak one is atomic.
final class WeakItem: @unchecked Sendable {
    private(set) weak var item: RunLoop.Item?

    init(_ item: RunLoop.Item) { self.item = item }
}
