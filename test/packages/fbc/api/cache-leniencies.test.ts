// The cache of opm, built without opm. It is compared with opm if that is installed, and otherwise with recorded behavior.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { listBundles } from '../../../../packages/fbc/src/api/registry-queries.ts'
import {
  buildServedCatalog,
  parseServedCatalogFile,
} from '../../../../packages/fbc/src/api/served-catalog.ts'
import { buildOpmCache, type OpmCacheFile } from '../../../../packages/fbc/src/api/build-opm-cache.ts'
import type { BlobMeta } from '../../../../packages/fbc/src/load/meta.ts'
import { parseCatalogFile } from '../../../../packages/fbc/src/load/parse-catalog-file.ts'
import { joinByteChunks, getByteChunkTreeLength } from '../../../../packages/fbc/src/go/tar/tar-tree.ts'
import { findMissingProgram } from '../../../left-out.ts'
import { unusualCatalog } from '../../fbc-server/unusual-catalog.ts'
import { writeFiles } from '../../../write-files.ts'

const toBase64 = (data: string | Buffer): string => Buffer.from(data).toString('base64')
const formatBundleObjectProperty = (data: string | Buffer): string =>
  `{type: olm.bundle.object, value: {data: "${toBase64(data)}"}}`
const csvKind = 'ClusterServiceVersion'

interface PackageYamlNames {
  readonly channel?: string
  readonly bundle?: string
  readonly package?: string
}

function createPackageYaml(properties: readonly string[], names: PackageYamlNames = {}): string {
  const { package: of = 'p', channel = 'c', bundle = 'b.v1' } = names
  const all = [`{type: olm.package, value: {packageName: ${of}, version: 1.0.0}}`, ...properties]
  return `---
{schema: olm.package, name: ${of}, defaultChannel: "${channel}", icon: {mediatype: image/png}}
---
{schema: olm.channel, package: ${of}, name: "${channel}", entries: [{name: "${bundle}"}]}
---
{schema: olm.bundle, package: ${of}, name: "${bundle}", image: quay.io/o/p:v1, properties: [${all.join(', ')}]}
`
}

/** Manifests that opm's YAML parser reads differently than a JSON parser, by package. */
const unusualBundleProperties: Readonly<Record<string, readonly string[]>> = {
  flow: [formatBundleObjectProperty(`{kind: ${csvKind}}`)],
  'half-flow': [formatBundleObjectProperty(`{kind: ${csvKind}`)],
  utf16: [formatBundleObjectProperty(Buffer.from(`\ufeffkind: ${csvKind}\nname: ü\n`, 'utf16le'))],
  surrogates: [formatBundleObjectProperty(`{"kind": "${csvKind}", "smile": "\\ud83d\\ude00"}`)],
  'long-key': [formatBundleObjectProperty(JSON.stringify({ kind: csvKind, ['k'.repeat(1100)]: 1 }))],
  controls: [formatBundleObjectProperty(`{"kind": "${csvKind}", "odd": "\u0085\u007f"}`)],
  broken: [
    formatBundleObjectProperty(Buffer.from(`{"kind": "${csvKind}", "a": "\xff\xc3"}`, 'latin1')),
    formatBundleObjectProperty(`{"kind": "${csvKind}"}`),
  ],
  spellings: ['{type: olm.csv.metadata, value: {annotations: {a: x, c: z}, Annotations: {b: w, c: v}}}'],
}

const unusualCatalogFiles: Readonly<Record<string, string>> = {
  ...unusualCatalog,
  ...Object.fromEntries(
    Object.entries(unusualBundleProperties).map(([name, properties]) => [
      `${name}.yaml`,
      createPackageYaml(properties, { package: name, bundle: `${name}.v1` }),
    ]),
  ),
}

function buildOpmCacheFromFiles(files: Readonly<Record<string, string>>): ReturnType<typeof buildOpmCache> {
  const blobs: BlobMeta[] = []
  for (const text of Object.values(files))
    parseCatalogFile(Buffer.from(text), { forVerdict: true, onMeta: (meta) => void blobs.push(meta) })
  return buildOpmCache(blobs)
}

function buildOpmCacheFilesByPath(
  files: Readonly<Record<string, string>>,
): ReadonlyMap<string, OpmCacheFile> {
  const cache = buildOpmCacheFromFiles(files)
  if (!cache.ok) throw new Error(cache.error)
  return new Map(cache.files.map((file) => [file.path, file]))
}
const decodeCacheFile = (file: OpmCacheFile | undefined): string =>
  Buffer.from(joinByteChunks(file?.pieces ?? [])).toString()

const testIfOpmInstalled = findMissingProgram('opm') === undefined ? test : test.skip

