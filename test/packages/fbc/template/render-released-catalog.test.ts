// The catalog file after a bundle is released to it: everything except the release stays the same.
import { describe, expect, test } from '@jest/globals'
import {
  renderReleasedCatalog,
  type ReleasedBundle,
} from '../../../../packages/fbc/src/template/render-released-catalog.ts'

const encodeText = (text: string) => new TextEncoder().encode(text)
const formatBundleImageReference = (version: string) => `quay.io/foo/foo:${version}`

function createBundleBlob(version: string) {
  return {
    schema: 'olm.bundle',
    name: `foo.v${version}`,
    package: 'foo',
    image: formatBundleImageReference(version),
    properties: [{ type: 'olm.package', value: { packageName: 'foo', version } }],
  }
}

function createSemverTemplate(...versions: string[]): Uint8Array {
  return encodeText(
    `Schema: olm.semver\nGenerateMinorChannels: true\nStable:\n  Bundles:\n${versions.map((version) => `  - Image: ${formatBundleImageReference(version)}\n`).join('')}`,
  )
}

type ChannelEntryJson = {
  readonly name: string
  readonly replaces?: string
  readonly skips?: readonly string[]
}

function createCatalogWithChannels(
  channels: Readonly<Record<string, readonly ChannelEntryJson[]>>,
  more: object = {},
): Uint8Array {
  const versions = Object.values(channels).flatMap((entries) => entries.map(({ name }) => name.slice(5)))
  const described = { schema: 'olm.package', name: 'foo', defaultChannel: 'stable-v0.2', ...more }
  const listed = Object.entries(channels).map(([name, entries]) => ({
    schema: 'olm.channel',
    name,
    package: 'foo',
    entries,
  }))
  return encodeText(
    [described, ...listed, ...versions.map(createBundleBlob)]
      .map((one) => JSON.stringify(one, undefined, 4))
      .join('\n'),
  )
}

const releasedBundle: ReleasedBundle = {
  image: formatBundleImageReference('0.2.1'),
  withMetadata: createBundleBlob('0.2.1'),
  withObjects: createBundleBlob('0.2.1'),
  csv: { spec: { description: 'What foo does' } },
}

function renderCatalogWithNewRelease(
  before: Uint8Array,
  old = createSemverTemplate('0.1.0', '0.1.1', '0.2.0'),
) {
  const result = renderReleasedCatalog(
    createSemverTemplate('0.1.0', '0.1.1', '0.2.0', '0.2.1'),
    { catalog: 'v4.20', format: 'json', bytes: before, templateBefore: old },
    [releasedBundle],
  )
  if (!result.ok) throw new Error(result.error)
  const text = new TextDecoder().decode(result.value)
  const blobs = text
    .split(/(?<=^})\n/m)
    .filter((one) => one.trim() !== '')
    .map((one) => JSON.parse(one) as { schema: string; name: string; entries?: readonly ChannelEntryJson[] })
  const head = blobs.find(({ name }) => name === 'stable-v0.2')?.entries?.at(-1)
  return { head, described: blobs.find(({ schema }) => schema === 'olm.package') }
}

const upgradeEdgesAcrossChannels = {
  'stable-v0.1': [{ name: 'foo.v0.1.0' }, { name: 'foo.v0.1.1', skips: ['foo.v0.1.0'] }],
  'stable-v0.2': [{ name: 'foo.v0.2.0', replaces: 'foo.v0.1.1', skips: ['foo.v0.1.0'] }],
}
const upgradeEdgesWithinChannels = { ...upgradeEdgesAcrossChannels, 'stable-v0.2': [{ name: 'foo.v0.2.0' }] }

describe('a semver template', () => {
  test('with a catalog by an older opm keeps the edges within each channel', () => {
    expect(renderCatalogWithNewRelease(createCatalogWithChannels(upgradeEdgesWithinChannels)).head).toEqual({
      name: 'foo.v0.2.1',
      skips: ['foo.v0.2.0'],
    })
  })

  test.each([
    ['by the newest opm', createCatalogWithChannels(upgradeEdgesAcrossChannels)],
    [
      'that people edited',
      createCatalogWithChannels({
        ...upgradeEdgesWithinChannels,
        'stable-v0.1': [{ name: 'foo.v0.1.0' }, { name: 'foo.v0.1.1' }],
      }),
    ],
  ])('with a catalog %s gets edges across channels', (_, bytesBefore) => {
    expect(renderCatalogWithNewRelease(bytesBefore).head).toEqual({
      name: 'foo.v0.2.1',
      replaces: 'foo.v0.1.1',
      skips: ['foo.v0.1.0', 'foo.v0.2.0'],
    })
  })

  test.each([
    ['the newest opm', ['foo.v0.2.10', 'foo.v0.2.9'], ['foo.v0.2.10', 'foo.v0.2.11', 'foo.v0.2.9']],
    ['an older opm', ['foo.v0.2.9', 'foo.v0.2.10'], ['foo.v0.2.9', 'foo.v0.2.10', 'foo.v0.2.11']],
  ])('with a catalog by %s lists skipped bundles in its order', (_, skips, wanted) => {
    const versions = ['0.2.9', '0.2.10', '0.2.11']
    const [nine, ten] = versions.map((version) => ({ name: `foo.v${version}` }))
    if (!nine || !ten) throw new Error('there are none')
    const next = createBundleBlob('0.2.12')
    const result = renderReleasedCatalog(
      createSemverTemplate(...versions, '0.2.12'),
      {
        catalog: 'v4.20',
        format: 'json',
        bytes: createCatalogWithChannels({ 'stable-v0.2': [nine, ten, { name: 'foo.v0.2.11', skips }] }),
        templateBefore: createSemverTemplate(...versions),
      },
      [{ image: next.image, withMetadata: next, withObjects: next }],
    )
    const text = result.ok ? new TextDecoder().decode(result.value) : result.error
    expect(JSON.parse(/"skips": (\[[^\]]*])/.exec(text)?.[1] ?? '""')).toEqual(wanted)
  })

  test('gets a package description only if the catalog had one before', () => {
    expect(
      renderCatalogWithNewRelease(createCatalogWithChannels(upgradeEdgesWithinChannels)).described,
    ).not.toHaveProperty('description')
    expect(
      renderCatalogWithNewRelease(
        createCatalogWithChannels(upgradeEdgesAcrossChannels, { description: 'What foo did' }),
      ).described,
    ).toMatchObject({ description: 'What foo does' })
  })

  test('with a bundle that is not in the catalog is an error', () => {
    const { 'stable-v0.1': _, ...without } = upgradeEdgesAcrossChannels
    expect(() => renderCatalogWithNewRelease(createCatalogWithChannels(without))).toThrow(
      `does not contain ${formatBundleImageReference('0.1.0')}`,
    )
  })
})
