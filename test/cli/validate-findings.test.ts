// How `validate` reports many findings, and their end positions, in machine-readable output.
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { compileCacheEnvironment } from '../compile-cache.ts'
import { runCatalogBot } from './command.ts'
import { createSelfRemovingDirectory } from '../temporary-directory.ts'

interface ValidateReport {
  passed: boolean
  leftOut?: number
  findings: {
    rule: string
    severity: string
    file: string
    line: number
    column: number
    endLine: number
    endColumn: number
  }[]
}
const temporaryDirectory = createSelfRemovingDirectory('findings')
beforeAll(() => {
  for (const name of ['empty', 'few', 'heads', 'many']) mkdirSync(join(temporaryDirectory, name))
  writeFileSync(
    join(temporaryDirectory, 'heads', 'c.yaml'),
    `schema: olm.package
name: foo
defaultChannel: nowhere
---
schema: olm.bundle
name: foo.v1
package: bar # what is that?
image: x/y:1
imag: 1
`,
  )
  const bundle = (n: number) => `---\nschema: olm.bundle\nname: v${n}\npackage: foo\nimage: x.y/z:${n}\n`
  for (const [name, length] of [
    ['few', 10],
    ['many', 10_000],
  ] as const)
    // prettier-ignore
    writeFileSync(
      join(temporaryDirectory, name, 'c.yaml'),
      Array.from({ length }, (_, n) => bundle(n)).join(''),
    )
})

test.each(['\u001b]0;x\u0007', '--\u001b[2J'])('an argument %j cannot control the terminal', async (name) => {
  const { code, out, err } = await runCatalogBot('validate', name)
  expect(code).toBe(2)
  expect(err).toContain('\\u{1b}')
  expect(`${out}${err}`).not.toMatch(/[\u0007\u001b]/)
})

test('every finding has an end position', async () => {
  const { code, out } = await runCatalogBot('validate', join(temporaryDirectory, 'heads'), '-o', 'json')
  expect(code).toBe(1)
  const { findings } = JSON.parse(out) as ValidateReport
  expect(findings.length).toBeGreaterThan(2)
  for (const { line, column, endLine, endColumn } of findings)
    expect(endLine > line || endColumn > column).toBe(true)
  const sarif = JSON.parse(
    (await runCatalogBot('validate', join(temporaryDirectory, 'heads'), '-o', 'sarif')).out,
  ) as { runs: { results: { locations: { physicalLocation: { region: object } }[] }[] }[] }
  for (const { locations } of sarif.runs[0]?.results ?? [])
    expect(locations[0]?.physicalLocation.region).toMatchObject({
      endLine: expect.any(Number),
      endColumn: expect.any(Number),
    })
})

test('of over 10,000 findings the first 5,000 errors are listed, and the others are counted', async () => {
  const { code, out } = await runCatalogBot('validate', join(temporaryDirectory, 'many'), '-o', 'json')
  const { findings, leftOut, passed } = JSON.parse(out) as ValidateReport
  expect({ code, passed, listed: findings.length }).toEqual({ code: 1, passed: false, listed: 5000 })
  expect(leftOut).toBeGreaterThanOrEqual(5000)
  expect(findings.every(({ severity }) => severity === 'error')).toBe(true)
  const text = await runCatalogBot('validate', join(temporaryDirectory, 'many'))
  expect(text.out).toMatch(new RegExp(`\\n… and ${leftOut} less important findings`))
  const sarif = await runCatalogBot('validate', join(temporaryDirectory, 'many'), '-o', 'sarif')
  expect(sarif.err).toContain(`${leftOut} less important findings`)
})

test('SARIF paths are relative to the current directory, to distinguish several catalogs', async () => {
  const directories = ['heads', 'few'].map((name) => relative('', join(temporaryDirectory, name)))
  const { out } = await runCatalogBot('validate', ...directories, '-o', 'sarif')
  const { runs } = JSON.parse(out) as {
    runs: { results: { locations?: { physicalLocation: { artifactLocation: { uri: string } } }[] }[] }[]
  }
  const files = new Set(
    runs[0]?.results.flatMap(({ locations = [] }) =>
      locations.map((at) => at.physicalLocation.artifactLocation.uri),
    ),
  )
  const paths = [...files].map((uri) => resolve(decodeURIComponent(uri)))
  for (const name of ['heads', 'few'])
    expect(paths.some((path) => path.startsWith(join(temporaryDirectory, name)))).toBe(true)
})

