// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport

/// The Swift compiler of the machine, with the modules that this test run was built with.
struct Compiler {
    struct Output {
        let status: CInt
        let text: String
    }

    /// The folder with what was built: modules and objects.
    private let products: String
    /// Where the C part's module map is: beside this source.
    private let headers: String

    /// `nil` where there is no compiler in PATH, or no modules beside the tests.
    init?() {
        guard let executable = realpath("/proc/self/exe", nil) else { return nil }
        defer { free(executable) }
        let path = String(cString: executable)
        guard let slash = path.lastIndex(of: "/") else { return nil }
        products = String(path[..<slash])
        headers = #filePath.part(before: "/Tests/Core/RunLoopsTests/") + "/Sources/Core/CRunLoopsKernel/include"
        guard access("\(products)/Modules/RunLoops.swiftmodule", R_OK) == 0 else { return nil }
        guard Self.run("swiftc --version").status == 0 else { return nil }
    }

    /// Whether all of these modules were built beside the tests.
    func has(_ modules: [String]) -> Bool {
        modules.allSatisfy { access("\(products)/Modules/\($0).swiftmodule", R_OK) == 0 }
    }

    /// What the compiler says of `source`, which imports `RunLoops`, in Swift 6 mode.
    ///
    /// Not `-typecheck`: the compiler checks later, on the intermediate language, what may be sent to another thread.
    func check(_ source: String, options: String = "") -> Output {
        withFile(source) { file, _ in
            Self.run(
                "swiftc -frontend -emit-sil -o /dev/null -swift-version 6 \(options) -I '\(products)/Modules' -I '\(headers)' \(moduleMaps) '\(file)'"
            )
        }
    }

    /// Makes a program of `source` and runs it once for each argument list.
    func runProgram(_ source: String, _ arguments: [String]) -> [Output] {
        withFile(source) { file, folder in
            // As the tests were linked: an object of a file that has been renamed stays in the folder for ever.
            let objects = "\(folder)/objects"
            let linked = "'\(products)'/*PackageTests.product/Objects.LinkFileList"
            let listed = Self.run("grep -hE '/(RunLoops|CRunLoopsKernel)[.]build/' \(linked) > '\(objects)'")
            if listed.status != 0 { return [listed] }
            let program = "\(folder)/program"
            let made = Self.run(
                "swiftc -swift-version 6 \(sanitizer) -I '\(products)/Modules' -I '\(headers)' '\(file)' '@\(objects)' -o '\(program)'"
            )
            if made.status != 0 { return [made] }
            return arguments.map { Self.run("timeout \(plenty.components.seconds) '\(program)' \($0)") }
        }
    }

    /// Where the C parts of the other libraries are, as words of a shell's command: each on a line of its own.
    private var moduleMaps: String {
        "$(find '\(products)'/C*.build -name module.modulemap -printf '-Xcc\\n-fmodule-map-file=%p\\n')"
    }

    /// The sanitizer that the objects were built with, judged by the runtime in this process.
    private var sanitizer: String {
        if Sanitizer.isThread { return "-sanitize=thread" }
        return Sanitizer.isAddress ? "-sanitize=address" : ""
    }

    private func withFile<Result>(_ source: String, _ body: (String, String) -> Result) -> Result {
        let folder = TemporaryDirectory()
        let file = folder.path("main.swift")
        guard let stream = fopen(file, "w") else { preconditionFailure("\(file): errno \(errno)") }
        fputs(source, stream)
        fclose(stream)
        return body(file, folder.path)
    }

    /// Runs a command of the shell; what it says, on both streams.
    private static func run(_ command: String) -> Output {
        // A path may have spaces: only lines are words of what a command prints. The compiler leaves folders behind.
        let folder = "TMPDIR=$(mktemp -d)\nexport TMPDIR\ntrap 'rm -rf \"$TMPDIR\"' EXIT"
        guard let stream = popen("IFS='\n'\n\(folder)\n{ \(command); } 2>&1", "r") else {
            return Output(status: -1, text: "popen")
        }
        var text: [UInt8] = []
        while true {
            let byte = fgetc(stream)
            if byte == EOF { break }
            text.append(UInt8(truncatingIfNeeded: byte))
        }
        let status = pclose(stream)
        return Output(status: status, text: String(decoding: text, as: UTF8.self))
    }
}

extension String {
    /// What is before `mark`; all of it without one.
    fileprivate func part(before mark: String) -> String {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(mark) { return String(self[..<start]) }
            start = index(after: start)
        }
        return self
    }
}
