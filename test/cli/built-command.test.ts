// The published command line: built into one script, with its compiled code cached between runs.
import { execFile, execFileSync } from 'node:child_process'
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { runCatalogBot, type CommandResult } from './command.ts'
import { createSelfRemovingDirectory } from '../temporary-directory.ts'

const projectRoot = join(import.meta.dirname, '..', '..')
const temporaryDirectory = createSelfRemovingDirectory('built')
let packageDirectory: string
let cacheDirectory: string
let catalogDirectory: string

beforeAll(() => {
  packageDirectory = join(temporaryDirectory, 'package')
  installFakeCommanderPackage(join(temporaryDirectory, 'node_modules', 'commander'))
  execFileSync(process.execPath, [
    '--no-warnings',
    join(projectRoot, 'scripts/build.ts'),
    // Declarations and rule pages take longer than all tests here.
    '--only-code',
    join(packageDirectory, 'dist'),
  ])
  for (const part of ['bin', 'package.json'])
    cpSync(join(projectRoot, part), join(packageDirectory, part), { recursive: true })
  symlinkSync(join(projectRoot, 'node_modules'), join(packageDirectory, 'node_modules'))
  catalogDirectory = join(packageDirectory, 'catalog')
  for (const name of ['foo', 'bar']) {
    mkdirSync(join(catalogDirectory, name), { recursive: true })
    writeFileSync(join(catalogDirectory, name, 'catalog.yaml'), createPackageYaml(name))
  }
})
beforeEach(() => {
  cacheDirectory = mkdtempSync(join(packageDirectory, 'cache-'))
})

/** Puts a foreign package above the output folder: the build must use only the project's own packages. */
function installFakeCommanderPackage(directory: string): void {
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'package.json'), '{ "name": "commander", "main": "index.js" }')
  writeFileSync(
    join(directory, 'index.js'),
    'throw new Error("built from a package that is not the project\'s")',
  )
}

