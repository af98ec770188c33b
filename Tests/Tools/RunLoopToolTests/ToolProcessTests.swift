// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport
import Testing

@testable import RunLoopsDiagnostics

@Suite("The built tool", .ownThread, .enabled(if: builtTool != nil))
struct ToolProcessTests {
    /// What the commands print, without errors unless they say so, and their status; `$tool` is the tool,
    /// `$program` a program to look into.
    private func shell(_ commands: String) throws -> (text: String, status: CInt) {
        let text = """
            # A path may have spaces: what variables hold is not split into words.
            IFS=
            tool='\(builtTool ?? "")'; program=$(dirname $tool)/RunLoopsDiagnosticsPrograms
            XDG_RUNTIME_DIR=$(mktemp -d); export XDG_RUNTIME_DIR; cd $XDG_RUNTIME_DIR
            trap 'rm -r $XDG_RUNTIME_DIR' EXIT
            \(commands)
            """
        // Of this thread, which blocks all signals, the shell would have that.
        return try TestThread.run {
            let stream = try #require(popen(text, "re"))
            var bytes: [UInt8] = []
            while case let byte = fgetc(stream), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
            return (String(decoding: bytes, as: UTF8.self), pclose(stream) >> 8 & 0xFF)
        }
    }

    /// What one command prints while `$pid`, another of the tool's processes, can be looked into.
    private func looking(_ command: String) throws -> (text: String, status: CInt) {
        try shell(
            """
            RUNLOOP_INSPECT=1 $tool port listen looked-at --quiet >/dev/null &
            pid=$!
            until $tool dump $pid 2>/dev/null | grep -q asleep; do sleep 0.05; kill -0 $PPID || exit; done
            \(command)
            status=$?
            kill $pid
            wait $pid
            exit $status
            """)
    }

    /// What `ps --json` says of the process that can be looked into: others of the same user may be there too.
    private func listed(_ commands: String) throws -> JSON? {
        let lines = try looking("echo $pid; \(commands)").text.split(separator: "\n")
        let process = try #require(lines.first.flatMap { Int64($0) })
        let processes = try #require(try JSON(parsing: lines.dropFirst().joined())["processes"]?.array)
        return processes.first { $0["process"]?.integer == process }
    }

    @Test func `ps --json lists each process with its loops or the reason why it does not answer`() throws {
        let process = try listed("$tool ps --json")
        #expect(process?["program"]?.string == "runloop")
        #expect(process?["loops"]?.array?.first?["activity"]?.string == "asleep")
        #expect(try listed("kill -STOP $pid; $tool ps --json; kill -CONT $pid")?["error"]?.string == "stopped")
        #expect(try listed("kill $pid; wait $pid; $tool ps --json") == nil)
    }

    @Test func `dump --json describes the loops`() throws {
        let (text, status) = try looking("$tool dump --json $pid")
        let loop = try #require(try JSON(parsing: text)["loops"]?.array?.first)
        #expect(status == 0)
        #expect(loop["description"]?.string?.contains("listen") == true)
    }

    @Test func `top --once prints one report, as lines or as JSON, and ends`() throws {
        let lines = try looking("$tool top --once --every 50ms $pid")
        #expect(lines.status == 0)
        #expect(lines.text.contains("turns/s") && lines.text.contains("asleep for"))
        #expect(lines.text.split(separator: "\n").count == 2)
        let (text, status) = try looking("$tool top --once --every 50ms --json $pid")
        #expect(status == 0)
        #expect(try JSON(parsing: text)["loops"]?.array?.first?["statistics"]?["turns"] != nil)
    }

    @Test func `doctor --json prints only JSON whatever the program prints`() throws {
        let (text, status) = try shell("$tool doctor --json -- $program work 500 2>errors")
        let report = try JSON(parsing: text)
        #expect(status == 0 || status == 1)
        #expect(report["program"]?.string == "RunLoopsDiagnosticsPrograms")
        #expect(report["lost"]?.number == 0)
        let findings = try #require(report["findings"]?.array)
        #expect(findings.allSatisfy { $0["kind"]?.string != nil && $0["text"]?.string != nil })
        #expect((status == 1) == !findings.isEmpty)
    }

