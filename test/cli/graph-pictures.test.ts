// Runs `graph` and `diff` as users do: diagrams of the current upgrade graph and of its changes.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { createReleasableBundleFiles, releaseRepositoryFiles } from '../release/worker/release-files.ts'
import { runOpm } from '../run-opm.ts'
import { runCatalogBot } from './command.ts'
import { createSelfRemovingDirectory } from '../temporary-directory.ts'
import { writeFiles } from '../write-files.ts'

const temporaryDirectory = createSelfRemovingDirectory('pictures')
const writeTestFile = (path: string, text: string) => writeFiles(temporaryDirectory, { [path]: text })
const toJsonLines = (...blobs: object[]) => blobs.map((blob) => JSON.stringify(blob)).join('\n')
const createPackageCatalogJson = (name: string, count: number, channel = 'stable') =>
  toJsonLines(
    { schema: 'olm.package', name, defaultChannel: channel },
    {
      schema: 'olm.channel',
      package: name,
      name: channel,
      entries: Array.from({ length: count }, (_, n) => ({
        name: `${name}.v${n}.0.0`,
        ...(n > 0 && { replaces: `${name}.v${n - 1}.0.0` }),
      })),
    },
    ...Array.from({ length: count }, (_, n) => ({
      schema: 'olm.bundle',
      name: `${name}.v${n}.0.0`,
      package: name,
      image: `example.com/${n}`,
      properties: [{ type: 'olm.package', value: { packageName: name, version: `${n}.0.0` } }],
    })),
  )

writeTestFile('one/foo/c.json', createPackageCatalogJson('foo', 3))
writeTestFile('two/foo/c.json', createPackageCatalogJson('foo', 3))
writeTestFile('two/bar/c.json', createPackageCatalogJson('bar', 2))
writeTestFile('odd/c.json', createPackageCatalogJson('../../up', 2) + createPackageCatalogJson('.', 1))
writeTestFile('broken/c.json', `${createPackageCatalogJson('foo', 2)}\n{"schema": 1}`)

describe('graph', () => {
  test("prints opm's graph of every package", async () => {
    const ours = await runCatalogBot('graph', join(temporaryDirectory, 'two'))
    expect(ours).toMatchObject({ code: 0, err: '' })
    expect(ours.out).toContain('foo-stable-foo.v1.0.0["foo.v1.0.0"]-- replace --> foo-stable-foo.v2.0.0')
    const theirs = runOpm(['alpha', 'render-graph', join(temporaryDirectory, 'two')])
    const lines = (text: string) => text.trim().split('\n').sort()
    if (theirs) expect(lines(ours.out)).toEqual(lines(theirs.out))
    expect((await runCatalogBot('graph', join(temporaryDirectory, 'two'), '--opm')).out).toBe(ours.out)
  })
  test('draws one package as SVG, and requires --out for several', async () => {
    expect((await runCatalogBot('graph', join(temporaryDirectory, 'one'), '-o', 'svg')).out).toMatch(
      /^<svg [^]*<\/svg>\n$/,
    )
    const many = await runCatalogBot('graph', join(temporaryDirectory, 'two'), '-o', 'svg')
    expect(many).toMatchObject({ code: 2, out: '', err: expect.stringContaining('--out') })
    const chosen = await runCatalogBot(
      'graph',
      join(temporaryDirectory, 'two'),
      '-o',
      'svg',
      '--package',
      'bar',
    )
    expect(chosen.out).toContain('<title>bar</title>')
  })
  test('writes one file per package, and none outside the folder for a name such as ../../up', async () => {
    const out = join(temporaryDirectory, 'drawn', 'here')
    const run = await runCatalogBot('graph', join(temporaryDirectory, 'odd'), '-o', 'svg', '--out', out)
    expect(run).toMatchObject({ code: 0 })
    expect(readdirSync(out).sort()).toEqual(['%2E.%2F..%2Fup.svg', '%2E.svg'])
    expect(readdirSync(join(temporaryDirectory, 'drawn'))).toEqual(['here'])
    await runCatalogBot('graph', join(temporaryDirectory, 'two'), '-o', 'short', '--out', out)
    expect(readFileSync(join(out, 'foo.mmd'), 'utf8')).toMatch(/^flowchart BT\n/)
  })
  test('draws the readable part of a broken catalog, and fails', async () => {
    const run = await runCatalogBot('graph', join(temporaryDirectory, 'broken'))
    expect(run).toMatchObject({ code: 1, err: expect.stringContaining('c.json: ') })
    expect(run.out).toContain('foo.v1.0.0')
  })
  test('fails for a nonexistent directory or package', async () => {
    expect(await runCatalogBot('graph', join(temporaryDirectory, 'nowhere'))).toMatchObject({ code: 2 })
    expect(await runCatalogBot('graph', join(temporaryDirectory, 'one'), '--package', 'baz')).toMatchObject({
      code: 2,
      err: expect.stringContaining('"baz"'),
    })
  })
})

