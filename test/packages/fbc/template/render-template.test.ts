import { spawn } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { RenderedBundle } from '../../../../packages/fbc/src/template/bundle-source.ts'
import { renderTemplate, getTemplateImages } from '../../../../packages/fbc/src/template/render-template.ts'
import { parseWritableCatalog } from '../../../../packages/fbc/src/write/writable-catalog.ts'
import { formatCatalogJson } from '../../../../packages/fbc/src/write/format-json.ts'
import { startMockRegistry, type MockRegistry } from '../../../../sandbox/registry/registry.ts'
import { runOpm } from '../../../run-opm.ts'

const textEncoder = new TextEncoder()
let mockRegistry: MockRegistry
const renderedBundleByImage = new Map<string, RenderedBundle>()

/** Runs the real opm without blocking this process, which serves the registry. */
async function runOpmCommand(
  args: readonly string[],
  input = '',
): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn('opm', args, { env: { ...process.env, HELP_ALPHA: 'true' } })
    const [out, err]: [string[], string[]] = [[], []]
    child.stdout.setEncoding('utf8').on('data', (text: string) => out.push(text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => err.push(text))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code: code ?? -1, out: out.join(''), err: err.join('') }))
    child.stdin.end(input)
  })
}

const bundleVersions = [
  '0.9.0',
  '1.0.0',
  '1.0.1',
  '1.1.0',
  '1.1.1-rc.1',
  '1.2.0',
  '1.2.5',
  '2.0.0',
  '2.1.0',
  '1.2.5+b',
]
const formatImage = (version: string) => `${mockRegistry.host}/foo/bundle:v${version.replace('+', '_')}`
const isOpmInstalled = runOpm(['version']) !== undefined

beforeAll(async () => {
  mockRegistry = await startMockRegistry()
  if (!isOpmInstalled) return
  const put = (version: string, of = 'foo', tag = version, annotations: Record<string, string> = {}) => {
    const csv = {
      apiVersion: 'operators.coreos.com/v1alpha1',
      kind: 'ClusterServiceVersion',
      metadata: { name: `${of}.v${version}`, annotations },
      spec: {
        version,
        description: `This is ${version}`,
        icon: [{ base64data: 'PHN2Zy8+', mediatype: 'image/svg+xml' }],
      },
    }
    const labels = {
      'operators.operatorframework.io.bundle.mediatype.v1': 'registry+v1',
      'operators.operatorframework.io.bundle.manifests.v1': 'manifests/',
      'operators.operatorframework.io.bundle.metadata.v1': 'metadata/',
      'operators.operatorframework.io.bundle.package.v1': of,
      'operators.operatorframework.io.bundle.channels.v1': 'stable',
    }
    mockRegistry.putImage('foo/bundle', `v${tag.replace('+', '_')}`, {
      labels,
      files: {
        'manifests/csv.yaml': JSON.stringify(csv),
        'metadata/annotations.yaml': JSON.stringify({ annotations: labels }),
      },
    })
  }
  for (const version of bundleVersions) put(version)
  put('1.0.0', 'bar', 'bar')
  put('1.0.0', 'foo', 'again')
  put('1.0.0+5', 'foo', 'rebuilt', { 'olm.substitutesFor': 'foo.v1.0.0' })
  const tags = [
    ...bundleVersions.map(formatImage),
    ...['bar', 'again', 'rebuilt'].map((tag) => `${mockRegistry.host}/foo/bundle:v${tag}`),
  ]
  for (const tag of tags) {
    const { out, err } = await runOpmCommand(['render', tag, '--use-http', '-o', 'json'])
    const read = parseWritableCatalog([textEncoder.encode(out)])
    const blob = read.ok ? read.value.bundles[0] : undefined
    if (!blob) throw new Error(`opm does not render ${tag}: ${err}`)
    renderedBundleByImage.set(tag, { blob })
  }
})
afterAll(async () => mockRegistry.stop())

const render = (template: string): string => {
  const result = renderTemplate(textEncoder.encode(template), (reference) => {
    const bundle = renderedBundleByImage.get(reference)
    return bundle ? { ok: true, value: [bundle] } : { ok: false, error: `no ${reference}` }
  })
  return result.ok ? formatCatalogJson(result.value) : `error: ${result.error}`
}
/** What opm prints for the same template: its output, or its error without the log prefix and the usage text. */
async function renderWithOpm(template: string): Promise<string> {
  const { code, out, err } = await runOpmCommand(
    ['alpha', 'render-template', '-', '--use-http', '-o', 'json'],
    template,
  )
  if (code === 0) return out
  const [, logged] = /level=fatal msg=("(?:[^"\\]|\\.)*")/.exec(err) ?? []
  const text =
    logged === undefined
      ? err.replace(/^Error: /, '').replace(/\nUsage:[^]*$/, '')
      : (JSON.parse(logged) as string)
  return `error: ${text.trim()}`
}