    /// What a command prints while `$pid` plays a scene of `RunLoopsTasksPrograms`, once its tasks show the word.
    private func looking(
        _ scene: String, until word: String, _ command: String
    ) throws -> (text: String, status: CInt) {
        try shell(
            """
            mkfifo input; $(dirname $tool)/RunLoopsTasksPrograms \(scene) <input & pid=$!; exec 3>input
            until $tool tasks $pid 2>/dev/null | grep -q '\(word)'; do sleep 0.05; kill -0 $pid || exit; done
            \(command)
            status=$?
            exec 3>&-
            wait $pid
            exit $status
            """)
    }

    @Test func `tasks prints the tasks that wait for each other first, as lines and as JSON`() throws {
        let (text, status) = try looking("deadlock 2", until: "wait for each other", "$tool tasks $pid")
        #expect(status == 0)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        #expect(lines[0].contains("\"knot 0\" and task ") && lines[0].hasSuffix("\"knot 1\" wait for each other"))
        #expect(lines[1].hasPrefix("RunLoopsTasksPrograms, process "))
        let json = try JSON(
            parsing: try looking("deadlock 2", until: "wait for each other", "$tool tasks --json $pid").text)
        let ring = try #require(json["rings"]?.array?.first?.array)
        let tasks = try #require(json["tasks"]?.array).filter { ring.contains($0["id"] ?? .null) }
        #expect(tasks.map { $0["name"]?.string } == ["knot 0", "knot 1"])
        #expect(tasks.map { $0["waitsFor"]?["task"] } == [ring[1], ring[0]])
    }

    /// The line of `RunLoopsTasksPrograms` in which a text is for the first time.
    private func line(of text: String) throws -> Int {
        let folder = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
        let source = try shell("cat /\(folder)/RunLoopsTasksPrograms/Program.swift").text
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
        return try #require(lines.firstIndex { $0.contains(text) }) + 1
    }

