// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoops
internal import RunLoopsLibC
internal import RunLoopsSystem

/// The texts of a child, as C has them.
struct SpawnProgram {
    private let executable: SystemText
    private let directory: SystemText?
    private let paths: CTexts
    private let arguments: CTexts
    /// `nil` for this process's own variables, which the kernel reads by itself: a copy could meet a `setenv` on another
    /// thread, and so could this code.
    private let environment: CTexts?

    init(
        _ executable: Child.Executable, _ arguments: [String], _ environment: Child.Environment, _ directory: String?
    ) throws(Child.SpawnError) {
        let name =
            switch executable {
            case .name(let name), .path(let name): name
            }
        let variables = try Self.variables(environment)
        self.executable = try Self.text(name)
        self.directory = if let directory { try Self.text(directory) } else { nil }
        var texts = [self.executable]
        for argument in arguments { texts.append(try Self.text(argument)) }
        self.arguments = CTexts(texts)
        self.environment = variables.map { CTexts($0) }
        if case .name = executable, !name.utf8.contains(UInt8(ascii: "/")), !name.isEmpty {
            let path = ProcessEnvironment.value(of: "PATH", in: variables ?? ProcessEnvironment.variables())
            // An empty part is the working directory.
            paths = CTexts(
                (path?.bytes ?? Array("/bin:/usr/bin".utf8)).split(
                    separator: UInt8(ascii: ":"), omittingEmptySubsequences: false
                ).map { SystemText(prefixOf: $0.isEmpty ? [UInt8(ascii: ".")] : $0).entry(texts[0]) })
        } else {
            paths = CTexts([texts[0]])
        }
    }

    /// The variables that the child gets; `nil` for those of this process.
    private static func variables(_ environment: Child.Environment) throws(Child.SpawnError) -> [SystemText]? {
        switch environment {
        case .inherited: return nil
        case .updating(let changes):
            let changed = Set(try changes.keys.map { (name) throws(Child.SpawnError) in try variable(name) })
            // As they are: a value need not be UTF-8.
            let kept = ProcessEnvironment.variables().filter {
                !changed.contains(SystemText(prefixOf: $0.bytes.prefix { $0 != UInt8(ascii: "=") }))
            }
            return try self.variables(changes.compactMapValues(\.self)) + kept
        case .only(let values): return try variables(values)
        }
    }

    private static func variables(_ values: [String: String]) throws(Child.SpawnError) -> [SystemText] {
        try values.map { (name, value) throws(Child.SpawnError) in
            _ = try variable(name)
            return try text("\(name)=\(value)")
        }
    }

    private static func text(_ text: String) throws(Child.SpawnError) -> SystemText {
        guard let checked = SystemText(text) else { throw Child.SpawnError(.text, text, code: EINVAL) }
        return checked
    }

    /// The name of a variable: with an `=` in it, it would be another variable's.
    private static func variable(_ name: String) throws(Child.SpawnError) -> SystemText {
        if name.isEmpty || name.utf8.contains(UInt8(ascii: "=")) {
            throw Child.SpawnError(.text, name, code: EINVAL)
        }
        return try text(name)
    }

    func start(
        _ streams: inout SpawnStreams, _ group: Child.Group, _ limits: [Child.Limit],
        terminal: Child.Terminal? = nil
    ) throws(Child.SpawnError) -> (CInt, Descriptor) {
        var moves = streams.moves.sorted { $0.to < $1.to }
        let limits = limits.map { rl_limit(resource: $0.resource, soft: $0.soft, hard: $0.hard) }
        var plan = rl_spawn_plan()
        switch group {
        case .inherited: plan.group = -1
        case .new: plan.group = 0
        // No group has such a number, and the kernel says so: 0 and -1 mean something else here.
        case .joined(let number): plan.group = number > 0 ? number : .max
        case .newSession: (plan.group, plan.session) = (-1, true)
        }
        plan.terminal = terminal != nil
        var file: CInt = -1
        let process = withOptionalCString(directory) { directory in
            moves.withUnsafeMutableBufferPointer { moves in
                limits.withUnsafeBufferPointer { limits in
                    plan.paths = UnsafePointer(paths.pointer)
                    plan.arguments = UnsafePointer(arguments.pointer)
                    plan.environment = (environment?.pointer).map { UnsafePointer($0) }
                    plan.directory = directory
                    (plan.moves, plan.move_count) = (moves.baseAddress, moves.count)
                    (plan.limits, plan.limit_count) = (limits.baseAddress, limits.count)
                    return rl_spawn(&plan, &file)
                }
            }
        }
        withExtendedLifetime((self, streams)) {}
        if process < 0 { throw error(of: plan, group, limits, terminal) }
        return (process, Descriptor(file))
    }

    private func error(
        of plan: rl_spawn_plan, _ group: Child.Group, _ limits: [rl_limit], _ terminal: Child.Terminal?
    ) -> Child.SpawnError {
        let (step, subject): (Child.SpawnError.Step, String) =
            switch plan.step {
            case RL_SPAWN_SIGNALS: (.signals, executable.decoded)
            case RL_SPAWN_GROUP: (.group, "\(group)")
            case RL_SPAWN_DIRECTORY: (.directory, directory?.decoded ?? ".")
            case RL_SPAWN_DESCRIPTORS: (.descriptors, executable.decoded)
            case RL_SPAWN_TERMINAL: (.terminal, terminal?.path ?? "")
            case RL_SPAWN_LIMITS: (.limits, "\(limits[plan.index].resource)")
            case RL_SPAWN_EXECUTE: (.execute, executable.decoded)
            default: (.clone, executable.decoded)
            }
        return Child.SpawnError(step, subject, code: plan.error)
    }
}

private func withOptionalCString<Result>(_ text: SystemText?, _ body: (UnsafePointer<CChar>?) -> Result) -> Result {
    guard let text else { return body(nil) }
    return text.withCString(body)
}

/// Texts as a C program gets them, with a null pointer at the end.
private final class CTexts {
    let pointer: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    private let count: Int

    init(_ texts: [SystemText]) {
        let all = texts.map { $0.withCString { strdup($0) } }
        count = all.count
        pointer = .allocate(capacity: count + 1)
        pointer.initialize(from: all + [nil], count: count + 1)
    }

    deinit {
        for index in 0..<count { free(pointer[index]) }
        pointer.deallocate()
    }
}
