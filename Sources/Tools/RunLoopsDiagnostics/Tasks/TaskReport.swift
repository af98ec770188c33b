// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoopsConcurrency
package import RunLoopsSystem

/// The tasks of a process, and what each of them waits for.
package struct TaskReport: Sendable {
    /// One task.
    package struct Task: Sendable {
        package var id: UInt64
        package var name: String?
        /// `running`, `enqueued`, `suspended` or `complete`.
        package var state: String
        package var isCancelled: Bool
        package var priority: UInt8
        /// The position of the parent in ``TaskReport/tasks``.
        package var parent: Int?
        package var children: [Int]
        /// `nil` if the task does not wait, and if it changed too often for what it waits for to be known.
        package var wait: Wait?
        /// A name of the wait, such as `timer "save"`, which completes the phrase "waits for".
        ///
        /// `nil` unless a call of this package waits, and the wait began while a tool looked or in this process.
        package var waitName: String?
        /// The functions that the task is in, innermost first; empty for a task that runs or is complete.
        package var stack: [String]
        /// Where the functions of the stack go on, as many addresses.
        package var addresses: [UInt64]
        /// Whether the runtime made the task for the end of a `Task.sleep`.
        package var isSleepTimer: Bool
        /// Whether the task did not change while it was read.
        package var isSettled: Bool
    }

    /// A line of a source file.
    package struct SourceLine: Hashable, Sendable {
        /// The path, as the compiler has noted it.
        package var file: String
        package var line: Int

        package init(file: String, line: Int) { (self.file, self.line) = (file, line) }

        /// The name of the file, and the line.
        var text: String { "\(file.split(separator: "/").last ?? ""):\(line)" }
    }

    /// The object that a task waits for; tasks by their positions in ``TaskReport/tasks``.
    package enum Wait: Sendable, Equatable {
        /// `nil` if the task was not found.
        case task(Int?)
        case group([Int])
        case continuation
        case sleep
        /// An actor by the name of its class.
        case actor(String)
        case mainActor
        /// The executor of tasks without an actor, or one whose class is not known.
        case executor
        case unknown(UInt32)
    }

    /// The reason why there is no report.
    package enum Failure: Error, Equatable, Sendable {
        case noProcess
        case notPermitted
        /// The process has ended, before or while it was read, or executes another program now.
        case ended
        /// The program has no Swift concurrency, or it is linked statically and its symbols were removed.
        case noRuntime
        case unknownLayout(UInt32)
        /// The runtime's variables say something else than its version of the layout.
        case contradiction
        /// The file is no core file of a 64-bit process, or cannot be read.
        case noCore
    }

    package var process: Int32
    package var program: String
    package var layout: UInt32
    /// In ascending order of ids.
    package var tasks: [Task] = []
    package var roots: [Int] = []
    /// Tasks that wait for each other: each waits for the next one, and the last one for the first.
    package var rings: [[Int]] = []
    /// Whether there are more tasks than are read.
    package var isCut = false
    /// How often a task was read again because it had changed while it was read.
    package var retries = 0
    /// Where the addresses of the stacks are in files.
    package var codePlaces: [UInt64: CodePlace] = [:]
    /// The source lines of the addresses of the stacks, as far as they are known: none, unless the caller sets them.
    package var sourceLines: [UInt64: SourceLine] = [:]
    /// The number of bytes in which tasks were searched.
    package var bytes: UInt64 = 0

    /// The maximum number of tasks that are read.
    package static let maxTasks = 2 << 20

    /// Reads the tasks of a process, which is not stopped.
    ///
    /// - Parameter process: The number of a process that this one may trace: usually of the same user. Its own memory each
    ///   process may read.
    /// - Complexity: O(n) in the pages that the process has touched, and O(m log m) in its tasks.
    package init(of process: Int32) throws(Failure) {
        let memory: ProcessMemory
        do { memory = try ProcessMemory(of: process) } catch {
            switch error {
            case .noProcess: throw .noProcess
            case .notPermitted: throw .notPermitted
            case .empty: throw .ended
            }
        }
        try self.init(of: memory)
    }

    /// Reads the tasks of a process that has ended, from its core file.
    ///
    /// The names of functions come from the program and its libraries, which must be the files that the process had.
    ///
    /// - Complexity: O(n) in the size of the file, and O(m log m) in the tasks.
    package init(core: SystemText) throws(Failure) {
        guard let memory = CoreFile(path: core) else { throw .noCore }
        try self.init(of: memory)
    }

    /// Reads the tasks of the process whose memory is open.
    init(of memory: some SearchableMemory) throws(Failure) {
        let list = memory.list
        if list.isEmpty { throw .ended }
        let code = Self.code(list, memory)
        let symbolizer = memory.symbolizer
        let runtime = try Self.runtime(of: memory, code, symbolizer)
        let (addresses, bytes) = memory.addresses(
            of: runtime.metadata, in: ProcessMemory.regions(list), most: Self.maxTasks)
        var reader = TaskReader(memory: memory, runtime: runtime) { code.mapping(at: $0) != nil }
        let records = Self.records(at: addresses, &reader)
        let names = memory.isOwn ? TaskWaits.present : [:]
        self.init(
            records: records, reader: &reader, names: names, place: { symbolizer.place(of: $0, in: code) },
            symbol: { symbolizer.symbol(at: $0, in: code) })
        self.process = memory.process
        program = symbolizer.programName
        isCut = addresses.count == Self.maxTasks
        self.bytes = bytes
        guard memory.number(UInt64.self, at: runtime.metadata) != nil else { throw .ended }
    }

    /// Returns the code in a kernel's list of another process.
    static func code(_ list: [UInt8], _ memory: some TaskMemory) -> LoadedCode {
        LoadedCode(list) { base in
            ELFFile { offset, count in
                var bytes = [UInt8](repeating: 0, count: count)
                let isRead = bytes.withUnsafeMutableBytes { memory.read(base &+ offset, into: $0) }
                return isRead ? bytes : []
            }
        }
    }

    static func runtime(
        of memory: some SearchableMemory, _ code: LoadedCode, _ symbolizer: Symbolizer
    ) throws(Failure) -> TaskRuntime {
        let variables = variables(code, symbolizer)
        do { return try TaskRuntime(variables, in: memory) } catch {
            // A process that has ended has no variables either.
            if memory.list.isEmpty { throw .ended }
            switch error {
            case .unknownVersion(let version): throw .unknownLayout(version)
            case .contradiction: throw variables.isEmpty ? .noRuntime : .contradiction
            }
        }
    }

    private static func variables(_ code: LoadedCode, _ symbolizer: Symbolizer) -> [TaskRuntime.Variable: UInt64] {
        // The library, or the program if it is linked statically.
        let library = code.mappings.first {
            $0.path.names.last?.decoded.hasPrefix("libswift_Concurrency.so") == true
        }
        guard let mapping = library ?? code.mappings.first(where: symbolizer.isProgram) else { return [:] }
        let found = symbolizer.variables(Set(TaskRuntime.Variable.allCases.map(\.rawValue)), in: mapping)
        var variables: [TaskRuntime.Variable: UInt64] = [:]
        for variable in TaskRuntime.Variable.allCases { variables[variable] = found[variable.rawValue] }
        return variables
    }

    // MARK: From records

    /// Reads the tasks at addresses, and those that they refer to.
    static func records(at addresses: [UInt64], _ reader: inout TaskReader<some TaskMemory>) -> [TaskRecord] {
        var known = Set(addresses)
        var records: [TaskRecord] = []
        records.reserveCapacity(addresses.count)
        var next = addresses
        while !next.isEmpty {
            var references: [UInt64] = []
            for task in reader.tasks(at: next) {
                records.append(task)
                if let parent = task.parent { references.append(parent) }
                if case .task(let other, _) = task.wait { references.append(other) }
            }
            next = records.count < maxTasks ? references.filter { known.insert($0).inserted } : []
        }
        return records
    }

    /// Makes the report of tasks that were read.
    ///
    /// - Parameters:
    ///   - names: What tasks wait for, by their addresses.
    ///   - place: Returns where an address is in its file.
    ///   - symbol: Returns the function at an address.
    init(
        records: [TaskRecord], reader: inout TaskReader<some TaskMemory>, names: [UInt: String] = [:],
        place: (UInt64) -> CodePlace? = { _ in nil }, symbol: (UInt64) -> Symbolizer.Symbol
    ) {
        process = 0
        program = ""
        layout = reader.runtime.layout.version
        let graph = TaskGraph(records)
        var known: [UInt64: TaskFrame] = [:]
        // Most tasks of a program wait in few places.
        var stacks: [[UInt64]: TaskStack] = [:]
        var classes: [UInt64: String] = [:]
        var parents = [Int?](repeating: nil, count: graph.tasks.count)
        for (parent, children) in graph.children.enumerated() {
            for child in children { parents[child] = parent }
        }
        tasks.reserveCapacity(graph.tasks.count)
        for (index, record) in graph.tasks.enumerated() {
            let stack =
                stacks[record.frames]
                ?? TaskStack(
                    record.frames.map { address in
                        let frame = known[address] ?? TaskFrame(symbol(address))
                        known[address] = frame
                        return (frame, address)
                    })
            stacks[record.frames] = stack
            let wait: Wait? = record.wait.map { wait in
                switch wait {
                case .task(let address, let identifier):
                    return .task(graph.position(of: address, identifier: identifier))
                case .group(let group): return .group(graph.members(of: group, in: index))
                case .continuation: return stack.isSleeping ? .sleep : .continuation
                case .executor(let actor):
                    let name = classes[actor] ?? reader.className(ofObjectAt: actor) ?? ""
                    classes[actor] = name
                    if name.isEmpty { return .executor }
                    // The main actor's tasks are queued by an executor, which the runtime or the program has made.
                    return name == "MainActor" || name.hasSuffix("MainExecutor") ? .mainActor : .actor(name)
                case .unknown(let kind): return .unknown(kind)
                }
            }
            tasks.append(
                Task(
                    id: record.identifier, name: record.name, state: record.state.rawValue,
                    isCancelled: record.isCancelled, priority: record.priority, parent: parents[index],
                    children: graph.children[index], wait: wait,
                    waitName: wait == .continuation ? UInt(exactly: record.address).flatMap { names[$0] } : nil,
                    stack: stack.names, addresses: stack.addresses,
                    isSleepTimer: stack.isSleeping && stack.names.isEmpty && record.wait == nil,
                    isSettled: record.isSettled))
        }
        for address in Set(stacks.values.flatMap(\.addresses)) { codePlaces[address] = place(address) }
        roots = graph.roots
        // Read again: the tasks of a ring were read one after the other, and memory of a task may have become another's.
        rings = graph.rings().filter { ring in
            ring.allSatisfy { index in
                let now = reader.task(at: graph.tasks[index].address)
                return now?.identifier == graph.tasks[index].identifier && now?.wait == graph.tasks[index].wait
            }
        }
        retries = reader.retries
    }
}

