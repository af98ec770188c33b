extension ThreadLoopAccess {
    /// The calling thread's loop, if it has one already: asking does not make it.
    package static var existing: RunLoop? { ThreadLoop.existingFace as? RunLoop }
}
