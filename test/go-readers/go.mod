// What Go, and so opm and every container runtime, makes of archives and documents: bench/fuzz-archives.ts compares.
// Go's standard library, and for zstd what containers/image uses, in opm's version; without the tag `zstd` nothing is downloaded.
module catalog-bot/go-readers

go 1.24

require github.com/klauspost/compress v1.18.6
