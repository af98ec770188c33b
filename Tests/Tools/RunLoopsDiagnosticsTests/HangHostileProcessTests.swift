// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport
import Testing

/// Programs that may die of being watched, each in a process of its own.
@Suite(
    "A program whose stack is not what it seems", .ownThread,
    .enabled(if: hangPrograms != nil))
struct HangHostileProcessTests {
    /// The report of the end of the program's one hang, from a program that has survived.
    private func end(_ scene: String, program: String? = hangPrograms) throws -> String {
        let lines = shell("timeout 400 '\(program ?? "")' \(scene) 2>&1; echo survived: $?")
        try #require(lines.hasSuffix("survived: 0\n"), "\(lines)")
        let ends = lines.split(separator: "\n").filter {
            $0.hasPrefix(#"{"stage":"ended""#) && $0.contains(#""label":"hostile"#)
        }
        try #require(ends.count == 1, "\(lines)")
        return lines
    }

    @Test(arguments: [
        ("fibre", "scene_spin"), ("edge", "spin_at_the_edge"), ("handler", "on_signal"),
        ("deep", "scene_spin_deep_down"), ("sandbox", "on_fibre"),
    ])
    func `a program that computes on another stack, in deep recursion or in a sandbox is reported`(
        _ scene: String, _ function: String
    ) throws {
        let lines = try end(scene)
        #expect(lines.contains(function) || isHeldBack, "\(lines)")
        #expect(lines.contains(#""cause":"one callout computes""#) || isOfMachine(lines))
    }

    @Test func `a program that waits in vfork for a child with the same memory is reported`() throws {
        #expect(try end("vfork").contains(#""cause":"one callout waits for"#))
    }

    @Test func `a program that loads and unloads a library repeatedly is not disturbed`() throws {
        let folder = Folder()
        let library = try folder.library()
        #expect(try end("unload \(library)").contains("loaded and unloaded: true"))
    }

    @Test func `a program that hangs while a library is being loaded is reported before the loading ends`() throws {
        let folder = Folder()
        let library = try folder.library()
        let lines = shell("LIBRARY_NAP=1 timeout 400 '\(hangPrograms ?? "")' library \(library) 2>&1")
        // Before the loading is over.
        let begins = lines.split(separator: "\n").first ?? ""
        #expect(begins.hasPrefix(#"{"stage":"began""#) && begins.contains("library_nap"), "\(lines)")
    }

    /// The loader does not read section headers: a library that is spoilt there still runs.
    @Test(arguments: ["shoff", "offset", "strings", "size"])
    func `a program that runs in a library with damaged section headers is reported`(_ part: String) throws {
        let folder = Folder()
        let library = try folder.library()
        try Folder.spoil(library, part)
        #expect(try end("library \(library)").contains("RunLoopsHangPrograms/Program.swift"))
    }

    @Test func `a program that was stripped is reported`() throws {
        let folder = Folder()
        let program = "\(folder.path)/stripped"
        let strip = shell("(command -v strip || command -v llvm-strip) | head -1").dropLast()
        try #require(!strip.isEmpty)
        _ = shell("\(strip) -o \(program) \(hangPrograms ?? "")")
        #expect(try end("fibre", program: program).contains(#""label":"hostile""#))
    }

    @Test func `a program that alternates between sleep and work has no sleep that ends early`() throws {
        #expect(try end("naps 2000").contains("early: 0 of "))
    }

    @Test func `a program whose threads end directly after a hang survives`() {
        let lines = shell("timeout 400 '\(hangPrograms ?? "")' ends 2>&1; echo survived: $?")
        #expect(lines.contains("all ended\n") && lines.hasSuffix("survived: 0\n"), "\(lines)")
    }

    @Test(.enabled(if: !isHeldBack, "the thread sanitizer allows no new threads after fork"))
    func `a program that forks a child with its own watched loop has a report of that child`() throws {
        let lines = shell("timeout 400 '\(hangPrograms ?? "")' fork 2>&1; echo survived: $?")
        #expect(lines.contains("the child ended with 7\n") && lines.hasSuffix("survived: 0\n"), "\(lines)")
        let child = lines.split(separator: "\n").filter { $0.hasPrefix("child: ") }
        #expect(child.count == 2 && child.allSatisfy { $0.contains(#""label":"child's""#) }, "\(lines)")
        #expect(child.last?.contains("spinHard") == true, "\(lines)")
        // The parent's two hangs, from the parent.
        #expect(lines.split(separator: "\n").filter { $0.hasPrefix(#"{"stage":"ended""#) }.count == 2, "\(lines)")
    }

    @Test func `a program that is busy and healthy is not reported, and none of its sleeps ends early`() throws {
        let lines = shell("timeout 400 '\(hangPrograms ?? "")' busy 3 2>&1; echo survived: $?")
        #expect(lines.contains(", early: 0\n") && lines.hasSuffix("survived: 0\n"), "\(lines)")
        let wrong = lines.split(separator: "\n").filter {
            $0.hasPrefix(#"{"stage":"ended""#) && !isOfMachine(ended: $0)
        }
        #expect(wrong.isEmpty, "\(wrong)")
    }
}

/// The thread sanitizer holds signals back: no stack is taken of a thread that runs.
private let isHeldBack = dlsym(nil, "__tsan_init") != nil

/// A folder with a small library, for as long as the value lives.
private final class Folder {
    private let directory = TemporaryDirectory()
    var path: String { directory.path }

    func library() throws -> String {
        let source = """
            #include <stdlib.h>
            #include <time.h>
            void library_spin(int ms) {
                struct timespec t;
                clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
                long end = t.tv_sec * 1000 + t.tv_nsec / 1000000 + ms;
                do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < end);
            }
            void library_work(int n) { for (volatile int i = 0; i < n; i++) {} }
            __attribute__((constructor)) void library_nap(void) {
                struct timespec t = {0, 600000000};
                if (getenv("LIBRARY_NAP")) nanosleep(&t, NULL);
            }
            """
        let file = try #require(fopen("\(path)/library.c", "we"))
        fputs(source, file)
        fclose(file)
        let compiler = shell("(command -v cc || command -v clang) | head -1").dropLast()
        let said = shell(
            "cd \(path) && \(compiler) -O1 -fPIC -shared -fno-omit-frame-pointer -o library.so library.c 2>&1")
        try #require(access("\(path)/library.so", R_OK) == 0, "\(said)")
        return "\(path)/library.so"
    }

    /// Writes numbers that lead nowhere into the section headers.
    static func spoil(_ library: String, _ part: String) throws {
        let file = try #require(fopen(library, "r+e"))
        defer { fclose(file) }
        func read(_ offset: Int, _ size: Int) -> Int {
            var word = 0
            fseek(file, offset, SEEK_SET)
            fread(&word, size, 1, file)
            return word
        }
        func write(_ number: Int, _ offset: Int) {
            var word = number
            fseek(file, offset, SEEK_SET)
            fwrite(&word, 8, 1, file)
        }
        let table = read(40, 8)
        if part == "shoff" { write(0x7FFF_FFFF_FFFF_FFF0, 40) }
        for section in stride(from: table, to: table + 64 * read(60, 2), by: 64) {
            let kind = read(section + 4, 4)
            if part == "offset", kind == 2 || kind == 11 { write(0x7FFF_FFFF_FFFF_FFF8, section + 24) }
            if part == "size", kind == 2 || kind == 11 { write(0x7FFF_FFFF_FFFF_FF00, section + 32) }
            if part == "strings", kind == 3 { write(0x7FFF_FFFF_FFFF_FFFF, section + 24) }
        }
    }
}
