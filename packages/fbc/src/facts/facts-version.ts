// Part of the cache key of facts. Raise it when the reader or the shape of FileFacts changes, so that old facts are
// discarded (test/packages/fbc/facts/facts-version.test.ts).

export const catalogFileFactsVersion = 5
