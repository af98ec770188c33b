// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CLinuxKernel
internal import LinuxLibC

/// The texts of a child, as C has them.
struct SpawnProgram {
    private let executable: String
    private let directory: String?
    private let paths: CTexts
    private let arguments: CTexts
    private let environment: CTexts

    init(
        _ executable: Child.Executable, _ arguments: [String], _ environment: Child.Environment, _ directory: String?
    ) throws(Child.SpawnError) {
        let name =
            switch executable {
            case .name(let name), .path(let name): name
            }
        var variables: [String] = []
        var removed: Set<String>?
        switch environment {
        case .inherited: removed = []
        case .updating(let changes):
            removed = Set(changes.keys)
            variables = changes.compactMap { name, value in value.map { "\(name)=\($0)" } }
        case .only(let values): variables = values.map { "\($0)=\($1)" }
        }
        for text in [name, directory ?? ""] + arguments + variables where text.utf8.contains(0) {
            throw Child.SpawnError(.text, text, code: EINVAL)
        }
        self.executable = name
        self.directory = directory
        self.arguments = CTexts([name] + arguments)
        self.environment = CTexts(variables, inheritingAllBut: removed)
        if case .name = executable, !name.contains("/"), !name.isEmpty {
            let search = self.environment.value(of: "PATH") ?? "/bin:/usr/bin"
            // An empty part is the working directory.
            paths = CTexts(
                search.split(separator: ":", omittingEmptySubsequences: false).map {
                    "\($0.isEmpty ? "." : $0)/\(name)"
                })
        } else {
            paths = CTexts([name])
        }
    }

    func start(
        _ streams: inout SpawnStreams, _ group: Child.Group, _ limits: [Child.Limit]
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
        var file: CInt = -1
        let process = withOptionalCString(directory) { directory in
            moves.withUnsafeMutableBufferPointer { moves in
                limits.withUnsafeBufferPointer { limits in
                    plan.paths = UnsafePointer(paths.pointer)
                    plan.arguments = UnsafePointer(arguments.pointer)
                    plan.environment = UnsafePointer(environment.pointer)
                    plan.directory = directory
                    (plan.moves, plan.move_count) = (moves.baseAddress, moves.count)
                    (plan.limits, plan.limit_count) = (limits.baseAddress, limits.count)
                    return rl_spawn(&plan, &file)
                }
            }
        }
        withExtendedLifetime((self, streams)) {}
        if process < 0 { throw error(of: plan, group, limits) }
        return (process, Descriptor(file))
    }

    private func error(of plan: rl_spawn_plan, _ group: Child.Group, _ limits: [rl_limit]) -> Child.SpawnError {
        let (step, subject): (Child.SpawnError.Step, String) =
            switch plan.step {
            case RL_SPAWN_SIGNALS: (.signals, executable)
            case RL_SPAWN_GROUP: (.group, "\(group)")
            case RL_SPAWN_DIRECTORY: (.directory, directory ?? ".")
            case RL_SPAWN_DESCRIPTORS: (.descriptors, executable)
            case RL_SPAWN_LIMITS: (.limits, "\(limits[plan.index].resource)")
            case RL_SPAWN_EXECUTE: (.execute, executable)
            default: (.clone, executable)
            }
        return Child.SpawnError(step, subject, code: plan.error)
    }
}

private func withOptionalCString<Result>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Result) -> Result {
    guard let text else { return body(nil) }
    return text.withCString(body)
}

/// Texts as a C program gets them, with a null pointer at the end.
private final class CTexts {
    let pointer: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    private let count: Int

    /// - Parameter removed: The variables of this process's environment that are left out; none of its variables is
    ///   taken if `nil`. They are copied as they are: a value need not be UTF-8.
    init(_ texts: [String], inheritingAllBut removed: Set<String>? = nil) {
        var all = texts.map { strdup($0) }
        if let removed, var next = rl_environment() {
            while let text = next.pointee {
                let name = UnsafeBufferPointer(start: text, count: strcspn(text, "="))
                if !removed.contains(String(decoding: name.map { UInt8(bitPattern: $0) }, as: UTF8.self)) {
                    all.append(strdup(text))
                }
                next += 1
            }
        }
        count = all.count
        pointer = .allocate(capacity: count + 1)
        pointer.initialize(from: all + [nil], count: count + 1)
    }

    deinit {
        for index in 0..<count { free(pointer[index]) }
        pointer.deallocate()
    }

    func value(of variable: String) -> String? {
        for index in 0..<count {
            guard let text = pointer[index] else { continue }
            let whole = String(cString: text)
            if whole.hasPrefix("\(variable)=") { return String(whole.dropFirst(variable.count + 1)) }
        }
        return nil
    }
}
