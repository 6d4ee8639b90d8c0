// Catalogs from git trees: what opm would read of them on a checkout, links and ignore files included.
import { describe, expect, test } from '@jest/globals'
import { forgetfulCache } from '../../../src/examine/forgetful.ts'
import { catalogLoader } from '../../../src/examine/catalogs/catalog-loader.ts'
import type { ReaderPool } from '../../../src/examine/catalogs/reader-pool.ts'
import type { Catalog } from '../../../src/catalog/facts/catalog.ts'
import { readFile } from '../../../src/catalog/load/read-file.ts'
import { blobSha, treeSha } from '../../../src/change/ids.ts'
import { ownFindings } from '../../../src/checks/validation/own-findings.ts'
import type { Repository } from '../../../src/ports/repository.ts'

type Content = string | { readonly link: string }

const tree = treeSha('a'.repeat(40))
const root = 'catalogs/v4.20'

/** A tree of files and links; blobs are numbered as they come. */
function repositoryOf(files: Readonly<Record<string, Content>>): Repository {
  const texts: string[] = []
  const entries = Object.entries(files).map(([path, content]) => {
    const text = typeof content === 'string' ? content : content.link
    const oid = blobSha((texts.push(text) - 1).toString(16).padStart(40, '0'))
    return { path, oid, mode: typeof content === 'string' ? '100644' : '120000' }
  })
  return {
    list: (_: unknown, prefix = '') =>
      Promise.resolve(entries.filter(({ path }) => prefix === '' || path.startsWith(`${prefix}/`))),
    entry: (_: unknown, path: string) => Promise.resolve(entries.find((one) => one.path === path)),
    read: (oid: string) => Promise.resolve(new TextEncoder().encode(texts[parseInt(oid, 16)] ?? '')),
  } as unknown as Repository
}

const pool: ReaderPool = { read: (bytes) => Promise.resolve(readFile(bytes)), close: () => Promise.resolve() }

async function load(files: Readonly<Record<string, Content>>, readers = pool): Promise<Catalog> {
  const loaded = await catalogLoader(readers, forgetfulCache).load(repositoryOf(files), tree, root)
  if (!loaded) throw new Error('nothing is there')
  return loaded
}

const pkg = (name: string) => `schema: olm.package\nname: ${name}\ndefaultChannel: stable\n`
const found = (catalog: Catalog) =>
  ownFindings(catalog)
    .filter(({ rule }) => rule === 'link-leads-out')
    .map(({ at }) => at?.file)

describe('a link in a catalog', () => {
  test('is the file that it leads to', async () => {
    const catalog = await load({
      [`${root}/foo/catalog.yaml`]: pkg('foo'),
      [`${root}/bar/catalog.yaml`]: { link: '../foo/other.yaml' },
      [`${root}/foo/other.yaml`]: pkg('bar'),
    })
    expect(catalog.packages.map(({ name, place }) => [name, place.file])).toEqual([
      ['bar', `${root}/bar/catalog.yaml`],
      ['foo', `${root}/foo/catalog.yaml`],
      ['bar', `${root}/foo/other.yaml`],
    ])
    expect(found(catalog)).toEqual([])
  })

  test.each([
    ['to another directory of the repository', '../../../shared/foo.yaml', 1],
    ['to a place of the machine', '/etc/passwd', 0],
    ['to a place above the repository', '../../../../foo.yaml', 0],
  ])('that leads out, %s, is told', async (_, link, packages) => {
    const catalog = await load({
      [`${root}/foo/catalog.yaml`]: { link },
      'shared/foo.yaml': pkg('foo'),
    })
    expect(found(catalog)).toEqual([`${root}/foo/catalog.yaml`])
    expect(catalog.packages).toHaveLength(packages)
    expect(catalog.loadErrors).toHaveLength(1 - packages)
  })

  test.each([
    ['that leads nowhere', 'nowhere', 'open foo/catalog.yaml: no such file or directory'],
    ['that leads to itself', 'catalog.yaml', 'open foo/catalog.yaml: too many levels of symbolic links'],
  ])('%s fails the catalog', async (_, link, message) => {
    const catalog = await load({ [`${root}/foo/catalog.yaml`]: { link } })
    expect(catalog.loadErrors.map((error) => error.message)).toEqual([message])
  })
})

describe('an ignore file', () => {
  const files = { [`${root}/foo.yaml`]: pkg('foo'), [`${root}/notes`]: 'nothing: here\n' }

  test('that begins with a byte order mark ignores nothing by its first line, as for opm', async () => {
    const catalog = await load({ ...files, [`${root}/.indexignore`]: '\ufeffnotes\n' })
    expect(catalog.loadErrors).toHaveLength(1)
  })

  test('may be a link', async () => {
    const catalog = await load({
      ...files,
      [`${root}/.indexignore`]: { link: '../ignored' },
      'catalogs/ignored': 'notes\n',
    })
    expect(catalog.loadErrors).toEqual([])
  })

  test.each([
    ['more patterns than can be held against the paths', 'a*b*c\n'.repeat(4000)],
    ['a pattern that is longer than any ignore file', 'a'.repeat(9 * 1024 * 1024)],
  ])('with %s is one that cannot be read: the catalog is not valid', async (_, ignored) => {
    const many = Object.fromEntries(Array.from({ length: 3000 }, (_, at) => [`${root}/${at}`, '']))
    const catalog = await load({ ...many, ...files, [`${root}/.indexignore`]: ignored })
    expect(catalog.packages).toEqual([])
    expect(catalog.loadErrors).toEqual([
      {
        file: '.indexignore',
        message: expect.stringMatching(/^too many ignore patterns: [\d,]+ for 3,003 paths$/),
      },
    ])
  })

  test('with all patterns that a large catalog may have is followed', async () => {
    const catalog = await load({ ...files, [`${root}/.indexignore`]: `${'x?y\n'.repeat(10_000)}notes\n` })
    expect(catalog.loadErrors).toEqual([])
    expect(catalog.packages).toHaveLength(1)
  })
})

test('a file that no reader gets through fails its catalog, and nothing remembers that', async () => {
  let isBusy = true
  const readers: ReaderPool = {
    ...pool,
    read: (bytes) => Promise.resolve(isBusy ? undefined : readFile(bytes)),
  }
  const loader = catalogLoader(readers, forgetfulCache)
  const repository = repositoryOf({ [`${root}/foo.yaml`]: pkg('foo') })
  expect((await loader.load(repository, tree, root))?.loadErrors).toMatchObject([
    { message: 'reading it needs more time or memory than is allowed' },
  ])
  isBusy = false
  expect((await loader.load(repository, tree, root))?.packages).toHaveLength(1)
})
