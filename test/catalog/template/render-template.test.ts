import { spawn } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { RenderedBundle } from '../../../src/catalog/template/bundle-source.ts'
import { renderTemplate, templateImages } from '../../../src/catalog/template/render-template.ts'
import { readWritable } from '../../../src/catalog/write/writable.ts'
import { writeYaml } from '../../../src/catalog/write/write-yaml.ts'
import { startRegistry, type Registry } from '../../../src/sandbox/registry.ts'
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
  return result.ok ? writeYaml(result.value) : `error: ${result.error}`
}
/** What opm prints for the same template: its output, or its error without the program's frame. */
async function theirs(template: string): Promise<string> {
  const { code, out, err } = await run(
    ['alpha', 'render-template', '-', '--use-http', '-o', 'yaml'],
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