test('every SARIF result has a location in a file, which code scanning requires', async () => {
  const directories = ['empty', 'heads', 'few'].map((name) => join(temporaryDirectory, name))
  const { out } = await runCatalogBot('validate', ...directories, '-o', 'sarif')
  interface Result {
    ruleId: string
    locations?: { physicalLocation: { artifactLocation: { uri: string }; region: { startLine: number } } }[]
  }
  const results = (JSON.parse(out) as { runs: { results: Result[] }[] }).runs[0]?.results ?? []
  expect(results.map(({ ruleId }) => ruleId)).toContain('empty-catalog')
  for (const { locations } of results) {
    expect(locations?.[0]?.physicalLocation.artifactLocation.uri).toMatch(/./)
    expect(locations?.[0]?.physicalLocation.region.startLine).toBeGreaterThan(0)
  }
})

test('a reader that closes the pipe early causes no error output', async () => {
  const { code, stderr } = await new Promise<{ code: number | null; stderr: string }>((done) => {
    const child = spawn(
      process.execPath,
      ['--no-warnings', 'src/cli.ts', 'validate', join(temporaryDirectory, 'many'), '--all'],
      {
        env: { HOME: '/dev/null', PATH: process.env.PATH, ...compileCacheEnvironment },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    let stderr = ''
    child.stderr.on('data', (piece: Buffer) => (stderr += piece.toString()))
    child.stdout.once('data', () => child.stdout.destroy())
    child.once('close', (code) => done({ code, stderr }))
  })
  expect({ code, stderr }).toEqual({ code: expect.any(Number), stderr: '' })
})

test('the help explains exit codes, and an unknown role is rejected', async () => {
  for (const command of ['validate', 'check', 'diff', 'graph'])
    expect((await runCatalogBot(command, '--help')).out).toMatch(/Exit\s/)
  const line = 'check --repo . --base a --head b --author x --role king'
  const { code, err } = await runCatalogBot(...line.split(' '))
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('none, read, triage') })
})

test('the version is printed as a semantic version', async () => {
  const { code, out } = await runCatalogBot('--version')
  expect(code).toBe(0)
  expect(out).toMatch(/^\d+\.\d+\.\d+\n$/)
})

describe('the configuration of the repository around a catalog', () => {
  const repository = () => join(temporaryDirectory, 'repository')
  const catalog = () => join(repository(), 'catalogs', 'v4.20')
  const rulesOf = async (...options: string[]) => {
    const { out, code, err } = await runCatalogBot(
      'validate',
      '--no-cache',
      '-o',
      'json',
      ...options,
      catalog(),
    )
    const rules =
      out === ''
        ? []
        : (JSON.parse(out) as ValidateReport).findings.map(({ rule, severity }) => `${rule} ${severity}`)
    return { rules, code, err }
  }
  const configure = (text: string) => writeFileSync(join(repository(), '.github', 'catalog-bot.yml'), text)

  beforeAll(() => {
    for (const path of [catalog(), join(repository(), '.github'), join(repository(), '.git')])
      mkdirSync(path, { recursive: true })
    writeFileSync(
      join(catalog(), 'c.yaml'),
      'schema: olm.package\nname: foo\ndefaultChannel: stable\nimag: 1\n---\nschema: olm.channel\nname: stable\npackage: foo\nentries: [{name: foo.v1}]\n---\nschema: olm.bundle\nname: foo.v1\npackage: foo\nimage: x/y:1\nproperties: [{type: olm.package, value: {packageName: foo, version: 1.0.0}}]\n',
    )
  })

  test('sets rule severities, and ignores paths in the repository', async () => {
    configure('')
    expect((await rulesOf()).rules).toContain('unknown-field warning')
    configure('rules:\n  unknown-field: error\n')
    expect(await rulesOf()).toMatchObject({ code: 1, rules: expect.arrayContaining(['unknown-field error']) })
    configure("rules:\n  unknown-field: {ignore: ['catalogs/v4.20/**']}\n")
    expect((await rulesOf()).rules.join()).not.toContain('unknown-field')
  })

  test('is ignored with --no-config and by the opm profile, and replaced by --config', async () => {
    configure('rules:\n  unknown-field: error\n')
    expect((await rulesOf('--no-config')).rules).toContain('unknown-field warning')
    expect(await rulesOf('--profile', 'opm')).toMatchObject({ code: 0, rules: [] })
    const other = join(temporaryDirectory, 'other.yml')
    writeFileSync(other, 'rules:\n  unknown-field: info\n')
    expect((await rulesOf('--config', other)).rules).toContain('unknown-field info')
  })

  test('that is invalid is reported with its location, and no catalog is checked', async () => {
    configure('rulez: {}\n')
    const { code, err, rules } = await rulesOf()
    expect(code).toBe(2)
    expect(rules).toEqual([])
    expect(err).toContain('catalog-bot.yml:1:')
    configure('rules:\n  unknown-feld: off\n')
    expect(await rulesOf()).toMatchObject({ code: 2, rules: [] })
    configure('')
    expect(await rulesOf('--config', join(temporaryDirectory, 'none.yml'))).toMatchObject({ code: 2 })
  })
})
