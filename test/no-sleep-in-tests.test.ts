// Tests must not sleep, because a pause is too long on a fast machine and too short on a busy one. The exceptions are
// listed by file with a reason. Use `until` to wait for a condition, or advance a manual clock.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'

const allowedPauses: Readonly<Record<string, readonly [pauses: number, why: string]>> = {
  'test/cluster-test/cluster/control-plane/fake-kubelet.ts': [1, 'not run by the tests: polls real pods'],
  'test/cluster-test/cluster/control-plane/start-control-plane.ts': [
    2,
    'not run by the tests: waits for real processes and restarts them',
  ],
  'test/cluster-test/cluster/real/observe-cluster.ts': [1, 'not run by the tests: polls a real API server'],
  'test/adapters/git/merge.test.ts': [
    1,
    'git timestamps have a resolution of one second, and two must differ',
  ],
  'test/adapters/registry/bundle-cache.test.ts': [1, 'polls a condition'],
  'test/adapters/registry/registry-behaviors.test.ts': [1, 'polls a condition'],
  'test/adapters/registry/real-registry.ts': [1, 'polls a condition'],
  'test/sandbox/github/overlap.test.ts': [1, 'waits to show that nothing happens'],
  'test/adapters/store/child.ts': [1, 'holds a job until it is killed'],
  'test/adapters/store/store-contract.ts': [
    19,
    "leases and retry delays use the database's clock; shows that no job is run",
  ],
  'test/adapters/store/embedded.test.ts': [
    3,
    'shows that a process stays alive; a statement that is sent too late',
  ],
  'test/adapters/store/local-postgres.ts': [1, 'polls a condition'],
  'test/adapters/store/sample-records.ts': [2, 'a real clock; polls a condition'],
  'test/adapters/store/server.test.ts': [4, "timeouts and leases use the database's clock"],
  'test/stories/empty-cache.test.ts': [1, 'polls a condition'],
  'test/stories/merge-table/interrupted-merges.ts': [1, 'GitHub unlocks the branch while the bot retries'],
  'test/stories/request-bounds.test.ts': [2, 'counts requests until none is sent for a while'],
  'test/stories/two-bots/run-chaos.ts': [
    3,
    'processes are killed at random times; polls the final invariants',
  ],
  'test/stories/two-bots/soak.ts': [2, 'not run by the tests: traffic every few seconds'],
  'test/stories/two-bots/kill-instances.ts': [2, 'a process is stopped, or not running, for a random time'],
  'test/cli/output.test.ts': [1, 'the work takes longer than the delay of the progress display'],
  'test/web/server/live-updates.test.ts': [1, 'shows that typed text stays while an update arrives'],
  'test/stories/waiting-pulls.test.ts': [1, 'shows that no request is sent for a while'],
  'test/stories/story-environment.ts': [1, 'polls a condition'],
  'test/adapters/workers/test-worker.ts': [1, 'polls a condition'],
  'test/adapters/workers/worker-pool.test.ts': [
    2,
    'polls a condition; shows that waiting does not count as run time',
  ],
}

/** Counts calls of `setTimeout` under any imported name, but not of `clock.sleep()` or `jest.setTimeout()`. */
function countPauses(text: string): number {
  const names = [...text.matchAll(/\bsetTimeout as (\w+)/g)].map(([, name = '']) => name)
  const calls = new RegExp(String.raw`(?<![.\w])(?:${['setTimeout', ...names].join('|')})\(`, 'g')
  return text.match(calls)?.length ?? 0
}

test('setTimeout calls under any imported name are counted, and calls on clocks are not', () => {
  expect(countPauses("import { setTimeout as rest } from 'node:timers/promises'\nawait rest(5)")).toBe(1)
  expect(countPauses('await new Promise((done) => setTimeout(done, 5)); setTimeout(x, 1)')).toBe(2)
  expect(countPauses('await clock.sleep(5); jest.setTimeout(9); sleep(1)')).toBe(0)
})

test('no test sleeps except for those listed with a reason', () => {
  const found: Record<string, number> = {}
  for (const name of readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })) {
    const file = join('test', name)
    if (!/\.(?:ts|mjs)$/.test(name) || file === 'test/no-sleep-in-tests.test.ts') continue
    const pauses = countPauses(readFileSync(join(import.meta.dirname, name), 'utf8'))
    if (pauses > 0) found[file] = pauses
  }
  const expected = Object.fromEntries(Object.entries(allowedPauses).map(([file, [pauses]]) => [file, pauses]))
  expect(found).toEqual(expected)
})