const semver = (settings: string, channels: Partial<Record<string, readonly string[]>>) =>
  `schema: olm.semver\n${settings}\n${Object.entries(channels)
    .map(
      ([name, list = []]) =>
        `${name}:\n  bundles:\n${list.map((version) => `  - image: ${version.includes('/') ? version : formatImage(version)}\n`).join('')}`,
    )
    .join('')}`
const tagged = (name: string) => `${mockRegistry.host}/foo/bundle:v${name}`
const releaseVersions = bundleVersions.slice(0, 9)

const testIfOpmInstalled = isOpmInstalled ? test : test.skip
describe('a semver template is rendered as opm renders it', () => {
  testIfOpmInstalled.each([
    [
      'minor channels by default',
      () => semver('', { candidate: releaseVersions, stable: ['1.0.0', '1.2.5'] }),
    ],
    ['major channels', () => semver('generateMajorChannels: true', { fast: releaseVersions })],
    [
      'both, in any order and spelling',
      () =>
        semver('GenerateMajorChannels: true\nGenerateMinorChannels: true', {
          Stable: [...releaseVersions].reverse(),
          Candidate: releaseVersions,
        }),
    ],
    [
      'both, major preferred',
      () =>
        semver(
          'generateMajorChannels: true\ngenerateMinorChannels: true\ndefaultChannelTypePreference: major',
          { fast: ['1.0.0', '1.1.0'], candidate: ['2.0.0'] },
        ),
    ],
    ['a single bundle', () => semver('', { stable: ['1.0.0'] })],
    [
      'keys in two spellings, of which the last one applies',
      () => semver('Schema: olm.semver', { Stable: ['1.0.0'], stable: ['1.1.0', '1.0.0'] }),
    ],
    [
      'spellings that share a list',
      () =>
        `schema: olm.semver\nStable: {Bundles: [{image: a}], bundles: [{image: '${formatImage('1.0.0')}'}, {Image: b, image: '${formatImage('1.1.0')}'}]}`,
    ],
    [
      'JSON',
      () =>
        `{"Schema": "olm.semver", "Fast": {"bundles": [{"image": "${formatImage('1.0.0')}"}]}, "schema": "olm.semver"}`,
    ],
  ])('%s', async (_, template) => {
    expect(render(template())).toBe(await renderWithOpm(template()))
  })
  testIfOpmInstalled.each([
    ['no bundles', () => semver('', {})],
    [
      'a preference for a channel type that is not generated',
      () => semver('defaultChannelTypePreference: major', { stable: ['1.0.0'] }),
    ],
    [
      'another preference',
      () => semver('generateMajorChannels: true\ndefaultChannelTypePreference: minor', { stable: ['1.0.0'] }),
    ],
    ['an unknown preference', () => semver('defaultChannelTypePreference: x', { stable: ['1.0.0'] })],
    ['an unknown field', () => semver('foo: 1', { stable: ['1.0.0'] })],
    ['an unknown nested field', () => `schema: olm.semver\nstable:\n  bundles:\n  - image: a\n    zoo: 1\n`],
    ['two packages', () => semver('', { stable: ['1.0.0', tagged('bar')] })],
    ['one bundle twice', () => semver('', { stable: ['1.0.0', tagged('again')] })],
    ['versions that differ only in build metadata', () => semver('', { stable: ['1.2.5', '1.2.5+b'] })],
    ['a wrong type', () => `schema: olm.semver\nstable: 1\n`],
    ['a schema that is not a string', () => `schema: 1\nstable: {}\n`],
    ['a schema in another spelling', () => `schema: olm.semver\nSchema: []\n`],
    ['a list', () => `- a\n`],
    ['an empty document', () => `# nothing\n---\nschema: olm.semver\n`],
    [
      'duplicate keys',
      () => `schema: olm.semver\nfast: {}\nfast: {}\nstable: {bundles: [], bundles:\n  [] }\n`,
    ],
    [
      'a merge key over an existing key',
      () => `schema: olm.semver\nfast: &f {bundles: []}\nstable:\n  bundles: []\n  <<: *f\n`,
    ],
    ['a boolean in place of a string', () => `schema: olm.semver\ndefaultChannelTypePreference: yes\n`],
    ['an unknown field before a wrong type', () => `schema: olm.semver\nfoo: 1\nstable: 1\n`],
    ['a wrong type before an unknown field', () => `schema: olm.semver\nfast: 1\nfoo: 1\n`],
    ['JSON that is not valid YAML', () => `{"schema": "olm.semver",\n\t"x\\/y": 1}`],
  ])('with the same error about %s', async (_, template) => {
    // opm's sort is not stable, so either of two equal versions can come first.
    const settled = (text: string) => text.replaceAll('1.2.5+b', '1.2.5')
    expect(settled(render(template()))).toBe(settled(await renderWithOpm(template())))
  })
})

