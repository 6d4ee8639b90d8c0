// A program started by the launcher's process behaves like one started from this process.
import { afterEach, describe, expect, test } from '@jest/globals'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createProcessLauncher } from '../../../src/adapters/git/launcher.ts'
import { runProcess, type ProcessSpec } from '../../../src/adapters/git/run-process.ts'
import { createTemporaryDirectory } from './origin.ts'

const processLauncher = createProcessLauncher()
afterEach(() => processLauncher.close())

const createShellProcessSpec = (script: string, more: Partial<ProcessSpec> = {}): ProcessSpec => ({
  program: 'sh',
  args: ['-c', script],
  directory: '/',
  environment: { PATH: process.env['PATH'] ?? '' },
  input: '',
  timeout: 60_000,
  limit: 1 << 20,
  hasGroup: true,
  ...more,
})

describe.each([
  ['the launcher', processLauncher.run],
  ['this process', runProcess],
])('started by %s, a program', (_by, run) => {
  test('returns its output, errors, and exit status', async () => {
    expect(await run(createShellProcessSpec('printf "a\\0b"; echo no >&2; exit 3'))).toEqual({
      code: 3,
      signal: null,
      stdout: Buffer.from('a\0b'),
      stderr: 'no\n',
      stopped: undefined,
    })
  })

  test('gets its input, folder, pipes, and only its own environment', async () => {
    const input = Buffer.from([0, 255, 10])
    const script = 'cat; pwd; echo "$SAID"; cat <&3; env | cut -d= -f1 | grep -v _ | sort | tr "\\n" " "'
    const { stdout } = await run(
      createShellProcessSpec(script, {
        input,
        directory: '/usr',
        environment: { PATH: process.env['PATH'] ?? '', SAID: 'this' },
        pipes: ['secret\n', undefined],
      }),
    )
    expect(stdout.subarray(0, 3)).toEqual(input)
    expect(stdout.subarray(3).toString()).toBe('/usr\nthis\nsecret\nPATH PWD SAID ')
  })

  test('is stopped if its output is too large, it takes too long, or it is aborted', async () => {
    const long = 'while :; do sleep 0.05; done'
    expect(await run(createShellProcessSpec('yes', { limit: 1000 }))).toMatchObject({ stopped: 'too-large' })
    expect(
      await run(createShellProcessSpec('printf "1\\0002\\0003\\000"; exec yes', { records: 2 })),
    ).toMatchObject({ stopped: 'too-many' })
    expect(await run(createShellProcessSpec(long, { timeout: 200 }))).toMatchObject({
      stopped: 'timeout',
      signal: 'SIGTERM',
    })
    const abort = new AbortController()
    const aborted = run(createShellProcessSpec(long), abort.signal)
    abort.abort()
    expect(await aborted).toMatchObject({ stopped: 'aborted' })
    // It was aborted before it started.
    expect(await run(createShellProcessSpec(long), abort.signal)).toMatchObject({ stopped: 'aborted' })
  })

  test('that cannot be started rejects with the system error', async () => {
    await expect(run(createShellProcessSpec('', { program: 'no-such-program' }))).rejects.toMatchObject({
      code: 'ENOENT',
    })
    await expect(run(createShellProcessSpec('', { directory: '/etc/passwd' }))).rejects.toMatchObject({
      code: 'ENOTDIR',
    })
  })
})

test('programs run concurrently', async () => {
  const folder = createTemporaryDirectory('launcher')
  const pipe = join(folder.path, 'pipe')
  try {
    execFileSync('mkfifo', [pipe])
    const reading = processLauncher.run(createShellProcessSpec(`cat '${pipe}'`))
    const writing = processLauncher.run(createShellProcessSpec(`echo here > '${pipe}'`))
    expect((await reading).stdout.toString()).toBe('here\n')
    expect((await writing).code).toBe(0)
  } finally {
    folder.remove()
  }
})

test('a killed launcher process rejects the running program, and the launcher works again', async () => {
  const outcome = processLauncher.run(createShellProcessSpec('kill -9 $PPID; sleep 60', { timeout: 60_000 }))
  await expect(outcome).rejects.toThrow('has exited')
  expect((await processLauncher.run(createShellProcessSpec('echo again'))).stdout.toString()).toBe('again\n')
})

test('a process can exit without closing its launcher, and started programs run to completion', async () => {
  const folder = createTemporaryDirectory('launcher')
  const [begin, end] = [join(folder.path, 'begin'), join(folder.path, 'end')]
  const script = `
    import { createProcessLauncher } from ${JSON.stringify(join(import.meta.dirname, '../../../src/adapters/git/launcher.ts'))}
    const { run } = createProcessLauncher()
    const killed = process.argv[1] === 'killed'
    if (killed) run(${JSON.stringify(createShellProcessSpec(`cat '${begin}' > '${end}'`))}).catch(() => {})
    await run(${JSON.stringify(createShellProcessSpec('true'))})
    if (killed) process.kill(process.pid, 'SIGKILL')`
  try {
    execFileSync('mkfifo', [begin, end])
    for (const how of ['alone', 'killed']) {
      const child = spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', script, how])
      expect(await once(child, 'exit')).toEqual(how === 'killed' ? [null, 'SIGKILL'] : [0, null])
    }
    const { stdout } = await runProcess(createShellProcessSpec(`echo whole > '${begin}' & cat '${end}'`))
    expect(stdout.toString()).toBe('whole\n')
  } finally {
    folder.remove()
  }
})
