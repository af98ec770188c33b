/// Lets a test put a loop of its own in the place of the thread's.
package enum ThreadLoopAccess {
    /// Makes `loop` the calling thread's; returns the one it had.
    package static func replace(with loop: RunLoop) -> RunLoop? {
        let outer = ThreadLoop.existingFace as? RunLoop
        ThreadLoop.set(loop.engine, keeping: loop)
        return outer
    }

    /// Gives the thread back what it had.
    package static func restore(_ outer: RunLoop?) {
        if let outer { ThreadLoop.set(outer.engine, keeping: outer) } else { ThreadLoop.clear() }
    }
}
