// Facts about the other bundles of a package: read once, cached by content, and identical whether read or cached.
import type { TreePathEntry } from '../../src/pull-request/change.ts'
import { createHash } from 'node:crypto'
import { readdirSync, writeFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { toBlobSha, type BlobSha } from '../../src/pull-request/ids.ts'
import { createContentAddressedCache } from '../../src/catalogs/parsed-file-cache.ts'
import { createInMemoryCache } from '../../src/catalogs/memory-cache.ts'
import { systemClock } from '../../src/adapters/system-clock.ts'
import { computeDirectoryContentKey } from '../../src/catalogs/read-bundle-files.ts'
import {
  cacheBundleUpgradeMetadata,
  siblingBundleMetadataCacheNamespace,
  readSiblingBundleMetadata,
} from '../../src/evaluate/read-sibling-bundles.ts'
import type { TreeReader } from '../../src/ports/repository.ts'
import { createSelfRemovingDirectory } from '../temporary-directory.ts'

const temporaryDirectory = createSelfRemovingDirectory('neighbours')

const packageDirectory = 'operators/foo'

/** A package with these bundle directories, which records each read of a file. */
function createPackageWithReadLog(seed: string, versions: readonly string[]) {
  const blobs = new Map<BlobSha, Uint8Array>()
  const entries: TreePathEntry[] = []
  const put = (path: string, text: string) => {
    const bytes = new TextEncoder().encode(text)
    const oid = toBlobSha(createHash('sha1').update(`${seed} ${text}`).digest('hex'))
    blobs.set(oid, bytes)
    entries.push({ path, mode: '100644', oid })
  }
  for (const version of versions) {
    put(
      `${packageDirectory}/${version}/manifests/foo.clusterserviceversion.yaml`,
      `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: foo.v${version}
spec:
  version: ${version}
  replaces: foo.v0
  skips: [foo.v0.1]
`,
    )
    put(
      `${packageDirectory}/${version}/metadata/annotations.yaml`,
      `annotations:
  operators.operatorframework.io.bundle.package.v1: foo
  operators.operatorframework.io.bundle.channels.v1: stable,fast
`,
    )
  }
  const read: string[] = []
  const repository = {
    read: (oid: BlobSha) => {
      read.push(oid)
      return Promise.resolve(blobs.get(oid) ?? new Uint8Array())
    },
  } as Partial<TreeReader> as TreeReader
  const filesOf = (version: string) =>
    new Map(
      entries
        .filter(({ path }) => path.startsWith(`${packageDirectory}/${version}/`))
        .map(({ path, oid }) => [
          path.slice(`${packageDirectory}/${version}/`.length),
          blobs.get(oid) ?? new Uint8Array(),
        ]),
    )
  return { entries, repository, read, filesOf }
}

test('unchanged bundles are not read again', async () => {
  const { entries, repository, read } = createPackageWithReadLog('twice', ['1.0.0', '1.1.0'])
  const cache = createInMemoryCache(systemClock)
  const first = await readSiblingBundleMetadata({ repository, cache }, entries, packageDirectory, new Map())
  expect([...(first ?? [])].map(([version, { name }]) => [version, name?.text])).toEqual([
    ['1.0.0', 'foo.v1.0.0'],
    ['1.1.0', 'foo.v1.1.0'],
  ])
  const reads = read.length
  expect(
    await readSiblingBundleMetadata({ repository, cache }, entries, packageDirectory, new Map()),
  ).toEqual(first)
  expect(read.length).toBe(reads)
})

test('a bundle that was evaluated is not read again after its merge', async () => {
  const { entries, repository, read, filesOf } = createPackageWithReadLog('judged', ['2.0.0'])
  const cache = createInMemoryCache(systemClock)
  await cacheBundleUpgradeMetadata(cache, entries, `${packageDirectory}/2.0.0`, filesOf('2.0.0'))
  const known = await readSiblingBundleMetadata({ repository, cache }, entries, packageDirectory, new Map())
  expect(known?.get('2.0.0')).toMatchObject({ name: { text: 'foo.v2.0.0' }, package: { text: 'foo' } })
  expect(read).toEqual([])
})

test('the disk cache returns what was read, drops older versions, and keeps other facts', async () => {
  const { entries, repository } = createPackageWithReadLog('disk', ['3.0.0'])
  for (const other of ['facts-4', 'neighbours-0']) {
    mkdirSync(join(temporaryDirectory, other))
    writeFileSync(join(temporaryDirectory, other, 'x.json'), '')
  }
  await readSiblingBundleMetadata(
    { repository, cache: createContentAddressedCache(temporaryDirectory) },
    entries,
    packageDirectory,
    new Map(),
  )
  expect(readdirSync(temporaryDirectory).sort()).toEqual(['facts-4', 'neighbours-1'])
  const [file = ''] = readdirSync(join(temporaryDirectory, 'neighbours-1'))
  const key = file.replace('.json', '')
  const cachedFacts = (
    await createContentAddressedCache(temporaryDirectory).getCached(siblingBundleMetadataCacheNamespace, [
      key,
    ])
  ).get(key)
  const read = await readSiblingBundleMetadata(
    { repository, cache: createInMemoryCache(systemClock) },
    entries,
    packageDirectory,
    new Map(),
  )
  expect(cachedFacts).toEqual(read?.get('3.0.0'))
})

test('a crafted file name cannot give two directories the same content key', () => {
  const oid = (digit: string) => toBlobSha(digit.repeat(40))
  const entry = (path: string, digit: string): TreePathEntry => ({
    path: `r/${path}`,
    mode: '100644',
    oid: oid(digit),
  })
  const two = computeDirectoryContentKey([entry('a', '1'), entry('b', '2')], 'r')
  expect(computeDirectoryContentKey([entry(`a\n${oid('2')} b`, '1')], 'r')).not.toBe(two)
})

/** Digests of sample facts by version. If the test fails, the facts changed: raise the version and add a line. */
const bundleMetadataDigestByCacheVersion: Readonly<Record<string, string>> = {
  'neighbours 1': '5747f4bec9cf2794',
}

test('changed facts require a new version', async () => {
  const { entries, repository } = createPackageWithReadLog('version', ['1.0.0'])
  const facts = await readSiblingBundleMetadata(
    { repository, cache: createInMemoryCache(systemClock) },
    entries,
    packageDirectory,
    new Map(),
  )
  const digest = createHash('sha256')
    .update(JSON.stringify([...(facts ?? [])]))
    .digest('hex')
    .slice(0, 16)
  expect(digest).toBe(bundleMetadataDigestByCacheVersion[siblingBundleMetadataCacheNamespace.name])
})
