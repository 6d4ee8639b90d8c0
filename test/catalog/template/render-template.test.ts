import { spawn } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { RenderedBundle } from '../../../src/catalog/template/bundle-source.ts'
import { renderTemplate, templateImages } from '../../../src/catalog/template/render-template.ts'
import { readWritable } from '../../../src/catalog/write/writable.ts'
import { writeJson } from '../../../src/catalog/write/write-json.ts'
import { startRegistry, type Registry } from '../../../sandbox/registry/registry.ts'
import { opm } from '../../opm.ts'

const encoder = new TextEncoder()
let registry: Registry
const rendered = new Map<string, RenderedBundle>()

/** The real opm beside a registry that runs in this process, so it must not block it. */
async function run(args: readonly string[], input = ''): Promise<{ code: number; out: string; err: string }> {
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

const versions = [
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
const reference = (version: string) => `${registry.host}/foo/bundle:v${version.replace('+', '_')}`
const hasOpm = opm(['version']) !== undefined

beforeAll(async () => {
  registry = await startRegistry()
  if (!hasOpm) return
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
    registry.putImage('foo/bundle', `v${tag.replace('+', '_')}`, {
      labels,
      files: {
        'manifests/csv.yaml': JSON.stringify(csv),
        'metadata/annotations.yaml': JSON.stringify({ annotations: labels }),
      },
    })
  }
  for (const version of versions) put(version)
  put('1.0.0', 'bar', 'bar')
  put('1.0.0', 'foo', 'again')
  put('1.0.0+5', 'foo', 'rebuilt', { 'olm.substitutesFor': 'foo.v1.0.0' })
  const tags = [
    ...versions.map(reference),
    ...['bar', 'again', 'rebuilt'].map((tag) => `${registry.host}/foo/bundle:v${tag}`),
  ]
  for (const tag of tags) {
    const { out, err } = await run(['render', tag, '--use-http', '-o', 'json'])
    const read = readWritable([encoder.encode(out)])
    const blob = read.ok ? read.value.bundles[0] : undefined
    if (!blob) throw new Error(`opm does not render ${tag}: ${err}`)
    rendered.set(tag, { blob })
  }
}, 180_000)
afterAll(async () => registry.stop())

const ours = (template: string): string => {
  const result = renderTemplate(encoder.encode(template), (image) => {
    const bundle = rendered.get(image)
    return bundle ? { ok: true, value: [bundle] } : { ok: false, error: `no ${image}` }
  })
  return result.ok ? writeJson(result.value) : `error: ${result.error}`
}
/** What opm prints for the same template: its output, or its error without the program's frame. */
async function theirs(template: string): Promise<string> {
  const { code, out, err } = await run(
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
        `${name}:\n  bundles:\n${list.map((version) => `  - image: ${version.includes('/') ? version : reference(version)}\n`).join('')}`,
    )
    .join('')}`
const tag = (name: string) => `${registry.host}/foo/bundle:v${name}`
const plain = versions.slice(0, 9)

const same = hasOpm ? test : test.skip
describe('a semver template is rendered as opm renders it', () => {
  same.each([
    ['minor channels by default', () => semver('', { candidate: plain, stable: ['1.0.0', '1.2.5'] })],
    ['major channels', () => semver('generateMajorChannels: true', { fast: plain })],
    [
      'both, in any order and spelling',
      () =>
        semver('GenerateMajorChannels: true\nGenerateMinorChannels: true', {
          Stable: [...plain].reverse(),
          Candidate: plain,
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
      'keys in two spellings, of which the last counts',
      () => semver('Schema: olm.semver', { Stable: ['1.0.0'], stable: ['1.1.0', '1.0.0'] }),
    ],
    [
      'spellings that share a list',
      () =>
        `schema: olm.semver\nStable: {Bundles: [{image: a}], bundles: [{image: '${reference('1.0.0')}'}, {Image: b, image: '${reference('1.1.0')}'}]}`,
    ],
    [
      'JSON',
      () =>
        `{"Schema": "olm.semver", "Fast": {"bundles": [{"image": "${reference('1.0.0')}"}]}, "schema": "olm.semver"}`,
    ],
  ])('%s', async (_, template) => {
    expect(ours(template())).toBe(await theirs(template()))
  })
  same.each([
    ['no bundles', () => semver('', {})],
    [
      'a preference for what is not made',
      () => semver('defaultChannelTypePreference: major', { stable: ['1.0.0'] }),
    ],
    [
      'another preference',
      () => semver('generateMajorChannels: true\ndefaultChannelTypePreference: minor', { stable: ['1.0.0'] }),
    ],
    ['an unknown preference', () => semver('defaultChannelTypePreference: x', { stable: ['1.0.0'] })],
    ['an unknown field', () => semver('foo: 1', { stable: ['1.0.0'] })],
    ['an unknown field inside', () => `schema: olm.semver\nstable:\n  bundles:\n  - image: a\n    zoo: 1\n`],
    ['two packages', () => semver('', { stable: ['1.0.0', tag('bar')] })],
    ['one bundle twice', () => semver('', { stable: ['1.0.0', tag('again')] })],
    ['versions without an order', () => semver('', { stable: ['1.2.5', '1.2.5+b'] })],
    ['a wrong type', () => `schema: olm.semver\nstable: 1\n`],
    ['a schema that is no text', () => `schema: 1\nstable: {}\n`],
    ['a schema in another spelling', () => `schema: olm.semver\nSchema: []\n`],
    ['a list', () => `- a\n`],
    ['an empty document', () => `# nothing\n---\nschema: olm.semver\n`],
    [
      'keys written twice',
      () => `schema: olm.semver\nfast: {}\nfast: {}\nstable: {bundles: [], bundles:\n  [] }\n`,
    ],
    [
      'a merge over a key',
      () => `schema: olm.semver\nfast: &f {bundles: []}\nstable:\n  bundles: []\n  <<: *f\n`,
    ],
    ['a number and a bool for texts', () => `schema: olm.semver\ndefaultChannelTypePreference: yes\n`],
    ['an unknown field before a wrong type', () => `schema: olm.semver\nfoo: 1\nstable: 1\n`],
    ['a wrong type before an unknown field', () => `schema: olm.semver\nfast: 1\nfoo: 1\n`],
    ['JSON that YAML does not take', () => `{"schema": "olm.semver",\n\t"x\\/y": 1}`],
  ])('with the same complaint about %s', async (_, template) => {
    // opm sorts unstably: which of two equal versions it names first is chance.
    const settled = (text: string) => text.replaceAll('1.2.5+b', '1.2.5')
    expect(settled(ours(template()))).toBe(settled(await theirs(template())))
  })
})

