// The cache of opm, built without opm: for ten unusual catalogs, and for catalogs that opm rejects.
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import {
  buildOpmCache,
  type OpmCacheFile,
  computeCacheDigest,
} from '../../../../packages/fbc/src/api/build-opm-cache.ts'
import type { BlobMeta } from '../../../../packages/fbc/src/load/meta.ts'
import { parseCatalogFile } from '../../../../packages/fbc/src/load/parse-catalog-file.ts'
import { isIgnoreFile, selectCatalogFiles } from '../../../../packages/fbc/src/load/select-files.ts'
import { joinByteChunks } from '../../../../packages/fbc/src/go/tar/tar-tree.ts'
import { findMissingProgram } from '../../../left-out.ts'
import { cachedCatalogCases } from './sample-cached-catalogs.ts'

type CatalogFiles = Readonly<Record<string, string>>
const textEncoder = new TextEncoder()

function readCatalogBlobs(files: CatalogFiles): readonly BlobMeta[] {
  const ignores = new Map(Object.entries(files).filter(([path]) => isIgnoreFile(path)))
  const documents: BlobMeta[] = []
  for (const path of selectCatalogFiles(Object.keys(files), ignores).files) {
    const facts = parseCatalogFile(textEncoder.encode(files[path]), {
      onMeta: (meta) => void documents.push(meta),
    })
    if (facts.loadError !== undefined) throw new Error(facts.loadError)
  }
  return documents
}

function buildOpmCacheAndDigest(files: CatalogFiles): {
  readonly digest: string
  readonly cache: readonly OpmCacheFile[]
} {
  const result = buildOpmCache(readCatalogBlobs(files))
  if (!result.ok) throw new Error(result.error)
  const catalog = Object.entries(files).map(([path, text]) => ({ path, pieces: [textEncoder.encode(text)] }))
  return {
    digest: computeCacheDigest(catalog, { directory: 0o755, file: 0o644 }, result.files),
    cache: result.files,
  }
}

describe('the cache of a catalog', () => {
  test.each(cachedCatalogCases.map(({ why, ...one }) => [why, one] as const))(
    'with %s has opm’s digest',
    (_why, one) => {
      expect(buildOpmCacheAndDigest(one.files).digest).toBe(one.digest)
    },
  )

  test('can have a digest that begins with zeros', () => {
    expect(cachedCatalogCases.some(({ digest }) => digest.startsWith('00'))).toBe(true)
  })

  const withOpm = findMissingProgram('opm') ? test.skip : test
  withOpm(
    'is byte for byte the same as from opm',
    () => {
      for (const { why, files, digest } of cachedCatalogCases) {
        const theirs = writeCacheWithOpm(files)
        const ours = buildOpmCacheAndDigest(files).cache
        const texts = (entries: Iterable<readonly [string, string]>) =>
          Object.fromEntries([...entries].sort())
        expect([
          why,
          texts(ours.map(({ path, pieces }) => [path, Buffer.from(joinByteChunks(pieces)).toString()])),
        ]).toEqual([why, texts(theirs.files)])
        expect(theirs.digest).toBe(digest)
      }
    },
    60_000,
  )

  test.each([
    [
      'two csv.metadata',
      'foo.v1.0.0',
      [{}, {}],
      /expected at most 1 property of type "olm.csv.metadata", found 2/,
    ],
    ['a slash in a channel', 'foo.v1.0.0', [], /contains a slash/, 'a/b'],
    ['a name longer than a file name may be', `foo.${'x'.repeat(250)}`, [], /longer than 255 bytes/],
  ])('cannot be built with %s', (_why, name, metadata, error, channel = 'stable') => {
    const properties = [
      { type: 'olm.package', value: { packageName: 'foo', version: '1.0.0' } },
      ...metadata.map((value) => ({ type: 'olm.csv.metadata', value })),
    ]
    const text = [
      { schema: 'olm.package', name: 'foo', defaultChannel: channel },
      { schema: 'olm.channel', package: 'foo', name: channel, entries: [{ name }] },
      { schema: 'olm.bundle', name, package: 'foo', image: 'quay.io/o/f:1', properties },
    ]
    const result = buildOpmCache(
      readCatalogBlobs({ 'catalog.json': text.map((blob) => JSON.stringify(blob)).join('\n') }),
    )
    expect(result).toMatchObject({ ok: false, error: expect.stringMatching(error) })
  })

  test('cannot be built from a custom schema that is not a plain name', () => {
    const result = buildOpmCache(readCatalogBlobs({ 'a.json': '{"schema":"../x"}' }))
    expect(result).toMatchObject({ ok: false, error: expect.stringContaining('invalid schema "../x"') })
  })
})

/** An empty digest beside an empty folder makes opm choose the format. */
function writeCacheWithOpm(files: CatalogFiles): {
  readonly digest: string
  readonly files: ReadonlyMap<string, string>
} {
  const folder = mkdtempSync(join(tmpdir(), 'opm-cache-'))
  try {
    const root = join(folder, 'catalog')
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), text)
      chmodSync(join(root, path), 0o644)
      chmodSync(dirname(join(root, path)), 0o755)
    }
    chmodSync(root, 0o755)
    mkdirSync(join(folder, 'c', 'cache'), { recursive: true })
    // The mode with which opm creates the directory.
    chmodSync(join(folder, 'c', 'cache'), 0o750)
    writeFileSync(join(folder, 'c', 'digest'), '')
    const run = spawnSync(
      'opm',
      ['serve', root, `--cache-dir=${join(folder, 'c')}`, '--cache-only', '-t', join(folder, 'log')],
      { encoding: 'utf8' },
    )
    if (run.status !== 0) throw new Error(run.stderr)
    const cache = join(folder, 'c', 'cache')
    const found = readdirSync(cache, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    )
    return {
      digest: readFileSync(join(folder, 'c', 'digest'), 'utf8'),
      files: new Map(
        found
          .map((entry) => join(entry.parentPath, entry.name))
          .map((path) => [path.slice(cache.length + 1), readFileSync(path, 'utf8')]),
      ),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
