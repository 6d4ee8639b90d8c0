// Catalogs from Git trees, loaded as opm would read them from a checkout, including links and ignore files.
import { describe, expect, test } from '@jest/globals'
import { noopCache } from '../../src/catalogs/memory-cache.ts'
import { createCatalogLoader } from '../../src/catalogs/catalog-loader.ts'
import type { CatalogFileReaderPool } from '../../src/catalogs/reader-pool.ts'
import type { Catalog } from '../../packages/fbc/src/facts/catalog.ts'
import { parseCatalogFile } from '../../packages/fbc/src/load/parse-catalog-file.ts'
import { toBlobSha, toTreeSha } from '../../src/pull-request/ids.ts'
import { runCatalogRules } from '../../src/checks/validation/validate-fully.ts'
import type { GitRepository } from '../../src/ports/repository.ts'

type TreeFileContent = string | { readonly link: string }

const rootTreeSha = toTreeSha('a'.repeat(40))
const catalogRoot = 'catalogs/v4.20'

/** A tree of files and links. Blobs are numbered in order. */
function createFakeGitRepository(files: Readonly<Record<string, TreeFileContent>>): GitRepository {
  const blobTexts: string[] = []
  const entries = Object.entries(files).map(([path, content]) => {
    const text = typeof content === 'string' ? content : content.link
    const oid = toBlobSha((blobTexts.push(text) - 1).toString(16).padStart(40, '0'))
    return { path, oid, mode: typeof content === 'string' ? '100644' : '120000' }
  })
  return {
    list: (_: unknown, prefix = '') =>
      Promise.resolve(entries.filter(({ path }) => prefix === '' || path.startsWith(`${prefix}/`))),
    entry: (_: unknown, path: string) => Promise.resolve(entries.find((one) => one.path === path)),
    read: (oid: string) => Promise.resolve(new TextEncoder().encode(blobTexts[parseInt(oid, 16)] ?? '')),
  } as unknown as GitRepository
}

const catalogFileReaderPool: CatalogFileReaderPool = {
  read: (bytes) => Promise.resolve(parseCatalogFile(bytes)),
  close: () => Promise.resolve(),
}

async function loadCatalogFromFiles(
  files: Readonly<Record<string, TreeFileContent>>,
  readers = catalogFileReaderPool,
): Promise<Catalog> {
  const loaded = await createCatalogLoader(readers, noopCache).load(
    createFakeGitRepository(files),
    rootTreeSha,
    catalogRoot,
  )
  if (!loaded) throw new Error('nothing is there')
  return loaded
}

const createPackageYaml = (name: string) => `schema: olm.package\nname: ${name}\ndefaultChannel: stable\n`
const listEscapingSymlinkPaths = (catalog: Catalog) =>
  runCatalogRules(catalog)
    .filter(({ rule }) => rule === 'link-leads-out')
    .map(({ at }) => at?.file)

