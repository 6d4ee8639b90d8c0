// CI refuses a place in which packages would be found that `npm ci` did not put there: each kind of leftover bites.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'

const guard = join(import.meta.dirname, '..', '..', '.ci', 'refuse-leftovers.cjs')
let folder: string
let checkout: string
let temporary: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'leftovers-'))
  checkout = join(folder, 'a', 'checkout')
  temporary = join(folder, 'b', 'tmp')
  for (const place of [checkout, temporary, join(folder, 'home')]) mkdirSync(place, { recursive: true })
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function refuse(environment: NodeJS.ProcessEnv = {}) {
  const { status, stderr } = spawnSync(process.execPath, [guard, checkout, temporary], {
    env: { PATH: process.env.PATH, HOME: join(folder, 'home'), ...environment },
    encoding: 'utf8',
  })
  return { status, stderr }
}

describe('a place', () => {
  test('where nothing is left over is fresh', () => {
    expect(refuse()).toEqual({ status: 0, stderr: '' })
  })

  test.each([
    ['in the checkout', 'a/checkout'],
    ['right above the checkout', 'a'],
    ['right above the temporary directory', 'b'],
    ['far above both', '.'],
  ])('with packages %s is refused', (_, where) => {
    const leftover = join(folder, where, 'node_modules')
    mkdirSync(leftover)
    const { status, stderr } = refuse()
    expect(status).toBe(1)
    expect(stderr).toContain(`not a fresh place: ${leftover} would be found from `)
  })

  test('with packages above the folder that a link leads to is refused', () => {
    mkdirSync(join(folder, 'c', 'real'), { recursive: true })
    mkdirSync(join(folder, 'c', 'node_modules'))
    rmSync(temporary, { recursive: true })
    symlinkSync(join(folder, 'c', 'real'), temporary)
    expect(refuse().status).toBe(1)
  })

  test('with packages of the home directory is refused', () => {
    mkdirSync(join(folder, 'home', '.node_modules'))
    writeFileSync(join(folder, 'home', '.node_modules', 'commander.js'), '')
    const { status, stderr } = refuse()
    expect(status).toBe(1)
    expect(stderr).toContain('would be found from everywhere')
  })

  test.each([
    ['NODE_PATH', '/somewhere'],
    ['NODE_OPTIONS', '--no-warnings'],
  ])('with %s set is refused', (name, value) => {
    const { status, stderr } = refuse({ [name]: value })
    expect(status).toBe(1)
    expect(stderr).toContain(`${name} is set`)
  })
})
