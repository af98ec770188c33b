// swift-tools-version: 6.2
import PackageDescription

// The library's own settings; each has its reason there.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "run-loops-metrics",
    products: [.library(name: "RunLoopsMetrics", targets: ["RunLoopsMetrics"])],
    dependencies: [
        .package(name: "swift-run-loops", path: "../.."),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    ],
    targets: [
        .target(
            name: "RunLoopsMetrics",
            dependencies: [
                .product(name: "RunLoops", package: "swift-run-loops"),
                .product(name: "RunLoopsDiagnostics", package: "swift-run-loops"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
            ],
            swiftSettings: strict),
        // Prints what it reports.
        .executableTarget(
            name: "metrics-example",
            dependencies: [
                "RunLoopsMetrics",
                .product(name: "RunLoops", package: "swift-run-loops"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "RunLoopsMetricsTests",
            dependencies: [
                "RunLoopsMetrics",
                .product(name: "RunLoops", package: "swift-run-loops"),
                .product(name: "RunLoopsDiagnostics", package: "swift-run-loops"),
                .product(name: "RunLoopsTesting", package: "swift-run-loops"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
            ],
            swiftSettings: strict),
    ]
)
