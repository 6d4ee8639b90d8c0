// What a release writes, computed from a tree and the content of the image.
import { describe, expect, test } from '@jest/globals'
import { defaultConfig } from '../../../src/config/config.ts'
import { computeRelease } from '../../../src/release/worker/compute-release.ts'
import { formatDescriptionLinesAsText } from '../../../src/report/describe-change.ts'
import { base, createFakeGitRepository, type FileTree } from '../../checks/bundles/bundle-trees.ts'
import {
  catalogYaml,
  createBundleImageContent,
  createFakeDigest,
  createReleasableBundleFiles,
  releaseRepositoryFiles,
  templateYaml,
  templatePath,
} from './release-files.ts'

const bundleImageReference = `quay.io/foo/foo@${createFakeDigest('b')}`
const releasedImage = { reference: bundleImageReference, content: createBundleImageContent('1.1.0') }

async function computeReleaseFromFiles(
  files: FileTree,
  more: { image?: typeof releasedImage | undefined; version?: string } = { image: releasedImage },
) {
  const { read } = createFakeGitRepository(files, {})
  const { image: its, version = '1.1.0' } = more
  const order = { tree: base, directory: 'foo', version, config: defaultConfig, ...(its && { image: its }) }
  return computeRelease(order, read)
}

async function expectReadyRelease(files: FileTree) {
  const releaseState = await computeReleaseFromFiles(files)
  if (releaseState.kind !== 'ready') throw new Error(JSON.stringify(releaseState))
  const written = Object.fromEntries(
    releaseState.files.map(({ path, bytes }) => [path, new TextDecoder().decode(bytes)]),
  )
  return { ...releaseState, written }
}

const mergedRepositoryFiles = { ...releaseRepositoryFiles, ...createReleasableBundleFiles('1.1.0') }

