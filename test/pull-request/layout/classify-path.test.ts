import { readdirSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { classifyPath } from '../../../src/pull-request/layout/classify-path.ts'
import { detectLayout } from '../../../src/pull-request/layout/detect-layout.ts'
import { findSharedPath } from '../../shared-data.ts'

const twoCatalogLayout = { catalogs: [{ root: 'catalogs/v4.20', version: '4.20' }, { root: 'catalog' }] }
const classifyPathInTwoCatalogs = (path: string) => classifyPath(path, twoCatalogLayout)

describe('a package', () => {
  test.each([
    ['catalogs/v4.20/foo/catalog.yaml', 'catalogs/v4.20', 'foo'],
    ['catalogs/v4.20/foo/bundles/v1.yaml', 'catalogs/v4.20', 'foo'],
    ['catalogs/v4.20/foo/README.md', 'catalogs/v4.20', 'foo'],
    ['catalogs/v4.20/foo/.indexignore', 'catalogs/v4.20', 'foo'],
    ['catalog/index.yaml', 'catalog', ''],
    ['catalog/bundles/bundle-v1.0.0+1.yaml.yml', 'catalog', ''],
  ])('has %s in its directory', (path, catalog, directory) => {
    expect(classifyPathInTwoCatalogs(path)).toEqual({ kind: 'catalog', catalog, directory })
  })
  test.each([
    ['operators/foo/1.0.0/manifests/csv.yaml', 'foo'],
    ['operators/foo/Makefile', 'foo'],
    ['veneer/foo.yaml', 'foo'],
    ['catalog-templates/foo.yaml', 'foo'],
  ])('has %s as its source', (path, directory) => {
    expect(classifyPathInTwoCatalogs(path)).toEqual({ kind: 'operator', directory })
  })
})

describe('an owner file', () => {
  test.each([
    '.github/CODEOWNERS',
    'CODEOWNERS',
    'docs/CODEOWNERS',
    'config.yaml',
    'OWNERS',
    'OWNERS_ALIASES',
    'CATALOG_OWNERS',
    'catalog/OWNERS',
    'catalogs/v4.20/foo/CODEOWNERS',
    'pkg/OWNERS',
  ])('%s applies to the repository', (path) => {
    expect(classifyPathInTwoCatalogs(path)).toEqual({ kind: 'owners' })
  })
  test.each([
    'operators/foo/ci.yaml',
    'operators/foo/OWNERS',
    'catalog/foo/OWNERS',
    'catalogs/v4.20/foo/sub/OWNERS',
    'catalog/foo/CATALOG_OWNERS',
  ])('%s applies to a package', (path) => {
    expect(classifyPathInTwoCatalogs(path)).toEqual({ kind: 'owners', directory: 'foo' })
  })
  test.each([
    'operators/foo/1.0.0/ci.yaml',
    'operators/foo/config.yaml',
    'catalog/foo/ci.yaml',
    'catalog/foo/owners',
  ])('%s is not an owner file', (path) => {
    expect(classifyPathInTwoCatalogs(path).kind).not.toBe('owners')
  })
})

test.each([
  '.github/workflows/x.yaml',
  '.github/catalog-bot.yml',
  'Makefile',
  'README.md',
  'operators/README.md',
  'ci/pipeline-config.yaml',
  'catalog-template.yaml',
  'catalog-template/basic-template.yaml',
  '.gitattributes',
  'catalogs/v4.20/foo/.gitattributes',
  'catalogs/v4.20/foo/.gitignore',
  'operators/foo/.gitmodules',
  'operators/.indexignore',
  'catalogs/v4.20/.indexignore',
  'catalog/bundles/.indexignore',
  'catalogs/v4.20/.hidden/catalog.yaml',
  'catalogs/v4.20/.hidden/.indexignore',
  'operators/.foo/ci/x.yaml',
  'catalogs/v4.20x/foo/catalog.yaml',
  'catalogs/v4.20',
])('T09, T10: infrastructure includes %s', (path) => {
  expect(classifyPathInTwoCatalogs(path)).toEqual({ kind: 'infrastructure' })
})

test.each([
  ['catalogs/v4.20/foo/../bar/catalog.yaml'],
  ['catalogs/v4.20/./foo/catalog.yaml'],
  ['catalogs/v4.20//foo/catalog.yaml'],
  ['/catalogs/v4.20/foo/catalog.yaml'],
  ['catalogs/v4.20/foo/'],
  ['catalogs/v4.20/foo\\bar/catalog.yaml'],
  ['catalogs/v4.20/foo/a\u0000b'],
  ['catalogs/v4.20/foo/a\nb.yaml'],
  ['catalogs/v4.20/foo/a\u202eb.yaml'],
  ['catalogs/v4.20/fоo/catalog.yaml'],
  ['catalogs/v4.20/foo/.git/config'],
  ['catalogs/v4.20/foo/.GIT/config'],
  ['catalogs/v4.20/foo/GIT~1/config'],
  ['catalogs/v4.20/foo./catalog.yaml'],
  ['catalogs/v4.20/foo /catalog.yaml'],
  ['catalogs/v4.20/-foo/catalog.yaml'],
  ['catalogs/v4.20/aux/catalog.yaml'],
  ['catalogs/v4.20/COM1.yaml/catalog.yaml'],
  ['catalogs/v4.20/foo/a:b.yaml'],
  ['catalogs/v4.20/foo/a*b.yaml'],
  [`catalogs/v4.20/foo/${'a'.repeat(4096)}`],
  [`catalogs/v4.20/foo/${'a/'.repeat(10_000)}b`],
  ['operators/foo\u007f/ci.yaml'],
  ['.github/../CODEOWNERS'],
  [''],
])('T08: an unusual path is infrastructure, with the reason: %j', (path) => {
  expect(classifyPathInTwoCatalogs(path)).toEqual({
    kind: 'infrastructure',
    odd: expect.stringMatching(/^the path /),
  })
})

test('in a catalog that is the entire repository, the directories are the packages', () => {
  const whole = { catalogs: [{ root: '' }] }
  expect(classifyPath('foo/catalog.yaml', whole)).toEqual({ kind: 'catalog', catalog: '', directory: 'foo' })
  expect(classifyPath('.github/workflows/x.yaml', whole)).toEqual({ kind: 'infrastructure' })
})

test('every path of a real catalog repository has an ordinary role', () => {
  const root = findSharedPath('community-operators')
  if (root === undefined) return
  const paths = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`.slice(root.length + 1))
  const real = detectLayout(paths, [])
  expect(real.catalogs.map((catalog) => catalog.version)).toEqual(['4.16', '4.20', '4.21', '4.22'])
  const roles = paths.map((path) => ({ path, role: classifyPath(path, real) }))
  expect(roles.filter(({ role }) => role.kind === 'infrastructure').map(({ path }) => path)).toEqual([
    'README.md',
  ])
  expect(roles.filter(({ role }) => role.kind === 'owners').length).toBe(
    1 + paths.filter((path) => /^operators\/[^/]+\/ci\.yaml$/.test(path)).length,
  )
})