describe('diff', () => {
  let base: string
  let head: string
  const repo = () => join(temporaryDirectory, 'repo')
  const git = (...parameters: string[]) =>
    execFileSync('git', ['-C', repo(), '-c', 'user.name=a', '-c', 'user.email=a@b', ...parameters], {
      encoding: 'utf8',
    }).trim()
  const commit = () => {
    git('add', '-A')
    git('commit', '-q', '-m', 'x')
    return git('rev-parse', 'HEAD')
  }
  beforeAll(() => {
    mkdirSync(repo())
    git('init', '-q')
    writeTestFile('repo/catalogs/v4.20/foo/c.json', createPackageCatalogJson('foo', 3))
    writeTestFile('repo/catalogs/v4.20/bar/c.json', createPackageCatalogJson('bar', 2))
    base = commit()
    writeTestFile('repo/catalogs/v4.20/foo/c.json', createPackageCatalogJson('foo', 4))
    head = commit()
  })
  const diff = (output: string, ...more: string[]) =>
    runCatalogBot('diff', '--repo', repo(), '--base', base, '--head', head, '-o', output, ...more)

  test('draws before and after in one diagram, with new entries marked', async () => {
    const mermaid = await diff('mermaid')
    expect(mermaid).toMatchObject({ code: 0, out: expect.stringMatching(/\+ 3\.0\.0[^]*linkStyle \d/) })
    expect(mermaid.out).not.toContain('bar')
    expect((await diff('svg')).out).toMatch(/^<svg [^]*\+ 3\.0\.0[^]*was head/)
  })
  test('ends its Markdown with the diagram', async () => {
    expect((await diff('markdown')).out).toMatch(/^- [^]*\n\n```mermaid\nflowchart BT\n[^]*\n```\n$/)
  })
  test('is part of the comment that catalog-bot would write', async () => {
    const { out } = await runCatalogBot(
      ...['explain', '--repo', repo(), '--base', base, '--head', head, '--author', 'a', '--offline'],
    )
    const { actions } = JSON.parse(out) as { actions: { comment?: string }[] }
    expect(actions.find(({ comment }) => comment !== undefined)?.comment).toMatch(
      /```mermaid\nflowchart BT\n[^]*\ndirection BT\n[^]*\+ 3\.0\.0[^]*\n```\n/,
    )
  })
  test('shows the catalog changes that will follow from a new bundle directory', async () => {
    writeFiles(join(temporaryDirectory, 'repo'), releaseRepositoryFiles)
    const before = commit()
    writeFiles(join(temporaryDirectory, 'repo'), createReleasableBundleFiles('1.1.0'))
    const ends = ['--repo', repo(), '--base', before, '--head', commit()]
    const { out } = await runCatalogBot('diff', ...ends)
    expect(out).toContain('After the bundle images are built and added to the catalogs:\n')
    expect(out).toContain('1.1.0 added to channel stable, replaces 1.0.0')
    const explained = await runCatalogBot('explain', ...ends, '--author', 'a', '--offline')
    expect(explained.out).toContain('`1.1.0` added to channel `stable`')
    git('reset', '-q', '--hard', head)
  })
  test('draws nothing if no channel changes, and reports that', async () => {
    const run = await runCatalogBot('diff', '--repo', repo(), '--base', base, '--head', base, '-o', 'svg')
    expect(run).toMatchObject({ code: 0, out: '', err: 'No channels changed.\n' })
  })
  test('writes diagrams to a folder', async () => {
    const out = join(temporaryDirectory, 'changes')
    expect(await diff('svg', '--out', out)).toMatchObject({ code: 0, out: `${join(out, 'foo.svg')}\n` })
    expect(await diff('text', '--out', out)).toMatchObject({ code: 2 })
  })
})