const catalog = () => `
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
const whole = (version: string) => {
  const {
    schema,
    name,
    package: of,
    image,
    properties,
  } = rendered.get(reference(version))?.blob ?? { schema: '', image: '' }
  return `\n- ${JSON.stringify({ schema, name, package: of, image, properties })}`
}
const substitutes = (list: string, more = ['0.9.0', '1.0.0', '1.1.0'].map(whole).join('')) =>
  `schema: olm.template.substitutes\nentries:${catalog()}${more}\nsubstitutions:\n${list}`

describe('a basic template is rendered as opm renders it', () => {
  same.each([
    [
      'bundles by reference',
      () =>
        `schema: olm.template.basic\nentries:${catalog()}\n- {schema: olm.bundle, name: ignored, image: '${reference('1.0.0')}'}\n- {schema: mine, package: foo, x: 1}\n- {schema: olm.bundle, image: '${reference('0.9.0')}'}`,
    ],
    ['nothing', () => 'schema: olm.template.basic\nunknown: 1\nentries: []'],
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
    ['a blob that is none', () => '{"schema": "olm.template.basic", "entries": [{"schema": "x"}, [1, 2]]}'],
    [
      'a number without end',
      () => '{"schema": "olm.template.basic", "entries": [{"schema": "x", "y": 1e999}]}',
    ],
    ['entries that are no list', () => 'schema: olm.template.basic\nentries: {}'],
    [
      'a bundle object that cannot be read',
      () =>
        'schema: olm.template.basic\nentries:\n- {schema: olm.bundle, image: a, properties: [{type: olm.bundle.object, value: {data: 1}}]}',
    ],
    [
      'a bundle that says more',
      () =>
        `schema: olm.template.basic\nentries:\n- {schema: olm.bundle, package: foo, image: '${reference('1.0.0')}'}`,
    ],
    ['an entry without a schema', () => 'schema: olm.template.basic\nentries:\n- {name: x}'],
    [
      'a blob of a wrong type',
      () => 'schema: olm.template.basic\nentries:\n- {schema: olm.channel, entries: 1}',
    ],
    ['an unknown schema', () => 'schema: olm.template.other\nentries: []'],
    ['no schema', () => 'entries: []'],
  ])('%s', async (_, template) => {
    expect(ours(template())).toBe(await theirs(template()))
  })
})

describe('a substitutes template is rendered as opm renders it', () => {
  same.each([
    ['a newer bundle', () => substitutes(`- {name: '${reference('1.0.1')}', base: foo.v1.0.0}`)],
    ['a rebuilt one', () => substitutes(`- {name: '${tag('rebuilt')}', base: foo.v1.0.0}`)],
    [
      'two',
      () =>
        substitutes(
          `- {name: '${reference('1.0.1')}', base: foo.v1.0.0}\n- {name: '${reference('1.2.0')}', base: foo.v1.1.0}`,
        ),
    ],
    ['none', () => substitutes('[]')],
    ['an older bundle', () => substitutes(`- {name: '${reference('0.9.0')}', base: foo.v1.0.0}`)],
    ['a base that is not there', () => substitutes(`- {name: '${reference('1.0.1')}', base: foo.v7}`)],
    [
      'a base used twice',
      () =>
        substitutes(
          `- {name: '${reference('1.0.1')}', base: foo.v1.0.0}\n- {name: '${reference('1.2.0')}', base: foo.v1.0.0}`,
        ),
    ],
    [
      'a bundle used twice',
      () =>
        substitutes(
          `- {name: '${reference('1.2.0')}', base: foo.v1.0.0}\n- {name: '${reference('1.2.0')}', base: foo.v1.1.0}`,
        ),
    ],
    ['no name', () => substitutes(`- {base: foo.v1.0.0}`)],
    ['no base', () => substitutes(`- {name: x}`)],
    ['entries that are no catalog', () => substitutes('[]', '')],
    [
      'a property without a value',
      () => substitutes('[]', `\n- {schema: olm.bundle, name: a, package: foo, properties: [{type: x}]}`),
    ],
    ['substitutions of a wrong type', () => substitutes(`- {name: 1}`)],
    ['substitutions in another spelling', () => `${substitutes('[]')}Substitutions: {}`],
  ])('%s', async (_, template) => {
    expect(ours(template())).toBe(await theirs(template()))
  })
})

test('the references a template needs are told before any is asked for', () => {
  const images = (template: string) => templateImages(encoder.encode(template))
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
    const result = renderTemplate(encoder.encode(`schema: olm.semver\n${template}`), () => ({
      ok: true,
      value: [{ blob }],
    }))
    return result.ok ? result.value.packages[0] : result.error
  }
  const bare = { schema: 'olm.package', name: 'foo', defaultChannel: 'stable-v1.0' }
  const spec = `description: d, icon: [{mediatype: image/png, base64data: aGk=}]`
  const icon = { base64data: 'aGk=', mediatype: 'image/png' }

  test('whose manifest may be YAML', () => {
    expect(described(`kind: ClusterServiceVersion\nspec: {${spec}}`)).toEqual({
      ...bare,
      description: 'd',
      icon,
    })
  })
  test('unless opm cannot read that', () => {
    expect(
      described(`kind: ClusterServiceVersion\nmetadata: {annotations: {a: 1}}\nspec: {${spec}}`),
    ).toEqual(bare)
  })
  test('nor where the manifest calls itself otherwise', () => {
    expect(described(`Kind: ClusterServiceVersion\nspec: {${spec}}`)).toEqual(bare)
  })
  test('whatever the spelling of the keys that led there', () => {
    expect(
      described(
        `kind: ClusterServiceVersion\nspec: {${spec}}`,
        'Schema: olm.semver\nStable: {}\nstable: {Bundles: [{Image: a}]}',
      ),
    ).toEqual({ ...bare, description: 'd', icon })
  })
})

test('a semver template with more bundles than a call takes arguments is read to its end', () => {
  const bundles = Array.from({ length: 200_000 }, (_, at) => `  - image: r${at}\n`).join('')
  const images = templateImages(encoder.encode(`schema: olm.semver\nstable:\n  bundles:\n${bundles}`))
  expect(images).toMatchObject({ ok: true, value: { length: 200_000 } })
})
