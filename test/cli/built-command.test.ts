// The command line as it is published: built into one script, whose compiled code is kept from run to run.
import { execFile, execFileSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { catalogBot, type CommandResult } from './command.ts'

// Every command is a process of its own, on a machine that may be busy.
jest.setTimeout(180_000)

const root = join(import.meta.dirname, '..', '..')
let above: string
let folder: string
let cache: string
let catalog: string

beforeAll(() => {
  above = mkdtempSync(join(tmpdir(), 'built-'))
  folder = join(above, 'package')
  plantPackage(join(above, 'node_modules', 'commander'))
  execFileSync(process.execPath, ['--no-warnings', join(root, 'scripts/build.ts'), join(folder, 'dist')])
  for (const part of ['bin', 'package.json'])
    cpSync(join(root, part), join(folder, part), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  catalog = join(folder, 'catalog')
  for (const name of ['foo', 'bar']) {
    mkdirSync(join(catalog, name), { recursive: true })
    writeFileSync(join(catalog, name, 'catalog.yaml'), packageOf(name))
  }
}, 180_000)
afterAll(() => rmSync(above, { recursive: true, force: true }))
beforeEach(() => {
  cache = mkdtempSync(join(folder, 'cache-'))
})

/** Above where the output goes, as a machine may have one: what is built must be the project's own, and alone. */
function plantPackage(place: string): void {
  mkdirSync(place, { recursive: true })
  writeFileSync(join(place, 'package.json'), '{ "name": "commander", "main": "index.js" }')
  writeFileSync(join(place, 'index.js'), 'throw new Error("built from a package that is not the project\'s")')
}

/** One bundle of good form whose image has a tag, which our own rules speak of, and a dangling edge. */
const packageOf = (name: string) => `schema: olm.package
name: ${name}
defaultChannel: stable
---
schema: olm.channel
package: ${name}
name: stable
entries:
  - name: ${name}.v1.0.0
    replaces: ${name}.v0.9.0
---
schema: olm.bundle
package: ${name}
name: ${name}.v1.0.0
image: quay.io/${name}/bundle:v1.0.0
properties:
  - type: olm.package
    value: {packageName: ${name}, version: 1.0.0}
`

function built(parameters: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<CommandResult> {
  return new Promise((resolve) =>
    execFile(
      process.execPath,
      [join(folder, 'bin/catalog-bot.cjs'), ...parameters],
      { env: { HOME: '/dev/null', CATALOG_BOT_CACHE: cache, ...environment } },
      (error, out, err) => resolve({ code: error ? Number(error.code) : 0, out, err }),
    ),
  )
}

const keptFiles = () => readdirSync(join(cache, 'compiled'), { withFileTypes: true })
const keptCode = () => {
  const [kept] = keptFiles().filter((entry) => entry.isFile())
  return join(cache, 'compiled', kept?.name ?? 'nothing was kept')
}
const agesAgo = new Date('2020-01-01')
const anHourAgo = new Date(Date.now() - 3_600_000)

describe('the built command', () => {
  test.each([
    ['text', []],
    ['json', ['-o', 'json']],
    ['sarif', ['-o', 'sarif']],
    ["opm's verdict", ['--profile', 'opm', '-o', 'json', '--no-cache']],
  ])('says what the sources say: %s', async (_, options) => {
    const [fromSources, first, again] = [
      await catalogBot('validate', ...options, catalog),
      await built(['validate', ...options, catalog]),
      await built(['validate', ...options, catalog]),
    ]
    expect(first).toEqual(fromSources)
    expect(again).toEqual(fromSources)
    expect(first.code).toBe(0)
  })

  test('loads what is not joined only for the commands that need it', async () => {
    const drawn = await built(['graph', catalog, '--package', 'foo'])
    expect(drawn.err).toBe('')
    expect(drawn.out).toContain('foo.v1.0.0')
    expect(drawn).toEqual(await catalogBot('graph', catalog, '--package', 'foo'))
  })

  test('fails as the sources do', async () => {
    for (const wrong of [['validate'], ['validate', join(folder, 'nowhere')], ['graph', '/nowhere'], ['x']]) {
      const { code, err } = await built(wrong)
      const fromSources = await catalogBot(...wrong)
      expect({ wrong, code, err }).toEqual({ wrong, code: fromSources.code, err: fromSources.err })
    }
  })

  test('reads a file of which the optimising compiler is worth its time', async () => {
    const large = join(folder, 'large')
    mkdirSync(large)
    const padding = `description: |\n${`  ${'x'.repeat(97)}\n`.repeat(50_000)}`
    writeFileSync(join(large, 'c.yaml'), packageOf('foo').replace('name: foo\n', `name: foo\n${padding}`))
    expect(await built(['validate', '--profile', 'opm', large])).toMatchObject({ code: 0, err: '' })
  })

  test('runs without a place to keep anything', async () => {
    const nowhere = { CATALOG_BOT_CACHE: '/dev/null/cache' }
    expect(await built(['validate', '--profile', 'opm', catalog], nowhere)).toMatchObject({
      code: 0,
      err: '',
    })
  })
})

describe('compiled code', () => {
  const validate = () => built(['validate', '--profile', 'opm', '--no-cache', catalog])

  test('is kept, for nobody else to read, and taken in the next run', async () => {
    await validate()
    const { mode } = statSync(keptCode())
    expect(mode & 0o077).toBe(0)
    utimesSync(keptCode(), anHourAgo, anHourAgo)
    const before = readFileSync(keptCode())
    expect(await validate()).toMatchObject({ code: 0, err: '' })
    expect(statSync(keptCode()).mtime).toEqual(anHourAgo)
    expect(readFileSync(keptCode()).equals(before)).toBe(true)
  })

  test('is kept for each command by itself', async () => {
    await validate()
    await built(['--version'])
    expect(keptFiles().filter((entry) => entry.isFile())).toHaveLength(2)
  })

  test.each([
    ['cut short', (whole: Buffer) => whole.subarray(0, whole.length / 2)],
    ['empty', () => Buffer.alloc(0)],
    ['something else', () => Buffer.from('not code at all')],
  ])('that is %s is made anew', async (_, damage) => {
    await validate()
    const whole = readFileSync(keptCode())
    writeFileSync(keptCode(), damage(whole))
    expect(await validate()).toMatchObject({ code: 0, err: '' })
    expect(readFileSync(keptCode()).length).toBeGreaterThan(whole.length / 2)
  })

  test('of another day is made anew, with what has run since', async () => {
    await validate()
    utimesSync(keptCode(), agesAgo, agesAgo)
    await validate()
    expect(statSync(keptCode()).mtimeMs).toBeGreaterThan(agesAgo.getTime() + 1)
  })

  test('leaves no drafts behind', async () => {
    await Promise.all(Array.from({ length: 4 }, validate))
    expect(keptFiles().filter((entry) => /\.\d+$/.test(entry.name))).toEqual([])
  })
})