const createCatalogEntriesYaml = () => `
- {schema: olm.package, name: foo, defaultChannel: a}
- schema: olm.channel
  package: foo
  name: a
  entries:
  - {name: foo.v0.9.0}
  - {name: foo.v1.0.0, replaces: foo.v0.9.0, skips: [x], skipRange: '<1.0.0'}
  - {name: foo.v1.1.0, replaces: foo.v1.0.0}
- schema: olm.channel
  package: foo
  name: b
  entries:
  - {name: foo.v1.0.0}
  - {name: foo.v1.1.0, skips: [foo.v1.0.0]}`
const createBundleEntryJson = (version: string) => {
  const {
    schema,
    name,
    package: of,
    image,
    properties,
  } = renderedBundleByImage.get(formatImage(version))?.blob ?? { schema: '', image: '' }
  return `\n- ${JSON.stringify({ schema, name, package: of, image, properties })}`
}
const formatSubstitution = (version: string, base: string) =>
  `- {name: '${formatImage(version)}', base: ${base}}`
const substitutes = (list: string, more = ['0.9.0', '1.0.0', '1.1.0'].map(createBundleEntryJson).join('')) =>
  `schema: olm.template.substitutes\nentries:${createCatalogEntriesYaml()}${more}\nsubstitutions:\n${list}`

describe('a basic template is rendered as opm renders it', () => {
  testIfOpmInstalled.each([
    [
      'bundles by reference',
      () =>
        `schema: olm.template.basic\nentries:${createCatalogEntriesYaml()}\n- {schema: olm.bundle, name: ignored, image: '${formatImage('1.0.0')}'}\n- {schema: mine, package: foo, x: 1}\n- {schema: olm.bundle, image: '${formatImage('0.9.0')}'}`,
    ],
    ['no entries', () => 'schema: olm.template.basic\nunknown: 1\nentries: []'],
    [
      'keys in two spellings',
      () =>
        `schema: olm.template.basic\nSchema: x\nentries: [{schema: mine, x: 1}]\nENTRIES: [{schema: other, x: 1}]\n`,
    ],
    [
      'keys in two spellings in JSON',
      () =>
        `{"schema": "x", "entries": [{"schema": "mine", "x": 1}], "Schema": "olm.template.basic", "ENTRIES": [{"schema": "other"}]}`,
    ],
    [
      'a blob with a key in two spellings',
      () => 'schema: olm.template.basic\nentries:\n- {schema: x, Schema: x}',
    ],
    [
      'a blob that is not an object',
      () => '{"schema": "olm.template.basic", "entries": [{"schema": "x"}, [1, 2]]}',
    ],
    [
      'a number that is out of range',
      () => '{"schema": "olm.template.basic", "entries": [{"schema": "x", "y": 1e999}]}',
    ],
    ['entries that are not a list', () => 'schema: olm.template.basic\nentries: {}'],
    [
      'a bundle object that cannot be read',
      () =>
        'schema: olm.template.basic\nentries:\n- {schema: olm.bundle, image: a, properties: [{type: olm.bundle.object, value: {data: 1}}]}',
    ],
    [
      'a bundle with other fields than its image',
      () =>
        `schema: olm.template.basic\nentries:\n- {schema: olm.bundle, package: foo, image: '${formatImage('1.0.0')}'}`,
    ],
    ['an entry without a schema', () => 'schema: olm.template.basic\nentries:\n- {name: x}'],
    [
      'a blob with a field of the wrong type',
      () => 'schema: olm.template.basic\nentries:\n- {schema: olm.channel, entries: 1}',
    ],
    ['an unknown schema', () => 'schema: olm.template.other\nentries: []'],
    ['no schema', () => 'entries: []'],
  ])('%s', async (_, template) => {
    expect(render(template())).toBe(await renderWithOpm(template()))
  })
})