/** One valid bundle with an image by tag, which our own rules report, and a dangling edge. */
const createPackageYaml = (name: string) => `schema: olm.package
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

/** Returns the directory of a catalog for which `validate` enables V8's optimizing compiler. */
function writeLargeCatalog(): string {
  const large = join(packageDirectory, 'large')
  mkdirSync(large, { recursive: true })
  const padding = `description: |\n${`  ${'x'.repeat(97)}\n`.repeat(50_000)}`
  writeFileSync(
    join(large, 'c.yaml'),
    createPackageYaml('foo').replace('name: foo\n', `name: foo\n${padding}`),
  )
  return large
}

function runBuiltCommand(
  parameters: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<CommandResult> {
  return new Promise((resolve) =>
    execFile(
      process.execPath,
      [join(packageDirectory, 'bin/catalog-bot.cjs'), ...parameters],
      { env: { HOME: '/dev/null', CATALOG_BOT_CACHE: cacheDirectory, ...environment } },
      (error, out, err) => resolve({ code: error ? Number(error.code) : 0, out, err }),
    ),
  )
}

const listCachedFiles = () => readdirSync(join(cacheDirectory, 'compiled'), { withFileTypes: true })
const findCompiledCacheFile = () => {
  const [cachedFile] = listCachedFiles().filter((entry) => entry.isFile())
  return join(cacheDirectory, 'compiled', cachedFile?.name ?? 'nothing was kept')
}
const staleFileDate = new Date('2020-01-01')
const oneHourAgo = new Date(Date.now() - 3_600_000)

describe('the built command', () => {
  test.each([
    ['text', []],
    ['json', ['-o', 'json']],
    ['sarif', ['-o', 'sarif']],
    ["opm's verdict", ['--profile', 'opm', '-o', 'json', '--no-cache']],
  ])('prints the same output as the sources, also from the cache of verdicts: %s', async (_, options) => {
    // Files seem to be a minute old, and on a disk. Otherwise, no verdict is cached.
    const preloaded = join(packageDirectory, 'preloaded.cjs')
    const type = "require('fs').statfsSync = () => ({ type: 0xef53 })"
    writeFileSync(preloaded, `const now = Date.now() + 60_000; Date.now = () => now; ${type}`)
    const parameters = ['validate', ...options, catalogDirectory, join(packageDirectory, 'bin')]
    const validate = () => runBuiltCommand(parameters, { NODE_OPTIONS: `--require=${preloaded}` })
    const findVerdicts = () => globSync(`${cacheDirectory}/verdicts/*/*`).map((path) => statSync(path).ino)
    const first = await validate()
    expect(first).toEqual(await runCatalogBot(...parameters))
    expect(first.code).toBe(1)
    const verdicts = findVerdicts()
    expect(verdicts).toHaveLength(options.includes('--no-cache') ? 0 : 2)
    expect(await validate()).toEqual(first)
    expect(findVerdicts()).toEqual(verdicts)
  })

  test('loads separate modules for the commands that need them', async () => {
    const drawn = await runBuiltCommand(['graph', catalogDirectory, '--package', 'foo'])
    expect(drawn.err).toBe('')
    expect(drawn.out).toContain('foo.v1.0.0')
    expect(drawn).toEqual(await runCatalogBot('graph', catalogDirectory, '--package', 'foo'))
  })

  test('fails with the same exit code and error as the sources', async () => {
    for (const wrong of [
      ['validate'],
      ['validate', join(packageDirectory, 'nowhere')],
      ['graph', '/nowhere'],
      ['x'],
    ]) {
      const { code, err } = await runBuiltCommand(wrong)
      const fromSources = await runCatalogBot(...wrong)
      expect({ wrong, code, err }).toEqual({ wrong, code: fromSources.code, err: fromSources.err })
    }
  })

  test('runs without a writable cache folder', async () => {
    const nowhere = { CATALOG_BOT_CACHE: '/dev/null/cache' }
    expect(await runBuiltCommand(['validate', '--profile', 'opm', catalogDirectory], nowhere)).toMatchObject({
      code: 0,
      err: '',
    })
  })
})

describe('compiled code', () => {
  const validate = () => runBuiltCommand(['validate', '--profile', 'opm', '--no-cache', catalogDirectory])

  test('is cached with owner-only permissions, and reused in the next run', async () => {
    await validate()
    const { mode } = statSync(findCompiledCacheFile())
    expect(mode & 0o077).toBe(0)
    utimesSync(findCompiledCacheFile(), oneHourAgo, oneHourAgo)
    const before = readFileSync(findCompiledCacheFile())
    expect(await validate()).toMatchObject({ code: 0, err: '' })
    expect(statSync(findCompiledCacheFile()).mtime).toEqual(oneHourAgo)
    expect(readFileSync(findCompiledCacheFile()).equals(before)).toBe(true)
    // Each command has its own.
    await runBuiltCommand(['--version'])
    expect(listCachedFiles().filter((entry) => entry.isFile())).toHaveLength(2)
  })

  test('of a run that enabled the optimizing compiler is reused, too', async () => {
    const large = writeLargeCatalog()
    expect(await runBuiltCommand(['validate', '--profile', 'opm', large])).toMatchObject({ code: 0, err: '' })
    utimesSync(findCompiledCacheFile(), oneHourAgo, oneHourAgo)
    await validate()
    expect(statSync(findCompiledCacheFile()).mtime).toEqual(oneHourAgo)
  })

  test('that is truncated, empty, not code, or from another day is regenerated', async () => {
    await validate()
    const complete = readFileSync(findCompiledCacheFile())
    for (const damaged of [complete.subarray(0, complete.length / 2), '', 'not code at all']) {
      writeFileSync(findCompiledCacheFile(), damaged)
      expect(await validate()).toMatchObject({ code: 0, err: '' })
      expect(readFileSync(findCompiledCacheFile()).length).toBeGreaterThan(complete.length / 2)
    }
    utimesSync(findCompiledCacheFile(), staleFileDate, staleFileDate)
    await validate()
    expect(statSync(findCompiledCacheFile()).mtimeMs).toBeGreaterThan(staleFileDate.getTime() + 1)
  })

  test('leaves no temporary files behind', async () => {
    await Promise.all(Array.from({ length: 4 }, validate))
    expect(listCachedFiles().filter((entry) => /\.\d+$/.test(entry.name))).toEqual([])
  })
})