describe('a release', () => {
  test('adds the bundle by digest only to its template and to the catalogs of that template', async () => {
    const { written, lines, name, isMergedByItself } = await expectReadyRelease(mergedRepositoryFiles)
    expect(Object.keys(written)).toEqual([
      'catalogs/v4.19/foo/catalog.yaml',
      'catalogs/v4.20/foo/catalog.yaml',
      templatePath,
    ])
    expect(written[templatePath]).toBe(
      templateYaml
        .replace('# the first\n', '# the first\n      - name: foo.v1.1.0\n        replaces: foo.v1.0.0\n')
        .concat(`  - schema: olm.bundle\n    image: ${bundleImageReference}\n`),
    )
    const text = written['catalogs/v4.20/foo/catalog.yaml'] ?? ''
    // The existing content is unchanged, byte for byte.
    const entry = '- name: foo.v1.1.0\n  replaces: foo.v1.0.0\n'
    const added = text.slice(catalogYaml.length + entry.length)
    expect(text).toBe(catalogYaml.replace('name: stable', `${entry}name: stable`) + added)
    expect(added).toContain(`image: ${bundleImageReference}\nname: foo.v1.1.0\n`)
    expect({ name, isMergedByItself }).toEqual({ name: 'foo.v1.1.0', isMergedByItself: true })
    expect(formatDescriptionLinesAsText(lines)).toEqual([
      'foo in v4.19, v4.20:',
      '  1.1.0 added to channel stable, replaces 1.0.0',
      '  channel stable: head 1.0.0 → 1.1.0',
    ])
  })

  test('adds the bundle only where it is missing, with the same content as before', async () => {
    const first = await expectReadyRelease(mergedRepositoryFiles)
    const half = {
      ...mergedRepositoryFiles,
      [templatePath]: first.written[templatePath] ?? '',
      'catalogs/v4.19/foo/catalog.yaml': first.written['catalogs/v4.19/foo/catalog.yaml'] ?? '',
    }
    const { written } = await expectReadyRelease(half)
    expect(written).toEqual({
      'catalogs/v4.20/foo/catalog.yaml': first.written['catalogs/v4.20/foo/catalog.yaml'],
    })
    expect(await computeReleaseFromFiles({ ...half, ...written })).toEqual({ kind: 'done' })
  })

  test('waits for the image, and needs none if there is nothing to release', async () => {
    expect(await computeReleaseFromFiles(mergedRepositoryFiles, {})).toEqual({ kind: 'awaited' })
    const { 'operators/foo/1.1.0/release-config.yaml': _, ...quiet } = mergedRepositoryFiles
    expect(await computeReleaseFromFiles(quiet, {})).toMatchObject({ kind: 'unwanted' })
    const off = { ...mergedRepositoryFiles, 'operators/foo/ci.yaml': 'updateGraph: replaces-mode\n' }
    expect(await computeReleaseFromFiles(off, {})).toMatchObject({ kind: 'unwanted' })
    expect(await computeReleaseFromFiles(releaseRepositoryFiles, {})).toMatchObject({
      kind: 'unwanted',
      why: 'the bundle directory no longer exists',
    })
  })

  test('with `merge: false` is not merged automatically', async () => {
    const { isMergedByItself } = await expectReadyRelease({
      ...releaseRepositoryFiles,
      ...createReleasableBundleFiles('1.1.0', 'foo.v1.0.0', 'merge: false\n'),
    })
    expect(isMergedByItself).toBe(false)
  })

  test.each([
    ['content that differs from the merged bundle', createBundleImageContent('1.1.1'), 'name differs'],
    ['content that is not a bundle', undefined, 'opm cannot read the image'],
  ])('is rejected if the image has %s', async (_, content, why) => {
    const releaseState = await computeReleaseFromFiles(mergedRepositoryFiles, {
      image: { reference: bundleImageReference, content } as typeof releasedImage,
    })
    expect(releaseState).toMatchObject({ kind: 'refused', isImage: true, why: expect.stringContaining(why) })
  })

  test.each<[string, FileTree, string]>([
    [
      'breaks a catalog',
      createReleasableBundleFiles('1.1.0', 'foo.v0.9.0'),
      'the resulting catalogs would be invalid',
    ],
    [
      'targets a catalog that does not exist',
      {
        'operators/foo/ci.yaml': (releaseRepositoryFiles['operators/foo/ci.yaml'] ?? '').replace(
          'v4.20',
          'v4.21',
        ),
      },
      'the catalog v4.21 does not exist',
    ],
    [
      'names a template by a path',
      {
        'operators/foo/1.1.0/release-config.yaml':
          'catalog_templates: [{template_name: ../../../.github/x.yaml, channels: [stable]}]\n',
      },
      'a template with an invalid file name',
    ],
    [
      'maps its template to a path',
      {
        'operators/foo/ci.yaml': (releaseRepositoryFiles['operators/foo/ci.yaml'] ?? '').replace(
          'v4.20',
          '../.github',
        ),
      },
      'catalogs with invalid names',
    ],
    [
      'names a channel with an invalid name',
      {
        'operators/foo/1.1.0/release-config.yaml':
          'catalog_templates: [{template_name: basic.yaml, channels: ["a b"]}]\n',
      },
      'channels or bundles with invalid names',
    ],
    ['has a catalog in two files', { 'catalogs/v4.20/foo/more.yaml': '---\n' }, 'several files'],
    [
      'has a template that cannot be read',
      { [templatePath]: 'schema: olm.template.basic\nentries: [}\n' },
      'cannot be changed',
    ],
  ])('that %s is rejected', async (_, files, why) => {
    const releaseState = await computeReleaseFromFiles({ ...mergedRepositoryFiles, ...files }).catch(
      (error: Error) => ({ kind: error.name === 'Unwritable' ? 'refused' : 'failed', why: error.message }),
    )
    expect(releaseState).toMatchObject({ kind: 'refused', why: expect.stringContaining(why) })
  })

  test('never writes to a link or through a link', async () => {
    const { read } = createFakeGitRepository(mergedRepositoryFiles, {})
    for (const linked of [templatePath, 'catalogs/v4.20/foo/catalog.yaml']) {
      const list = async (tree: string, prefix?: string) =>
        (await read.list(tree, prefix)).map((one) => (one.path === linked ? { ...one, mode: '120000' } : one))
      const order = {
        tree: base,
        directory: 'foo',
        version: '1.1.0',
        config: defaultConfig,
        image: releasedImage,
      }
      await expect(computeRelease(order, { ...read, list })).rejects.toThrow('is not a regular file')
    }
  })
})
