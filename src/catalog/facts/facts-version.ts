// The version of what readFile() makes of a file's bytes. Caches keep facts under it: whoever changes the reader or
// the shape of FileFacts raises it, and old facts are never looked at again (test/catalog/facts/facts-version.test.ts).

export const factsVersion = 4
