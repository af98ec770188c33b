extension RunLoopSource {
    /// A source whose closures run on the thread that makes it, and may use that thread's state.
    ///
    /// - Parameters:
    ///   - order: Lower orders are performed first.
    ///   - label: The name in descriptions and tools; where it was made, if `nil`.
    ///   - schedule: Called when the source is added to a mode of a loop, on the thread that adds it.
    ///   - cancel: Called when it is taken out of a mode of a loop, or is made invalid, on the thread that does so.
    ///   - fileID: Where it was made.
    ///   - line: Where it was made.
    ///   - perform: Called with the source after it was signalled.
    ///
    /// Adding it to the loop of another thread traps.
    /// Corresponds to `CFRunLoopSourceCreate` with a context of version 0.
    public convenience init(
        order: Int = 0, label: String? = nil, schedule: ((RunLoop, RunLoop.Mode) -> Void)? = nil,
        cancel: ((RunLoop, RunLoop.Mode) -> Void)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        perform: @escaping (RunLoopSource) -> Void
    ) {
        self.init(
            order, ItemLabel(label, fileID, line), home: ItemHome.currentThread,
            scheduled: Self.told(schedule), cancelled: Self.told(cancel), perform)
    }

    /// A source whose closures may run on any thread: it can be added to any loop, and to many.
    ///
    /// The parameters are those of ``init(order:label:schedule:cancel:fileID:line:perform:)``.
    public static func sendable(
        order: Int = 0, label: String? = nil, schedule: (@Sendable (RunLoop, RunLoop.Mode) -> Void)? = nil,
        cancel: (@Sendable (RunLoop, RunLoop.Mode) -> Void)? = nil, fileID: StaticString = #fileID,
        line: UInt = #line, perform: @escaping @Sendable (RunLoopSource) -> Void
    ) -> RunLoopSource {
        RunLoopSource(
            order, ItemLabel(label, fileID, line), home: ItemHome.anyThread,
            scheduled: told(schedule), cancelled: told(cancel), perform)
    }

    /// A source whose closure runs on the main actor: it can be added to the main loop, from any thread.
    ///
    /// The other parameters are those of ``init(order:label:schedule:cancel:fileID:line:perform:)``.
    public static func mainActor(
        order: Int = 0, label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        perform: @escaping @MainActor (RunLoopSource) -> Void
    ) -> RunLoopSource {
        RunLoopSource(
            order, ItemLabel(label, fileID, line), home: ItemHome.mainThread, scheduled: nil, cancelled: nil
        ) { source in
            MainActor.assumeIsolated { perform(source) }
        }
    }

    /// The source itself does not know loops, only what they consist of.
    private static func told(_ closure: ((RunLoop, RunLoop.Mode) -> Void)?) -> PlaceCallback? {
        guard let closure else { return nil }
        return { core, mode in
            // A loop whose thread has ended has told all its sources before.
            if let core = core as? LoopCore, let loop = core.face as? RunLoop { closure(loop, mode) }
        }
    }
}
