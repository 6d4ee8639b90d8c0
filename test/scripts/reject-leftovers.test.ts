// CI rejects a checkout in which Node.js would find packages that `npm ci` did not install, of every kind.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'

const leftoverGuardScriptPath = join(import.meta.dirname, '..', '..', '.ci', 'refuse-leftovers.cjs')
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

function runLeftoverGuard(environment: NodeJS.ProcessEnv = {}) {
  const { status, stderr } = spawnSync(
    process.execPath,
    [leftoverGuardScriptPath, checkoutDirectory, temporaryDirectory],
    { env: { PATH: process.env.PATH, HOME: join(testDirectory, 'home'), ...environment }, encoding: 'utf8' },
  )
  return { status, stderr }
}

describe('a checkout', () => {
  test('without leftovers is fresh', () => {
    expect(runLeftoverGuard()).toEqual({ status: 0, stderr: '' })
  })

  test.each([
    ['in the checkout', 'a/checkout'],
    ['right above the checkout', 'a'],
    ['right above the temporary directory', 'b'],
    ['far above both', '.'],
  ])('with packages %s is rejected', (_, where) => {
    const leftover = join(testDirectory, where, 'node_modules')
    mkdirSync(leftover)
    const { status, stderr } = runLeftoverGuard()
    expect(status).toBe(1)
    expect(stderr).toContain(`not a fresh place: ${leftover} would be found from `)
  })

  test('with packages above the target folder of a link is rejected', () => {
    mkdirSync(join(testDirectory, 'c', 'real'), { recursive: true })
    mkdirSync(join(testDirectory, 'c', 'node_modules'))
    rmSync(temporaryDirectory, { recursive: true })
    symlinkSync(join(testDirectory, 'c', 'real'), temporaryDirectory)
    expect(runLeftoverGuard().status).toBe(1)
  })

  test('with packages in the home directory is rejected', () => {
    mkdirSync(join(testDirectory, 'home', '.node_modules'))
    writeFileSync(join(testDirectory, 'home', '.node_modules', 'commander.js'), '')
    const { status, stderr } = runLeftoverGuard()
    expect(status).toBe(1)
    expect(stderr).toContain('would be found from everywhere')
  })

  test.each([
    ['NODE_PATH', '/somewhere'],
    ['NODE_OPTIONS', '--no-warnings'],
  ])('with %s set is rejected', (name, value) => {
    const { status, stderr } = runLeftoverGuard({ [name]: value })
    expect(status).toBe(1)
    expect(stderr).toContain(`${name} is set`)
  })
})