describe('a link in a catalog', () => {
  test('is read as the file that it points to', async () => {
    const catalog = await loadCatalogFromFiles({
      [`${catalogRoot}/foo/catalog.yaml`]: createPackageYaml('foo'),
      [`${catalogRoot}/bar/catalog.yaml`]: { link: '../foo/other.yaml' },
      [`${catalogRoot}/foo/other.yaml`]: createPackageYaml('bar'),
    })
    expect(catalog.packages.map(({ name, place }) => [name, place.file])).toEqual([
      ['bar', `${catalogRoot}/bar/catalog.yaml`],
      ['foo', `${catalogRoot}/foo/catalog.yaml`],
      ['bar', `${catalogRoot}/foo/other.yaml`],
    ])
    expect(listEscapingSymlinkPaths(catalog)).toEqual([])
  })

  test.each([
    ['to another directory of the repository', '../../../shared/foo.yaml', 1],
    ['to an absolute path', '/etc/passwd', 0],
    ['to a path above the repository', '../../../foo.yaml', 0],
  ])('that leads out, %s, is reported', async (_, link, packages) => {
    const catalog = await loadCatalogFromFiles({
      [`${catalogRoot}/foo/catalog.yaml`]: { link },
      'shared/foo.yaml': createPackageYaml('foo'),
    })
    expect(listEscapingSymlinkPaths(catalog)).toEqual([`${catalogRoot}/foo/catalog.yaml`])
    expect(catalog.packages).toHaveLength(packages)
    expect(catalog.loadErrors).toHaveLength(1 - packages)
  })

  test.each([
    ['that leads nowhere', 'nowhere', 'open foo/catalog.yaml: no such file or directory'],
    ['that leads to itself', 'catalog.yaml', 'open foo/catalog.yaml: too many levels of symbolic links'],
  ])('%s fails the catalog', async (_, link, message) => {
    const catalog = await loadCatalogFromFiles({ [`${catalogRoot}/foo/catalog.yaml`]: { link } })
    expect(catalog.loadErrors.map((error) => error.message)).toEqual([message])
  })
})

describe('an ignore file', () => {
  const files = {
    [`${catalogRoot}/foo.yaml`]: createPackageYaml('foo'),
    [`${catalogRoot}/notes`]: 'nothing: here\n',
  }

  test('that starts with a byte order mark ignores nothing by its first line, as in opm', async () => {
    const catalog = await loadCatalogFromFiles({ ...files, [`${catalogRoot}/.indexignore`]: '\ufeffnotes\n' })
    expect(catalog.loadErrors).toHaveLength(1)
  })

  test('may be a link', async () => {
    const catalog = await loadCatalogFromFiles({
      ...files,
      [`${catalogRoot}/.indexignore`]: { link: '../ignored' },
      'catalogs/ignored': 'notes\n',
    })
    expect(catalog.loadErrors).toEqual([])
  })

  test.each([
    ['more patterns than can be matched against the paths', 'a*b*c\n'.repeat(4000)],
    ['a pattern that is longer than any ignore file', 'a'.repeat(9 * 1024 * 1024)],
  ])('with %s makes the catalog invalid', async (_, ignored) => {
    const many = Object.fromEntries(Array.from({ length: 3000 }, (_, at) => [`${catalogRoot}/${at}`, '']))
    const catalog = await loadCatalogFromFiles({
      ...many,
      ...files,
      [`${catalogRoot}/.indexignore`]: ignored,
    })
    expect(catalog.packages).toEqual([])
    expect(catalog.loadErrors).toEqual([
      {
        file: '.indexignore',
        message: expect.stringMatching(/^too many ignore patterns: [\d,]+ for 3,003 paths$/),
      },
    ])
  })

  test('with as many patterns as a large catalog may have is applied', async () => {
    const catalog = await loadCatalogFromFiles({
      ...files,
      [`${catalogRoot}/.indexignore`]: `${'x?y\n'.repeat(10_000)}notes\n`,
    })
    expect(catalog.loadErrors).toEqual([])
    expect(catalog.packages).toHaveLength(1)
  })
})

test('a file that exceeds the reader limits fails its catalog, and the failure is not cached', async () => {
  let isBusy = true
  const readers: CatalogFileReaderPool = {
    ...catalogFileReaderPool,
    read: (bytes) => Promise.resolve(isBusy ? undefined : parseCatalogFile(bytes)),
  }
  const loader = createCatalogLoader(readers, noopCache)
  const repository = createFakeGitRepository({ [`${catalogRoot}/foo.yaml`]: createPackageYaml('foo') })
  expect((await loader.load(repository, rootTreeSha, catalogRoot))?.loadErrors).toMatchObject([
    { message: 'reading the file takes more time or memory than allowed' },
  ])
  isBusy = false
  expect((await loader.load(repository, rootTreeSha, catalogRoot))?.packages).toHaveLength(1)
})
