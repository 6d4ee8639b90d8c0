// The replay of merged pull requests: how it finds them in a branch's history, and what it reports for each.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from '@jest/globals'
import { listMergedPulls } from '../../scripts/merged-pulls.ts'
import type { CommitSha } from '../../src/pull-request/ids.ts'
import { createOriginRepository, createTemporaryDirectory, type OriginFiles } from '../adapters/git/origin.ts'

const projectRoot = join(import.meta.dirname, '../..')
const temporaryDirectory = createTemporaryDirectory('replay')

const reviewersYaml = 'reviewers: [ann]\n'
const createHarborCatalogFiles = (version: string): OriginFiles => ({
  'operators/harbor/ci.yaml': reviewersYaml,
  'catalogs/v4.20/harbor/catalog.yaml': `---
schema: olm.package
name: harbor
defaultChannel: stable
---
schema: olm.channel
package: harbor
name: stable
entries: [{name: harbor.v${version}}]
---
schema: olm.bundle
package: harbor
name: harbor.v${version}
image: registry.example/harbor@sha256:${'1'.repeat(64)}
properties: [{type: olm.package, value: {packageName: harbor, version: ${version}}}]
`,
})
/** A commit with an author and a message, as GitHub writes both. */
function commitFiles(files: OriginFiles, message: string, email: string, ...parents: CommitSha[]): CommitSha {
  const tree = originRepository.tree(originRepository.commit(files))
  const identity = ['-c', 'user.name=Somebody', '-c', `user.email=${email}`]
  const on = parents.flatMap((parent) => ['-p', parent])
  return originRepository.git([...identity, 'commit-tree', tree, ...on, '-m', message]) as CommitSha
}

const originRepository = createOriginRepository(temporaryDirectory.path)
const first = commitFiles(createHarborCatalogFiles('1.0.0'), 'Begin', 'ann@example.com')
const squashed = commitFiles(
  { ...createHarborCatalogFiles('1.0.0'), 'docs/a.md': 'a\n' },
  'Write a page (#7)',
  '1+mallory@users.noreply.github.com',
  first,
)
const head = commitFiles(
  createHarborCatalogFiles('1.0.1'),
  'harbor 1.0.1',
  '2+ann@users.noreply.github.com',
  first,
)
const merged = commitFiles(
  { ...createHarborCatalogFiles('1.0.1'), 'docs/a.md': 'a\n' },
  'Merge pull request #8 from ann/next',
  'web-flow@example.com',
  squashed,
  head,
)
const plain = commitFiles(
  { ...createHarborCatalogFiles('1.0.1'), 'docs/a.md': 'b\n' },
  'By hand',
  'zoe@example.com',
  merged,
)
originRepository.branch('main', plain)
afterAll(() => temporaryDirectory.remove())

describe('the pull requests of a branch', () => {
  test('are the commits of its first-parent line, with the merged head and its author', () => {
    expect(listMergedPulls(originRepository.directory, 'main', { most: 10 })).toMatchObject([
      { number: 7, commit: squashed, base: first, head: squashed, author: 'mallory:1' },
      { number: 8, commit: merged, base: squashed, head, author: 'ann:2' },
      { number: undefined, commit: plain, base: merged, head: plain, author: 'zoe@example.com' },
    ])
  })
  test('are the newest, up to the limit', () => {
    expect(listMergedPulls(originRepository.directory, 'main', { most: 1 })).toMatchObject([
      { commit: plain },
    ])
  })
  test('are none with a start date in the future', () => {
    expect(listMergedPulls(originRepository.directory, 'main', { most: 10, since: '2090-01-01' })).toEqual([])
  })
  test('of a missing branch are an error that names it', () => {
    expect(() => listMergedPulls(originRepository.directory, 'gone', { most: 1 })).toThrow(/gone/)
  })
})

test('reports each pull request with its decision, rules, and cost, and a summary of all', () => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--no-warnings', 'scripts/replay.ts', '--mirror', originRepository.directory, '--branch', 'main'],
    { cwd: projectRoot, encoding: 'utf8' },
  )
  expect({ status, stderr: stderr.split('\n')[0] }).toEqual({ status: 0, stderr: '3 pull requests' })
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(lines).toMatchObject([
    { number: 7, author: 'mallory', decision: 'wait', reasons: ['approval'], paths: 1 },
    { number: 8, author: 'ann', paths: 1 },
    { author: 'zoe@example.com', decision: 'wait' },
  ])
  expect(stderr).toMatch(/decisions\n +\d+ {2}wait\n[^]*first evaluation: \d+ ms, \d+ ms of processor time\n/)
  expect(stderr).toMatch(
    /\nall, 2: p50 \d+, p95 \d+, max \d+ ms; processor time p50 \d+, p95 \d+, max \d+ ms\n/,
  )
  expect(stderr).toMatch(/\ncatalogs, 1: /)
})
