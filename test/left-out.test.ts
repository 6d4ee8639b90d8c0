// A run with skipped tests reports them at its end, and fails in CI unless they were expected.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { countSkippedTests, formatSkippedTests } from './left-out-reporter.mjs'
import { createSelfRemovingDirectory } from './temporary-directory.ts'

describe('what is left out', () => {
  test('is counted test by test, by what was absent', () => {
    const reported = [
      { absent: 'opm', file: 'a' },
      { absent: 'opm', file: 'a' },
      { absent: '../shared', file: 'b' },
    ]
    const counts = countSkippedTests(reported, [])
    expect(formatSkippedTests(counts)).toBe('Left out:    3 tests (without opm: 2; without ../shared: 1)')
  })

  test('counts each skip of a file, and lists each reason once', () => {
    expect([...countSkippedTests([{ absent: 'opm', file: 'a' }], [['a', 40]])]).toEqual([['opm', 40]])
  })

  test('without a reason is counted, too', () => {
    const counts = countSkippedTests([], [['a', 1]])
    expect(formatSkippedTests(counts)).toBe('Left out:    1 test (no reason given: 1)')
  })

  test('may be nothing', () => {
    expect(formatSkippedTests(countSkippedTests([], [['a', 0]]))).toBe('Left out:    nothing')
  })
})

describe('a whole run', () => {
  const root = join(import.meta.dirname, '..')
  const folder = createSelfRemovingDirectory('left-out-run')
  beforeAll(() => {
    const config = { rootDir: folder, reporters: [join(root, 'test/left-out-reporter.mjs')], transform: {} }
    writeFileSync(join(folder, 'jest.config.json'), JSON.stringify(config))
    writeFileSync(join(folder, 'one.test.js'), "test('runs', () => {}); test.skip('does not', () => {})\n")
  })

  function run(environment: Record<string, string>) {
    const { LEFT_OUT_LOG: _log, LEFT_OUT_EXPECTED: _expected, CI: _ci, ...rest } = process.env
    const jest = join(root, 'node_modules/jest/bin/jest.js')
    const { status, stderr } = spawnSync(
      process.execPath,
      [jest, '--config', join(folder, 'jest.config.json'), '--runInBand'],
      { cwd: folder, env: { ...rest, ...environment }, encoding: 'utf8' },
    )
    return { status, stderr }
  }

  test("passes on a developer's machine, and reports what was skipped", () => {
    const { status, stderr } = run({})
    expect(stderr).toContain('Left out:    1 test (no reason given: 1)')
    expect(status).toBe(0)
  })

  test('fails in CI, which expects nothing to be left out', () => {
    const { status, stderr } = run({ CI: 'true' })
    expect(stderr).toContain('CI does not expect to leave anything out for want of: no reason given')
    expect(status).toBe(1)
  })

  test('passes in CI where that is expected', () => {
    expect(run({ CI: 'true', LEFT_OUT_EXPECTED: 'opm, no reason given' }).status).toBe(0)
  })
})
