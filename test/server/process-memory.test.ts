import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from '@jest/globals'
import { readProcessTreeMemory } from '../../src/server/store-metrics.ts'

test('the memory of a process includes its children', async () => {
  const held = 'const held = Buffer.alloc(2e8, 1); console.log(held.length); setInterval(() => held, 1e6)'
  // The shell itself has a few megabytes. Jest's process would not do, because its memory can shrink during the test.
  const shell = spawn('sh', ['-c', `"$0" -e "$1" & wait`, process.execPath, held], {
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  })
  const pid = shell.pid ?? 0
  try {
    await once(shell.stdout, 'data')
    expect((await readProcessTreeMemory(pid)) ?? 0).toBeGreaterThan(1.8e8)
  } finally {
    process.kill(-pid)
  }
})

test('a process that does not exist has no memory', async () => {
  expect(await readProcessTreeMemory(2 ** 30)).toBeUndefined()
})
