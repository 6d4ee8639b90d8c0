// The file of a catalog once a bundle is released to it: all that is not the release stays as it was.
import { describe, expect, test } from '@jest/globals'
import { releasedCatalog, type ReleasedBundle } from '../../../src/catalog/template/released-catalog.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const image = (version: string) => `quay.io/foo/foo:${version}`

function blob(version: string) {
  return {
    schema: 'olm.bundle',
    name: `foo.v${version}`,
    package: 'foo',
    image: image(version),
    properties: [{ type: 'olm.package', value: { packageName: 'foo', version } }],
  }
}

function template(...versions: string[]): Uint8Array {
  return bytes(
    `Schema: olm.semver\nGenerateMinorChannels: true\nStable:\n  Bundles:\n${versions.map((version) => `  - Image: ${image(version)}\n`).join('')}`,
  )
}

type Entry = { readonly name: string; readonly replaces?: string; readonly skips?: readonly string[] }

function catalog(channels: Readonly<Record<string, readonly Entry[]>>, more: object = {}): Uint8Array {
  const versions = Object.values(channels).flatMap((entries) => entries.map(({ name }) => name.slice(5)))
  const described = { schema: 'olm.package', name: 'foo', defaultChannel: 'stable-v0.2', ...more }
  const listed = Object.entries(channels).map(([name, entries]) => ({
    schema: 'olm.channel',
    name,
    package: 'foo',
    entries,
  }))
  return bytes(
    [described, ...listed, ...versions.map(blob)].map((one) => JSON.stringify(one, undefined, 4)).join('\n'),
  )
}

const released: ReleasedBundle = {
  image: image('0.2.1'),
  withMetadata: blob('0.2.1'),
  withObjects: blob('0.2.1'),
  csv: { spec: { description: 'What foo does' } },
}

function release(before: Uint8Array, old = template('0.1.0', '0.1.1', '0.2.0')) {
  const result = releasedCatalog(
    template('0.1.0', '0.1.1', '0.2.0', '0.2.1'),
    { catalog: 'v4.20', format: 'json', bytes: before, templateBefore: old },
    [released],
  )
  if (!result.ok) throw new Error(result.error)
  const text = new TextDecoder().decode(result.value)
  const blobs = text
    .split(/(?<=^})\n/m)
    .filter((one) => one.trim() !== '')
    .map((one) => JSON.parse(one) as { schema: string; name: string; entries?: readonly Entry[] })
  const head = blobs.find(({ name }) => name === 'stable-v0.2')?.entries?.at(-1)
  return { head, described: blobs.find(({ schema }) => schema === 'olm.package') }
}

const across = {
  'stable-v0.1': [{ name: 'foo.v0.1.0' }, { name: 'foo.v0.1.1', skips: ['foo.v0.1.0'] }],
  'stable-v0.2': [{ name: 'foo.v0.2.0', replaces: 'foo.v0.1.1', skips: ['foo.v0.1.0'] }],
}
const within = { ...across, 'stable-v0.2': [{ name: 'foo.v0.2.0' }] }

describe('a semver template', () => {
  test('whose catalog an older opm made keeps its edges within each channel', () => {
    expect(release(catalog(within)).head).toEqual({ name: 'foo.v0.2.1', skips: ['foo.v0.2.0'] })
  })

  test.each([
    ['the newest opm made', catalog(across)],
    [
      'people have edited',
      catalog({ ...within, 'stable-v0.1': [{ name: 'foo.v0.1.0' }, { name: 'foo.v0.1.1' }] }),
    ],
  ])('whose catalog %s gets its edges across channels', (_, bytesBefore) => {
    expect(release(bytesBefore).head).toEqual({
      name: 'foo.v0.2.1',
      replaces: 'foo.v0.1.1',
      skips: ['foo.v0.1.0', 'foo.v0.2.0'],
    })
  })

  test.each([
    ['the newest opm', ['foo.v0.2.10', 'foo.v0.2.9'], ['foo.v0.2.10', 'foo.v0.2.11', 'foo.v0.2.9']],
    ['an older opm', ['foo.v0.2.9', 'foo.v0.2.10'], ['foo.v0.2.9', 'foo.v0.2.10', 'foo.v0.2.11']],
  ])('whose catalog %s made lists what is skipped in its order', (_, skips, wanted) => {
    const versions = ['0.2.9', '0.2.10', '0.2.11']
    const [nine, ten] = versions.map((version) => ({ name: `foo.v${version}` }))
    if (!nine || !ten) throw new Error('there are none')
    const next = blob('0.2.12')
    const result = releasedCatalog(
      template(...versions, '0.2.12'),
      {
        catalog: 'v4.20',
        format: 'json',
        bytes: catalog({ 'stable-v0.2': [nine, ten, { name: 'foo.v0.2.11', skips }] }),
        templateBefore: template(...versions),
      },
      [{ image: next.image, withMetadata: next, withObjects: next }],
    )
    const text = result.ok ? new TextDecoder().decode(result.value) : result.error
    expect(JSON.parse(/"skips": (\[[^\]]*])/.exec(text)?.[1] ?? '""')).toEqual(wanted)
  })

  test('describes its package where the catalog did so before, and there alone', () => {
    expect(release(catalog(within)).described).not.toHaveProperty('description')
    expect(release(catalog(across, { description: 'What foo did' })).described).toMatchObject({
      description: 'What foo does',
    })
  })

  test('that names what no catalog has is not guessed at', () => {
    const { 'stable-v0.1': _, ...without } = across
    expect(() => release(catalog(without))).toThrow(`does not have ${image('0.1.0')}`)
  })
})
