// What Go, and so opm and every container runtime, makes of archives and documents: bench/fuzz-archives.ts compares.
// Go's standard library alone: nothing is downloaded.
module catalog-bot/go-readers

go 1.23