    @Test(.enabled(if: hasSymbolizer)) func `tasks prints the line of the await that each function is in`() throws {
        let line = try line(of: "return await task.value")
        let (text, status) = try looking(
            "deadlock 2", until: "wait for each other",
            "$tool tasks --lines $pid 2>&1; $tool tasks --no-lines $pid | sed 's/^/without: /'; $tool tasks --json $pid"
        )
        #expect(status == 0)
        let lines = text.split(separator: "\n").map(String.init)
        let function = "RunLoopsTasksPrograms.takeASlot(Swift.Int) async -> Swift.Int"
        #expect(lines.count { $0 == "    \(function) at Program.swift:\(line)" } == 2, "\(text)")
        #expect(lines.count { $0 == "without:     \(function)" } == 2, "\(text)")
        let json = try JSON(parsing: try #require(lines.last))
        let task = try #require(json["tasks"]?.array?.first { $0["name"]?.string == "knot 0" })
        let index = try #require(task["stack"]?.array?.firstIndex(of: .string(function)))
        let place = try #require(task["lines"]?.array?[index])
        #expect(place["line"]?.integer == Int64(line))
        #expect(place["file"]?.string?.hasSuffix("/RunLoopsTasksPrograms/Program.swift") == true)
    }

    @Test(.enabled(if: hasSymbolizer)) func `tasks distinguishes tasks that wait in different lines of a function`()
        throws
    {
        let (first, second) = (try line(of: "// The first wait."), try line(of: "// The second wait."))
        let (text, _) = try looking(
            "lines", until: "waitInOneOfTwoLines",
            """
            # The other task may not wait yet.
            for attempt in 1 2 3 4 5 6 7 8 9 10; do
                [ $($tool tasks $pid | grep -c waitInOneOfTwoLines) = 2 ] && break
                sleep 0.05
            done
            $tool tasks $pid
            """)
        for line in [first, second] {
            #expect(text.contains("waitInOneOfTwoLines(Swift.Bool) async -> () at Program.swift:\(line)"), "\(text)")
        }
    }

    @Test func `without source lines tasks prints the functions, and with --lines also the reason`() throws {
        let (text, status) = try looking(
            "deadlock 2", until: "wait for each other",
            """
            mkdir none garbage fails floods
            printf '#!/bin/sh\necho nonsense\n' >garbage/llvm-symbolizer
            printf '#!/bin/sh\necho /a.swift:1:1; exit 3\n' >fails/llvm-symbolizer
            printf '#!/bin/sh\nwhile :; do echo /a.swift:1:1; done\n' >floods/llvm-symbolizer
            chmod +x */llvm-symbolizer
            for kind in none garbage fails floods; do
                PATH=$PWD/$kind $tool tasks $pid 2>&1 | sed "s/^/$kind: /"
                PATH=$PWD/$kind $tool tasks --lines $pid 2>&1 >/dev/null | sed "s/^/why $kind: /"
            done
            """)
        #expect(status == 0)
        let lines = text.split(separator: "\n").map(String.init)
        for kind in ["none", "garbage", "fails", "floods"] {
            let function = "\(kind):     RunLoopsTasksPrograms.takeASlot(Swift.Int) async -> Swift.Int"
            // By a shell whose commands are all found.
            #expect(lines.count { $0 == function } == 2, "\(text)")
            #expect(lines.count { $0.hasPrefix("why \(kind): No source lines: ") } == 1, "\(text)")
        }
        #expect(text.contains("why none: No source lines: Install llvm-symbolizer, or add the folder"))
        #expect(text.contains("why fails: No source lines: llvm-symbolizer has failed: "))
    }

    @Test(.enabled(if: hasSymbolizer && geteuid() == 0))
    func `The superuser's tasks reads no debug information of another user's file`() throws {
        let (text, _) = try shell(
            """
            chmod 711 .
            cp $(dirname $tool)/RunLoopsTasksPrograms other; chown 65534 other; mkfifo input
            ./other deadlock 2 <input & pid=$!; exec 3>input
            until $tool tasks $pid 2>/dev/null | grep -q 'wait for each other'; do sleep 0.05; kill -0 $pid || exit; done
            $tool tasks --lines $pid 2>&1
            exec 3>&-
            """)
        #expect(text.contains("takeASlot"), "\(text)")
        #expect(!text.contains("Program.swift:"), "\(text)")
        #expect(text.contains("No source lines: other belongs to another user, so its debug information is not read"))
    }

    @Test func `doctor names the tasks of a process that wait for each other`() throws {
        let (text, status) = try shell(
            """
            mkfifo input; RUNLOOP_INSPECT=1 $program knot <input >/dev/null & pid=$!; exec 3>input
            until $tool dump $pid 2>/dev/null | grep -q asleep; do sleep 0.05; kill -0 $pid || exit; done
            until $tool tasks $pid 2>/dev/null | grep -q 'wait for each other'; do sleep 0.05; kill -0 $pid || exit; done
            $tool doctor --for 50ms $pid
            status=$?
            $tool doctor --json --for 50ms $pid
            exec 3>&-
            wait $pid
            exit $status
            """)
        #expect(status == 1)
        #expect(text.contains("\"knot 0\" and task ") && text.contains("\"knot 1\" wait for each other\n"), "\(text)")
        #expect(text.contains(#""kind":"tasksWaitInRing""#))
    }

    @Test func `tasks --inside has an inspected process look itself, without rights`() throws {
        let (text, status) = try shell(
            """
            mkfifo input; RUNLOOP_INSPECT=1 $program knot <input >/dev/null & pid=$!; exec 3>input
            until $tool tasks --inside $pid 2>/dev/null | grep -q 'wait for each other'
            do sleep 0.05; kill -0 $pid || exit; done
            # It finds no task twice, not even its own copies.
            for i in 1 2 3; do $tool tasks --inside $pid | grep -c '^task .*knot'; done
            $tool tasks --inside --json $pid
            status=$?
            exec 3>&-
            wait $pid
            exit $status
            """)
        #expect(status == 0)
        let lines = text.split(separator: "\n").map(String.init)
        try #require(lines.count == 4, "\(lines)")
        #expect(lines[..<3] == ["3", "3", "3"])
        let json = try JSON(parsing: lines[3])
        #expect(json["rings"]?.array?.first?.array?.count == 2)
        let names = json["tasks"]?.array?.compactMap { $0["name"]?.string }.sorted()
        #expect(names == ["knot 0", "knot 1"])
        #expect(json["program"]?.string == "RunLoopsDiagnosticsPrograms")
    }

    @Test func `doctor names the function that blocks the main actor`() throws {
        let (text, status) = try shell(
            """
            mkfifo input; RUNLOOP_INSPECT=1 $program block <input >/dev/null & pid=$!; exec 3>input
            until $tool tasks $pid 2>/dev/null | grep -q 'waits for the main actor'
            do sleep 0.05; kill -0 $pid || exit; done
            $tool doctor --for 50ms $pid
            status=$?
            exec 3>&-
            wait $pid
            exit $status
            """)
        #expect(status == 1)
        #expect(text.contains("A task waits for the main actor, whose thread waits for input or output"), "\(text)")
        #expect(text.contains("called by static RunLoopsDiagnosticsPrograms.Program.waitForEnd() -> (), called"))
        #expect(!text.contains("RUNLOOP_IS"), "\(text)")
    }

    @Test func `tasks --watch prints the tasks again until the process ends`() throws {
        let (text, status) = try looking(
            "deadlock 2", until: "wait for each other",
            """
            $tool tasks --watch --every 50ms $pid >out 2>err & watcher=$!
            until [ $(grep -c 'wait for each other$' out) -ge 3 ]; do sleep 0.05; kill -0 $watcher || break; done
            kill -KILL $pid; wait $watcher; status=$?; cat err; exec 3>&-; exit $status
            """)
        #expect(status == 75 || status == 66, "\(status) \(text)")
        #expect(text.contains("has ended, or executes another program now") || text.contains("does not exist"))
    }

    @Test func `tasks refuses a file that is no core file, and options that need a process`() throws {
        let (text, _) = try shell(
            "echo no >file; for words in file '--watch file' nothing '--every 0s 1'; do sh -c \"$tool tasks $words\" 2>&1; echo $?; done"
        )
        let lines = text.split(separator: "\n").map(String.init)
        #expect(lines.first == "Error: file is no core file of a 64-bit process, or cannot be read", "\(text)")
        #expect(lines.filter { ["65", "64"].contains($0) } == ["65", "64", "64", "64"], "\(text)")
        #expect(text.contains("--inside and --watch need the number of a process"))
        #expect(text.contains("Give the number of a process, or a core file"))
        #expect(text.contains("--every must be more than 0"))
    }

    @Test func `tasks --inside needs a process that answers`() throws {
        let (text, status) = try shell(
            "sleep 1000 & pid=$!; $tool tasks --inside $pid 2>&1; status=$?; kill $pid; exit $status")
        #expect(status == 1 && text.contains("cannot be looked into"), "\(status) \(text)")
    }

    @Test func `tasks prints no character that a terminal obeys`() throws {
        let (text, _) = try looking("name", until: "red", "$tool tasks $pid; $tool tasks --json $pid")
        #expect(!text.contains("\u{1B}"))
        #expect(text.contains("\"red \\u{1b}[31m text\"") && text.contains("red \\u001b[31m text"))
    }

    @Test func `tasks has a sentence and a status for each process that it cannot read`() throws {
        let (text, _) = try shell(
            """
            $tool tasks 2147483647 2>&1; echo $?
            sleep 1000 & pid=$!
            until [ $(cat /proc/$pid/comm) = sleep ]; do sleep 0.05; done
            $tool tasks $pid 2>&1; echo $?
            kill $pid
            """)
        let lines = text.split(separator: "\n").map(String.init)
        try #require(lines.count == 4, "\(lines)")
        #expect(lines[0] == "Error: process 2147483647 does not exist" && lines[1] == "66")
        #expect(lines[2].contains("has no Swift concurrency that can be found") && lines[3] == "65")
    }

    @Test func `tasks refuses a process of another user`() throws {
        // The superuser's own processes are another user's, if the tool gives its rights away.
        let (text, status) = try shell(
            """
            # The other user may not be permitted to enter the folder of the build.
            chmod 711 .; cp $tool tool
            if [ $(id -u) = 0 ]
            then setpriv --reuid 65534 --clear-groups --bounding-set -all --inh-caps -all ./tool tasks 1 2>&1
            else ./tool tasks 1 2>&1
            fi
            """)
        #expect(status == 77 && text.contains("process 1 cannot be read"), "\(status) \(text)")
    }

    @Test func `names of files, of folders and of programs, and arguments, need not be UTF-8`() throws {
        let folder = try shell(
            #"""
            odd=$(printf 'odd\377'); LC_ALL=C TMPDIR=$PWD/$odd; export LC_ALL TMPDIR; mkdir $odd; ln -s $tool $odd/$odd
            $tool trace -o $odd.json -- $odd/$odd describe >/dev/null 2>errors
            echo $?
            $tool doctor $odd.json >/dev/null 2>>errors
            cat errors
            for name in *; do printf %s $name | od -An -tx1; done
            $tool trace -o none.json -- sh -c 'printf %s $1 | od -An -tx1' sh $odd 2>/dev/null
            ls $odd | wc -l
            """#)
        let odd = " 6f 64 64 ff"
        #expect(
            folder.text.split(separator: "\n").map(String.init) == [
                "0", " 65 72 72 6f 72 73", odd, "\(odd) 2e 68 74 6d 6c", "\(odd) 2e 6a 73 6f 6e", odd, "1",
            ])
    }

    @Test func `trace and doctor say how long they have looked, and how much of that is kept`() throws {
        // The run of the main loop begins before the recording.
        let busy = try shell(
            """
            RUNLOOP_INSPECT=1 $program work 100000 >/dev/null & pid=$!
            until $tool dump $pid 2>/dev/null | grep -q asleep; do sleep 0.05; kill -0 $pid || exit; done
            $tool trace --for 500ms --events 16 $pid; $tool doctor trace.json; $tool doctor --for 100ms $pid
            $tool doctor --json --for 100ms $pid; kill $pid
            """)
        let lines = busy.text.split(separator: "\n").map(String.init)
        #expect(lines.first?.contains(" 2 loops, ") == true, "\(lines.first ?? "")")
        let kept = lines.filter { $0.hasPrefix("The trace has the last ") }
        #expect(kept.contains { $0.hasSuffix(" --events keeps more.") })
        #expect(kept.contains { $0.hasSuffix(" What is said is about these.") })
        #expect(lines.contains { $0.hasPrefix("Looked at RunLoopsDiagnosticsPrograms for ") })
        let json = try JSON(parsing: lines.last ?? "")
        #expect((json["seconds"]?.number ?? 0) >= 0.1 && json["keptSeconds"]?.number != nil)
        let program = try shell("$tool trace --events 16 -- $program work 300; $tool trace --events 0 1 2>&1")
        #expect(program.text.contains("The trace has the last "))
        #expect(program.text.contains("--events must be from 1 to "))
    }

    @Test(arguments: ["doctor", "doctor --json"])
    func `characters of a trace that a terminal obeys are printed by number`(command: String) throws {
        let begin = #""pid":1,"tid":1,"name":"#
        let (text, status) = try shell(
            #"""
            cat >trace.json <<'END'
            {"otherData": {"program": "p\u001b[2J\u009b1m"}, "traceEvents": [
            {"ph":"B","ts":0,"cat":"run",BEGIN"run"}, {"ph":"B","ts":1,"cat":"turn",BEGIN"turn"},
            {"ph":"B","ts":2,"cat":"timer",BEGIN"x\u001b]52;c;eA==\u0007\u202ey\nz\u2066"},
            {"ph":"E","ts":900000,"pid":1,"tid":1}, {"ph":"E","ts":900001,"pid":1,"tid":1},
            {"ph":"E","ts":900002,"pid":1,"tid":1}]}
            END
            sed 's/"ph":"B"/"ph":"\\u001b"/' trace.json >broken.json
            $tool COMMAND trace.json; $tool COMMAND broken.json 2>&1
            """#.replacing("BEGIN", with: begin).replacing("COMMAND", with: command))
        #expect(status == 1)
        let plain = #"x\u{1b}]52;c;eA==\u{7}\u{202e}y\u{a}z\u{2066}"#
        #expect(text.contains(command == "doctor" ? plain : #"x\u001b]52;c;eA=="#))
        #expect(text.contains(#"broken.json: no trace: event 0 has the unknown phase \u{1b}"#))
        for scalar in text.unicodeScalars where scalar != "\n" {
            #expect(![.control, .format].contains(scalar.properties.generalCategory), "\(scalar.value)")
        }
    }

    @Test func `misuse ends with status 64, help with 0 and a failure with 1`() throws {
        let errors = try shell("$tool top --nonsense 2>&1; echo $?; $tool dump 2147483647 2>&1; echo $?")
        #expect(errors.text.contains("See 'runloop top --help' for more information.\n64\n"))
        #expect(errors.text.hasSuffix("Error: there is no process 2147483647\n1\n"))
        let help = try shell("$tool --version && $tool trace --help && $tool help port send")
        #expect(help.status == 0)
        #expect(help.text.split(separator: "\n").first?.wholeMatch(of: /\d+\.\d+\.\d+/) != nil)
    }

    @Test func `doctor treats a number as the number of a process`() throws {
        let (text, status) = try shell("cd / && $tool doctor 2147483647 2>&1")
        #expect(status == 1)
        #expect(text.contains("there is no process 2147483647"))
    }

    @Test(arguments: [("runloop d", "describe doctor dump"), ("runloop top --o", "--once")])
    func `bash completes commands and options`(line: String, expected: String) throws {
        #expect(try completions(of: line).sorted().joined(separator: " ") == expected)
    }

    @Test func `bash completes the numbers of inspectable processes and the names of ports`() throws {
        let processes = try looking("echo $pid; " + Self.completing("runloop dump "))
        let lines = processes.text.split(separator: "\n")
        #expect(try lines.dropFirst().contains(#require(lines.first)))
        #expect(try looking(Self.completing("runloop port send ")).text == "looked-at\n")
    }

    private func completions(of line: String) throws -> [String] {
        try shell(Self.completing(line)).text.split(separator: "\n").map(String.init)
    }

    /// A command that prints what bash would offer at the end of a line.
    private static func completing(_ line: String) -> String {
        """
        bash -c '
        PATH=$(dirname "$0"):$PATH
        source <(runloop --generate-completion-script bash)
        COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDS=($1) COMP_TYPE=9
        [[ $1 != *" " ]] || COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _runloop runloop "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
        printf "%s\\n" "${COMPREPLY[@]}"
        ' $tool '\(line)' 2>/dev/null
        """
    }
}

/// Whether a test can find source lines.
private let hasSymbolizer =
    getenv("PATH").map { String(cString: $0) }?.split(separator: ":").contains {
        access("\($0)/llvm-symbolizer", X_OK) == 0
    } == true
