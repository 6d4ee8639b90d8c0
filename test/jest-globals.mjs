// Replaces `@jest/globals`. A worker loads modules once for all its test files, but jest creates new globals for each file.
// These bindings are updated to the globals of the running file.
export let afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest, test

export function follow(globals) {
  ;({ afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest, test } = globals)
}
