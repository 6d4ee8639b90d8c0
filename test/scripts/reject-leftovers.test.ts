// CI refuses a place in which packages would be found that `npm ci` did not put there: each kind of leftover bites.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'

const guardScript = join(import.meta.dirname, '..', '..', '.ci', 'refuse-leftovers.cjs')
let testDirectory: string
let checkoutDirectory: string
let temporaryDirectory: string

beforeEach(() => {
  testDirectory = mkdtempSync(join(tmpdir(), 'leftovers-'))
  checkoutDirectory = join(testDirectory, 'a', 'checkout')
  temporaryDirectory = join(testDirectory, 'b', 'tmp')
  for (const directory of [checkoutDirectory, temporaryDirectory, join(testDirectory, 'home')])
    mkdirSync(directory, { recursive: true })
})
afterEach(() => rmSync(testDirectory, { recursive: true, force: true }))

function runGuard(environment: NodeJS.ProcessEnv = {}) {
  const { status, stderr } = spawnSync(
    process.execPath,
    [guardScript, checkoutDirectory, temporaryDirectory],
    {
      env: { PATH: process.env.PATH, HOME: join(testDirectory, 'home'), ...environment },
      encoding: 'utf8',
    },
  )
  return { status, stderr }
}

describe('a place', () => {
  test('where nothing is left over is fresh', () => {
    expect(runGuard()).toEqual({ status: 0, stderr: '' })
  })

  test.each([
    ['in the checkout', 'a/checkout'],
    ['right above the checkout', 'a'],
    ['right above the temporary directory', 'b'],
    ['far above both', '.'],
  ])('with packages %s is refused', (_, where) => {
    const leftover = join(testDirectory, where, 'node_modules')
    mkdirSync(leftover)
    const { status, stderr } = runGuard()
    expect(status).toBe(1)
    expect(stderr).toContain(`not a fresh place: ${leftover} would be found from `)
  })

  test('with packages above the folder that a link leads to is refused', () => {
    mkdirSync(join(testDirectory, 'c', 'real'), { recursive: true })
    mkdirSync(join(testDirectory, 'c', 'node_modules'))
    rmSync(temporaryDirectory, { recursive: true })
    symlinkSync(join(testDirectory, 'c', 'real'), temporaryDirectory)
    expect(runGuard().status).toBe(1)
  })

  test('with packages of the home directory is refused', () => {
    mkdirSync(join(testDirectory, 'home', '.node_modules'))
    writeFileSync(join(testDirectory, 'home', '.node_modules', 'commander.js'), '')
    const { status, stderr } = runGuard()
    expect(status).toBe(1)
    expect(stderr).toContain('would be found from everywhere')
  })

  test.each([
    ['NODE_PATH', '/somewhere'],
    ['NODE_OPTIONS', '--no-warnings'],
  ])('with %s set is refused', (name, value) => {
    const { status, stderr } = runGuard({ [name]: value })
    expect(status).toBe(1)
    expect(stderr).toContain(`${name} is set`)
  })
})
