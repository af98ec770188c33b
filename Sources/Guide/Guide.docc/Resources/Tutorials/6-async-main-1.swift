@main struct Program {
    static func main() async throws {
        print("main begins")
        try await Task.sleep(for: .milliseconds(100))
        print("main ends")
    }
}
