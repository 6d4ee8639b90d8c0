// Bundle directories of a pull request: which files are read, and the findings about them.
import { describe, expect, test } from '@jest/globals'
import {
  validateBundleDirectories,
  listAutoMergeBlockReasons,
} from '../../../src/checks/bundles/validate-bundle-directories.ts'
import { defaultConfig } from '../../../src/config/config.ts'
import { readBundleDirectories } from '../../../src/evaluate/read-bundle-directories.ts'
import { noopCache } from '../../../src/catalogs/memory-cache.ts'
import {
  base,
  createBundleDirectoryFiles,
  emptyRepositoryLayout,
  createFakeGitRepository,
  result,
  type FileTree,
} from './bundle-trees.ts'

async function validateTestBundleDirectories(before: FileTree, after: FileTree, config = defaultConfig) {
  const { calls, paths, read } = createFakeGitRepository(before, after)
  const loader = { cache: noopCache, load: async () => undefined }
  const bundleDirectories = await readBundleDirectories(
    { paths },
    { repository: read, loader, layout: emptyRepositoryLayout, base, result },
  )
  return { calls, bundleDirectories, findings: validateBundleDirectories({ bundleDirectories, config }) }
}

describe('a bundle directory', () => {
  const large: FileTree = {
    'operators/foo/ci.yaml': 'updateGraph: replaces-mode\n',
    ...createBundleDirectoryFiles('1.0.0'),
    'operators/foo/1.0.0/manifests/large.yaml': 'kind: ConfigMap\n',
    'operators/bar/1.0.0/manifests/other.yaml': 'kind: ConfigMap\n',
  }

  test('is read without the rest of the repository, and costs nothing the second time', async () => {
    const added = { ...large, ...createBundleDirectoryFiles('1.1.0', '  replaces: foo.v1.0.0\n') }
    const { calls, findings } = await validateTestBundleDirectories(large, added)
    expect(findings).toEqual([])
    expect([...new Set(calls.lists)]).toEqual(['operators/foo'])
    expect(calls.reads.filter((path) => path.includes('large') || path.includes('bar'))).toEqual([])
    const again = await validateTestBundleDirectories(large, added)
    expect(again.calls.reads).toEqual(['operators/foo/ci.yaml'])
    expect(again.findings).toEqual(findings)
  })

  test('gets the findings of `bundle validate`, with locations in the repository', async () => {
    const broken = { ...createBundleDirectoryFiles('1.1.0', '  replaces: foo.v1.0.0\n') }
    const file = 'operators/foo/1.1.0/manifests/crd.yaml'
    const { findings } = await validateTestBundleDirectories(large, {
      ...large,
      ...broken,
      [file]: 'kind: [\n',
    })
    expect(findings.map(({ rule, at }) => [rule, at?.file])).toEqual([['undecodable-manifest', file]])
  })

  test('gets findings even if it has no manifests', async () => {
    const file = 'operators/foo/1.1.0/metadata/annotations.yaml'
    const { findings } = await validateTestBundleDirectories(large, {
      ...large,
      [file]: createBundleDirectoryFiles('1.1.0')[file] ?? '',
    })
    expect(findings.map(({ rule, severity }) => [rule, severity])).toEqual([['unreadable-bundle', 'warning']])
  })

  test('is validated by the optional suites that the configuration enables', async () => {
    const added = { ...large, ...createBundleDirectoryFiles('1.1.0', '  replaces: foo.v1.0.0\n') }
    const suites = {
      ...defaultConfig,
      bundles: { ...defaultConfig.bundles, suites: ['operatorhub' as const] },
    }
    const { findings } = await validateTestBundleDirectories(large, added, suites)
    expect(findings.map(({ rule }) => rule)).toContain('no-provider')
  })

  test('must not contain a package that only this pull request declares', async () => {
    const two = {
      ...large,
      ...createBundleDirectoryFiles('1.1.0', '', 'bar'),
      ...createBundleDirectoryFiles('1.2.0', '', 'bar'),
    }
    const { findings } = await validateTestBundleDirectories(large, two)
    expect(findings.filter(({ rule }) => rule === 'bundle-directory-of-other-package')).toHaveLength(2)
  })
})

describe('`merge: false` in ci.yaml', () => {
  const path = 'operators/foo/ci.yaml'
  const change = {
    paths: [
      { path: 'operators/foo/1.0.0/manifests/a.yaml', role: { kind: 'operator' as const, directory: 'foo' } },
    ],
    catalogs: [],
    references: [],
  }
  const files = (text?: string) => new Map(text === undefined ? [] : [[path, text]])
  test.each([
    ['at the base', 'merge: false', undefined, true],
    ['in the result', 'merge: true', 'merge: false', true],
    ['in another spelling', 'merge: no', undefined, true],
    ['removed by the change itself', 'merge: false', 'merge: true', true],
    ['nowhere', 'merge: true\nreviewers: [alice]', 'updateGraph: semver-mode', false],
  ])('%s', (_name, before, after, isByHand) => {
    const ownerFiles = { base: files(before), result: files(after ?? before) }
    expect(listAutoMergeBlockReasons({ change, ownerFiles }).length > 0).toBe(isByHand)
  })
})
