// What tests get for `@jest/globals`. Modules are loaded once for all test files of a worker, and each file has a jest of its
// own: so these are bindings that follow the file that runs.
export let afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest, test

export function follow(globals) {
  ;({ afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest, test } = globals)
}