describe('the cache', () => {
  const cache = buildOpmCacheFilesByPath(unusualCatalogFiles)

  testIfOpmInstalled('is the same as from opm, file for file and byte for byte', () => {
    const dir = mkdtempSync(join(tmpdir(), 'opm-cache-'))
    try {
      // opm uses the format of an existing cache.
      mkdirSync(join(dir, 'kept/cache'), { recursive: true })
      writeFileSync(join(dir, 'kept/digest'), 'old')
      writeFiles(join(dir, 'catalog'), unusualCatalogFiles)
      const run = spawnSync('opm', [
        ...['serve', join(dir, 'catalog'), '--cache-dir', join(dir, 'kept'), '--cache-only'],
        ...['--cache-enforce-integrity=false', '--termination-log', join(dir, 'log')],
      ])
      expect({ status: run.status, stderr: run.status === 0 ? '' : run.stderr.toString() }).toEqual({
        status: 0,
        stderr: '',
      })
      const theirs = join(dir, 'kept/cache')
      const paths = readdirSync(theirs, { recursive: true, encoding: 'utf8' })
      const files = paths.filter((path) => statSync(join(theirs, path)).isFile())
      expect([...cache.keys()].sort()).toEqual(files.sort())
      for (const path of files)
        expect(decodeCacheFile(cache.get(path))).toBe(readFileSync(join(theirs, path), 'utf8'))
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  })

  test("contains the same bundles as the server's responses", () => {
    const read = buildServedCatalog(
      Object.entries(unusualCatalog).map(([path, text]) => ({
        path,
        file: parseServedCatalogFile(Buffer.from(text)),
      })),
    )
    if (!read.ok) throw new Error(read.error)
    const { index } = read.value
    const keys = [...listBundles(read.value)].map((one) => ({
      package: one.packageName,
      channel: one.channelName,
      name: one.csvName,
    }))
    expect(keys).toHaveLength(6)
    for (const key of keys) {
      const presentFields = Object.entries(read.value.bundle(key) ?? {}).filter(
        ([, value]: readonly [string, { readonly length?: number }]) => value.length !== 0,
      )
      const cachedBundle = JSON.parse(
        decodeCacheFile(cache.get(`${key.package}_${key.channel}_${key.name}.json`)),
      ) as object
      expect(cachedBundle).toMatchObject(
        Object.fromEntries(presentFields.filter(([name]) => !name.endsWith('Apis'))),
      )
      expect(Object.keys(cachedBundle)).toEqual(presentFields.map(([name]) => name))
    }
    expect(Object.keys(JSON.parse(decodeCacheFile(cache.get('packages.json'))) as object)).toEqual(
      expect.arrayContaining([...index.keys()]),
    )
  })

  test('has the ClusterServiceVersion only if a YAML parser finds one', () => {
    const found = Object.keys(unusualBundleProperties).map((name) => {
      const { csvJson = '' } = JSON.parse(decodeCacheFile(cache.get(`${name}_c_${name}.v1.json`))) as {
        csvJson?: string
      }
      return [name, csvJson === '' ? 'none' : csvJson.slice(0, 12)]
    })
    expect(Object.fromEntries(found)).toEqual({
      flow: '{kind: Clust',
      'half-flow': 'none',
      utf16: '{"kind":"Clu',
      surrogates: 'none',
      'long-key': 'none',
      controls: 'none',
      broken: '{"kind": "Cl',
      spellings: '{"kind":"Clu',
    })
  })

  test('has an escape for a manifest byte that is not UTF-8', () => {
    expect(decodeCacheFile(cache.get('broken_c_broken.v1.json'))).toContain(
      String.raw`\"a\": \"\ufffd\ufffd\"`,
    )
  })

  test('merges maps under two spellings of a key', () => {
    expect(decodeCacheFile(cache.get('spellings_c_spellings.v1.json'))).toContain(
      String.raw`\"annotations\":{\"a\":\"x\",\"b\":\"w\",\"c\":\"z\"}`,
    )
  })

  test('distinguishes an icon without data from an empty one, except in the CSV', () => {
    const index = JSON.parse(decodeCacheFile(cache.get('packages.json'))) as Record<string, { icon: unknown }>
    expect(index['spellings']?.icon).toEqual({ base64data: null, mediatype: 'image/png' })
    expect(decodeCacheFile(cache.get('spellings_c_spellings.v1.json'))).toContain(
      String.raw`\"icon\":[{\"base64data\":\"\",\"mediatype\":\"image/png\"}]`,
    )
  })

  test('shares the bytes of a CSV that is also among the objects', () => {
    const metadata = `{type: olm.csv.metadata, value: {description: "${'long '.repeat(100)}"}}`
    const files = buildOpmCacheFilesByPath({ 'catalog.yaml': createPackageYaml([metadata]) })
    // The CSV, and the list of the objects with the same CSV in it.
    const [csvBytes, objects] = (files.get('p_c_b.v1.json')?.pieces ?? []).filter(
      (chunks) => getByteChunkTreeLength(chunks) > 400,
    )
    expect(objects).toHaveLength(3)
    expect(objects).toContain(csvBytes)
  })
})

describe('opm builds no cache of a catalog', () => {
  const cases: readonly (readonly [what: string, text: string, error: string])[] = [
    [
      'with two olm.csv.metadata in a bundle',
      createPackageYaml(['{type: olm.csv.metadata, value: {}}', '{type: olm.csv.metadata, value: {}}']),
      'build package index: process package "p": parse properties: expected at most 1 property of type "olm.csv.metadata", found 2',
    ],
    [
      'whose channel has a slash',
      createPackageYaml([], { channel: 'a/b' }),
      'opm cannot write the cache file "p_a/b_b.v1.json"',
    ],
    [
      'whose channel has a NUL',
      createPackageYaml([], { channel: String.raw`a\0b` }),
      'the name contains a NUL character',
    ],
    [
      'with names that are together too long, in bytes',
      createPackageYaml([], { bundle: 'ü'.repeat(124) }),
      'the name is longer than 255 bytes',
    ],
    [
      'with two bundles that use the same file name',
      createPackageYaml([], { channel: 'x_c' }) + createPackageYaml([], { package: 'p_x' }),
      'another bundle uses the same file name',
    ],
    [
      'with a custom blob of a package without a plain name',
      `${createPackageYaml([])}---\n{schema: custom, package: ../p}\n`,
      'invalid custom schema meta: invalid packageName "../p": must match ^[a-zA-Z0-9][a-zA-Z0-9._-]*$',
    ],
  ]
  test.each(cases)('%s', (_, text, error) => {
    const cache = buildOpmCacheFromFiles({ 'catalog.yaml': text })
    expect(cache.ok ? '' : cache.error).toContain(error)
  })
})
