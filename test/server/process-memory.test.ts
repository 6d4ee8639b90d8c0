import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from '@jest/globals'
import { readProcessTreeMemory } from '../../src/server/process-memory.ts'

test('the memory of a process includes its children', async () => {
  const alone = await readProcessTreeMemory()
  const child = spawn(
    process.execPath,
    ['-e', 'const held = Buffer.alloc(2e8, 1); console.log(held.length); setInterval(() => held, 1e6)'],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  )
  try {
    await once(child.stdout, 'data')
    expect((await readProcessTreeMemory()) ?? 0).toBeGreaterThan((alone ?? 0) + 1.8e8)
  } finally {
    child.kill()
  }
})

test('a process that does not exist has no memory', async () => {
  expect(await readProcessTreeMemory(2 ** 30)).toBeUndefined()
})