/// The functions of a task, without those of the runtime.
private struct TaskStack {
    var names: [String]
    var addresses: [UInt64]
    /// Whether the innermost function is `Task.sleep`, whose functions are left out.
    var isSleeping: Bool

    init(_ all: [(frame: TaskFrame, address: UInt64)]) {
        var frames: [(frame: TaskFrame, address: UInt64)] = []
        // A function with several parts is shown once.
        for one in all where one.frame.kind != .machinery && one.frame.name != frames.last?.frame.name {
            frames.append(one)
        }
        isSleeping = frames.first?.frame.kind == .sleep
        let shown = frames.drop { $0.frame.kind == .sleep }
        names = shown.map(\.frame.name)
        addresses = shown.map(\.address)
    }
}

/// One function of a task's stack.
struct TaskFrame {
    enum Kind {
        case ordinary
        /// A part of `Task.sleep` or `Clock.sleep`.
        case sleep
        /// A function of the runtime, or one that the compiler made.
        case machinery
    }

    var name: String
    var kind: Kind

    init(_ symbol: Symbolizer.Symbol) {
        var name = symbol.name ?? symbol.module.map { "\($0)+0x\(String(symbol.offset, radix: 16))" } ?? "?"
        // "(2) suspend resume partial function for main.pong() async -> Swift.Int"
        for part in [" suspend resume partial function for ", " await resume partial function for "] {
            if name.hasPrefix("("), let range = name.firstRange(of: part) { name = String(name[range.upperBound...]) }
        }
        name = Symbolizer.plain(name)
        let partial = "partial apply forwarder for "
        if name.hasPrefix(partial) { name = Symbolizer.plain(String(name.dropFirst(partial.count))) }
        self.name = Self.short(name)
        let mangled = symbol.mangled ?? ""
        let isOfRuntime = symbol.module?.hasPrefix("libswift_Concurrency.so") == true
        // The runtime's functions in C++, of which a program has none among its asynchronous functions, and the program's
        // beginning.
        let isOfCompiler =
            ["_ZL", "_ZN5swift", "swift_", "async_Main"].contains { mangled.hasPrefix($0) }
            || ["reabstraction thunk ", "dispatch thunk "].contains { name.hasPrefix($0) }
            || name.contains(".$main() async ")
        if isOfCompiler || (isOfRuntime && symbol.mangled == nil) {
            kind = .machinery
        } else if name.contains("(extension in Swift):Swift.Task<") && name.contains("sleep")
            || name.contains("Swift.Clock.sleep(")
        {
            kind = .sleep
        } else {
            kind = .ordinary
        }
    }

    /// Returns the name without the place and the conditions of an extension of Swift's own types, and without the marks of
    /// private names.
    ///
    /// `(extension in Swift):Swift.Task< where B == Swift.Never>.value.getter` becomes `Swift.Task.value.getter`, and
    /// `(load in _16E70A94A9DE736D312533244291BE52)()` becomes `load()`.
    static func short(_ name: String) -> String {
        var name = name
        // The demangler writes 32 digits. Each pass removes one mark.
        while let mark = name.firstRange(of: " in _"), let end = name[mark.upperBound...].firstIndex(of: ")"),
            name[mark.upperBound..<end].utf8.count == 32, let start = name[..<mark.lowerBound].lastIndex(of: "(")
        {
            name.removeSubrange(mark.lowerBound...end)
            name.remove(at: start)
        }
        return withoutExtension(name)
    }

    private static func withoutExtension(_ name: String) -> String {
        guard let place = name.firstRange(of: "(extension in Swift):") else { return name }
        var name = name
        name.removeSubrange(place)
        guard let start = name.firstRange(of: "< where "), let end = name[start.upperBound...].firstIndex(of: ">")
        else { return name }
        name.removeSubrange(start.lowerBound...end)
        return name
    }
}