describe('a substitutes template is rendered as opm renders it', () => {
  testIfOpmInstalled.each([
    ['a newer bundle', () => substitutes(formatSubstitution('1.0.1', 'foo.v1.0.0'))],
    ['a rebuilt bundle', () => substitutes(`- {name: '${tagged('rebuilt')}', base: foo.v1.0.0}`)],
    [
      'two substitutions',
      () =>
        substitutes(
          `${formatSubstitution('1.0.1', 'foo.v1.0.0')}\n${formatSubstitution('1.2.0', 'foo.v1.1.0')}`,
        ),
    ],
    ['no substitutions', () => substitutes('[]')],
    ['an older bundle', () => substitutes(formatSubstitution('0.9.0', 'foo.v1.0.0'))],
    ['a base that does not exist', () => substitutes(formatSubstitution('1.0.1', 'foo.v7'))],
    [
      'a base used twice',
      () =>
        substitutes(
          `${formatSubstitution('1.0.1', 'foo.v1.0.0')}\n${formatSubstitution('1.2.0', 'foo.v1.0.0')}`,
        ),
    ],
    [
      'a bundle used twice',
      () =>
        substitutes(
          `${formatSubstitution('1.2.0', 'foo.v1.0.0')}\n${formatSubstitution('1.2.0', 'foo.v1.1.0')}`,
        ),
    ],
    ['no name', () => substitutes(`- {base: foo.v1.0.0}`)],
    ['no base', () => substitutes(`- {name: x}`)],
    ['entries that are not a catalog', () => substitutes('[]', '')],
    [
      'a property without a value',
      () => substitutes('[]', `\n- {schema: olm.bundle, name: a, package: foo, properties: [{type: x}]}`),
    ],
    ['substitutions of the wrong type', () => substitutes(`- {name: 1}`)],
    ['substitutions in another spelling', () => `${substitutes('[]')}Substitutions: {}`],
  ])('%s', async (_, template) => {
    expect(render(template())).toBe(await renderWithOpm(template()))
  })
})

test('the image references of a template are listed before any image is rendered', () => {
  const images = (template: string) => getTemplateImages(textEncoder.encode(template))
  expect(
    images(
      'schema: olm.semver\nstable: {bundles: [{image: a}, {image: b}]}\ncandidate: {bundles: [{image: b}]}',
    ),
  ).toEqual({ ok: true, value: ['b', 'a'] })
  expect(images('schema: olm.template.basic\nentries: [{schema: olm.bundle, image: a}]')).toEqual({
    ok: true,
    value: ['a'],
  })
  expect(images('schema: olm.template.substitutes\nsubstitutions: [{name: a, base: b}]')).toEqual({
    ok: true,
    value: ['a'],
  })
})

describe('the package of a semver template is described by the head of its default channel', () => {
  const described = (manifest: string, template = 'stable: {bundles: [{image: a}]}') => {
    const properties = [
      { type: 'olm.package', value: { packageName: 'foo', version: '1.0.0' } },
      {
        type: 'olm.bundle.object',
        value: { data: Buffer.from('kind: CustomResourceDefinition').toString('base64') },
      },
      { type: 'olm.bundle.object', value: { data: Buffer.from(manifest).toString('base64') } },
    ]
    const blob = { schema: 'olm.bundle', name: 'foo.v1', package: 'foo', image: 'a', properties }
    const result = renderTemplate(textEncoder.encode(`schema: olm.semver\n${template}`), () => ({
      ok: true,
      value: [{ blob }],
    }))
    return result.ok ? result.value.packages[0] : result.error
  }
  const bare = { schema: 'olm.package', name: 'foo', defaultChannel: 'stable-v1.0' }
  const spec = `description: d, icon: [{mediatype: image/png, base64data: aGk=}]`
  const icon = { base64data: 'aGk=', mediatype: 'image/png' }

  test.each<[claim: string, manifest: string, more: object, template?: string]>([
    ['from a manifest in YAML', `kind: ClusterServiceVersion\nspec: {${spec}}`, { description: 'd', icon }],
    [
      'unless opm cannot read the manifest',
      `kind: ClusterServiceVersion\nmetadata: {annotations: {a: 1}}\nspec: {${spec}}`,
      {},
    ],
    [
      'unless the manifest spells the key of its kind differently',
      `Kind: ClusterServiceVersion\nspec: {${spec}}`,
      {},
    ],
    [
      'regardless of the spelling of the template keys',
      `kind: ClusterServiceVersion\nspec: {${spec}}`,
      { description: 'd', icon },
      'Schema: olm.semver\nStable: {}\nstable: {Bundles: [{Image: a}]}',
    ],
  ])('%s', (_, manifest, more, ...templates) => {
    expect(described(manifest, ...templates)).toEqual({ ...bare, ...more })
  })
})

test('a semver template with more bundles than a call accepts arguments is read completely', () => {
  const bundles = Array.from({ length: 200_000 }, (_, at) => `  - image: r${at}\n`).join('')
  const images = getTemplateImages(textEncoder.encode(`schema: olm.semver\nstable:\n  bundles:\n${bundles}`))
  expect(images).toMatchObject({ ok: true, value: { length: 200_000 } })
})
