// Templates and the catalogs checked in with them: what is asked, and what becomes of the answers.
import { describe, expect, test } from '@jest/globals'
import { assemble } from '../../../../src/catalog/facts/assemble.ts'
import type { Catalog } from '../../../../src/catalog/facts/catalog.ts'
import { readFile } from '../../../../src/catalog/load/read-file.ts'
import type { TemplateState } from '../../../../src/change/layout/template-pairs.ts'
import type { CheckInput } from '../../../../src/checks/check.ts'
import {
  answersFrom,
  questionKey,
  type BundleAnswer,
  type ImageAnswer,
} from '../../../../src/checks/questions.ts'
import { templateRules } from '../../../../src/checks/validation/templates/rules.ts'
import { validationCheck } from '../../../../src/checks/validation/validation.ts'
import { parseConfig } from '../../../../src/config/config.ts'
import { readWritable } from '../../../../src/catalog/write/writable.ts'
import { writeYaml } from '../../../../src/catalog/write/write-yaml.ts'
import { bundle, channel, pkg, textOf, type Blob } from '../../../change/build-catalog.ts'

const template = 'operators/foo/catalog-templates/v4.20.yaml'
const catalog = 'catalogs/v4.20/foo'
const pinned = (letter: string) => `quay.io/foo/bundle@sha256:${letter.repeat(64)}`
const tagged = 'quay.io/foo/bundle:v2'
const encode = (text: string) => new TextEncoder().encode(text)

function catalogOf(blobs: readonly Blob[], file = `${catalog}/catalog.yaml`): Catalog {
  return assemble([{ path: file, facts: readFile(encode(textOf(blobs))) }])
}
const blobOf = (version: string, image: string, more: Blob = {}) =>
  bundle(`foo.v${version}`, 'foo', version, { image, relatedImages: [{ name: '', image }], ...more })
const basic = (entries: readonly Blob[], images: readonly string[]) =>
  JSON.stringify({
    schema: 'olm.template.basic',
    entries: [...entries, ...images.map((image) => ({ schema: 'olm.bundle', image }))],
  })

const head = [pkg('foo'), channel('stable', 'foo', ['foo.v1.0.0'])]
const before = [...head, blobOf('1.0.0', pinned('a'))]
const next = [pkg('foo'), channel('stable', 'foo', ['foo.v1.0.0', 'foo.v2.0.0 < foo.v1.0.0'])]
const after = (image: string) => [...next, blobOf('1.0.0', pinned('a')), blobOf('2.0.0', image)]

interface World {
  readonly source?: string
  readonly result?: readonly Blob[]
  readonly known?: readonly Blob[]
  readonly isStated?: boolean
  readonly config?: string
  readonly answers?: Readonly<Record<string, BundleAnswer | ImageAnswer>>
  readonly file?: { readonly base: Uint8Array; readonly result: Uint8Array }
}

function look({ source, result, known = before, isStated = false, config = '', answers = {}, file }: World) {
  const parsed = parseConfig(config)
  if (parsed.kind !== 'config') throw new Error('broken configuration')
  const state: TemplateState = {
    template,
    catalog,
    isStated,
    offer: file ? 'patch' : 'none',
    ...(file && { file: { path: `${catalog}/catalog.yaml`, ...file } }),
    known: [catalogOf(known)],
    ...(source !== undefined && {
      source: source === 'too-large' || source === 'too-many' ? source : encode(source),
    }),
    ...(result && { result: catalogOf(result) }),
  }
  const input = {
    config: parsed.config,
    change: { paths: [], catalogs: [], references: [] },
    templates: [state],
  } as unknown as CheckInput
  const known_ = answersFrom(
    new Map(
      Object.entries(answers).map(([reference, answer]) => [
        questionKey({ kind: answer.kind === 'ok' ? 'image' : 'bundle', reference }),
        answer,
      ]),
    ),
  )
  const outcome = validationCheck.judge(input, known_)
  return {
    asked: validationCheck.ask(input, known_).map((question) => questionKey(question).split(' ')[1]),
    said: outcome.findings.map(({ rule, severity }) => `${rule} ${severity}`),
    what: outcome.findings.map((found) => found.what).join('\n'),
    fix: outcome.findings.map((found) => found.fix).join('\n'),
    at: outcome.findings[0]?.at,
    unanswered: outcome.unanswered,
    summary: outcome.summary,
    offers: outcome.offers,
  }
}
const renders = (version: string, more: object = {}): BundleAnswer => ({
  kind: 'bundle',
  digest: '',
  content: {
    name: `foo.v${version}`,
    package: 'foo',
    properties: [{ type: 'olm.package', value: { packageName: 'foo', version } }],
    relatedImages: [],
  },
  findings: [],
  ...more,
})
const found = (letter: string): ImageAnswer => ({
  kind: 'ok',
  digest: `sha256:${letter.repeat(64)}`,
  mediaType: '',
  size: 1,
})

describe('a template and its catalog', () => {
  test('that agree are passed without a question, by digest and by tag', () => {
    for (const image of [pinned('b'), tagged])
      expect(
        look({ source: basic(next, [pinned('a'), image]), result: after(image), known: after(image) }),
      ).toMatchObject({
        asked: [],
        said: [],
        unanswered: [],
        summary: expect.stringMatching(/, 1 template$/),
      })
  })
  test('that differ after a change of the template alone are told with names, place and command', () => {
    const { asked, said, what, fix, at } = look({
      source: basic(next, [pinned('a')]),
      result: before,
    })
    expect(asked).toEqual([])
    expect(said).toEqual(['catalog-differs-from-template warning'])
    expect(what).toBe(
      `${catalog} is not what ${template} renders to: entry foo.v2.0.0 of channel stable is missing`,
    )
    expect(fix).toContain(`catalog-bot render ${template} -o yaml > ${catalog}/catalog.yaml`)
    expect(at).toEqual({ file: `${catalog}/catalog.yaml`, line: 2, column: 1 })
  })
  test('that differ after a change of the catalog alone, too', () => {
    const edited = [...head, blobOf('1.0.0', pinned('a'), { relatedImages: [{ name: '', image: 'x.io/y' }] })]
    expect(look({ source: basic(head, [pinned('a')]), result: edited }).what).toContain(
      'bundle foo.v1.0.0 differs (related images)',
    )
  })
  test('are an error where the configuration states them, and as severe as its rules say', () => {
    const world = { source: basic(next, [pinned('a')]), result: before, isStated: true }
    expect(look(world).said).toEqual(['catalog-differs-from-template error'])
    expect(look({ ...world, config: 'rules: {catalog-differs-from-template: off}' }).said).toEqual([])
  })
  test('differ in many names: a few are shown, the rest is counted', () => {
    const entries = Array.from({ length: 12 }, (_, index) => `foo.v${index}`)
    const { what } = look({
      source: basic([pkg('foo'), channel('stable', 'foo', entries)], [pinned('a')]),
      result: before,
    })
    expect(what).toMatch(/; and 5 more$/)
  })
  test('are rendered with the kind of metadata, and in the format, that the catalog has', () => {
    const metadata = { type: 'olm.csv.metadata', value: {} }
    const migrated = [...head, blobOf('1.0.0', pinned('a'), { properties: [metadata] })]
    expect(look({ source: basic(next, [pinned('a')]), result: migrated, known: migrated }).fix).toContain(
      '-o yaml --migrate-level bundle-object-to-csv-metadata >',
    )
  })
})

describe('a bundle that the base does not have', () => {
  const world = { source: basic(next, [pinned('a'), pinned('b')]), result: after(pinned('b')) }
  test('is asked for, and compared with what its image renders to', () => {
    expect(look(world).asked).toEqual([pinned('b')])
    const answers = { [pinned('b')]: renders('2.0.0') }
    expect(look({ ...world, answers })).toMatchObject({ said: [], unanswered: [] })
    expect(look({ ...world, answers: { [pinned('b')]: renders('2.0.1') } }).what).toMatch(
      /bundle foo\.v2\.0\.1 is missing; .*bundle foo\.v2\.0\.0 is not in the template/,
    )
  })
  test('waits while the registry does not say, and blames nobody', () => {
    const unknown: BundleAnswer = { kind: 'unknown', reason: 'quay.io answered 503', retryAfter: 60 }
    expect(look({ ...world, answers: { [pinned('b')]: unknown } })).toMatchObject({
      said: [],
      unanswered: [{ reason: 'quay.io answered 503', retryAfter: 60 }],
    })
    expect(look(world).unanswered).toHaveLength(1)
  })
  test('that may be private keeps a stated pair waiting, and is a remark where only the layout tells', () => {
    const answer: BundleAnswer = { kind: 'missing-or-private', reason: 'quay.io answered 401' }
    const answers = { [pinned('b')]: answer }
    expect(look({ ...world, answers })).toMatchObject({
      said: ['unrenderable-template warning'],
      unanswered: [],
    })
    expect(look({ ...world, answers, isStated: true })).toMatchObject({
      said: [],
      unanswered: [{ retryAfter: 900 }],
    })
  })
  test('is not asked for where nobody wants to hear of templates', () => {
    const [first, ...others] = templateRules.map(({ id }) => id)
    const off = `rules: {${first}: {severity: off}, ${others.map((id) => `${id}: off`).join(', ')}}`
    expect(look({ ...world, config: off })).toMatchObject({ asked: [], said: [], unanswered: [] })
    expect(look({ ...world, config: 'rules: {unrenderable-template: off}' }).asked).toHaveLength(1)
  })
  test('leaves the template unrenderable when it is definitely not to be had', () => {
    const answer: BundleAnswer = { kind: 'missing', reason: 'quay.io has no such manifest' }
    const { said, what } = look({ ...world, answers: { [pinned('b')]: answer } })
    expect(said).toEqual(['unrenderable-template warning'])
    expect(what).toContain('quay.io has no such manifest')
  })
  test('is never asked of a registry that the repository does not allow', () => {
    const refused = look({ ...world, config: 'images: {registries: [example.com]}' })
    expect(refused.asked).toEqual([])
    expect(refused.what).toContain('does not allow')
    expect(look({ ...world, source: basic(next, ['Not An Image']) }).what).toContain(
      'is not an image reference',
    )
  })
  test('by tag is asked again where the change says something else of it', () => {
    const known = after(tagged)
    const edited = [
      ...after(tagged).slice(0, 3),
      blobOf('2.0.0', tagged, { relatedImages: [], properties: [] }),
    ]
    const source = basic(next, [pinned('a'), tagged])
    expect(look({ source, result: edited, known }).asked).toEqual([tagged])
    expect(look({ source, result: known, known }).asked).toEqual([])
    // Its digest first, then what is behind that, as the blob of the tag.
    const answers: Record<string, BundleAnswer | ImageAnswer> = { [tagged]: found('c') }
    expect(look({ source, result: edited, known, answers }).asked).toEqual([pinned('c')])
    answers[pinned('c')] = renders('2.0.0')
    expect(look({ source, result: edited, known, answers }).what).toContain(
      'bundle foo.v2.0.0 differs (properties, related images)',
    )
    expect(look({ source, result: after(tagged), known: before, answers }).said).toEqual([])
  })
  test('leaves the template unrenderable when opm cannot read it', () => {
    const answers = { [pinned('b')]: { kind: 'bundle', digest: '', findings: [] } as BundleAnswer }
    expect(look({ ...world, answers }).what).toContain('it is no bundle that opm can read')
  })
})

describe('a template that opm refuses', () => {
  test('is told in its words, and an error where the configuration states it', () => {
    const source = JSON.stringify({
      schema: 'olm.template.basic',
      entries: [{ schema: 'olm.bundle', image: pinned('a'), package: 'foo' }],
    })
    const { said, what, at } = look({ source, result: before, isStated: true })
    expect(said).toEqual(['unrenderable-template error'])
    expect(what).toContain('unexpected fields present in basic template bundle')
    expect(at).toEqual({ file: template, line: 1, column: 1 })
    expect(look({ source: 'schema: [', result: before }).said).toEqual(['unrenderable-template warning'])
    expect(look({ source: 'too-large', result: before }).said).toEqual(['unrenderable-template warning'])
  })
  test('is none where only its name says that it is one', () => {
    for (const source of ['references: []', 'schema: mine', '# later', undefined]) {
      const world = { ...(source !== undefined && { source }), result: before }
      expect(look(world).said).toEqual([])
      expect(look({ ...world, isStated: true }).said).toEqual(['unrenderable-template error'])
    }
  })
  test('is no matter once template and catalog are gone', () => {
    expect(look({ isStated: true }).said).toEqual([])
  })
})

describe('a patch', () => {
  const rendered = (blobs: readonly Blob[]) => {
    const read = readWritable([encode(textOf(blobs))])
    if (!read.ok) throw new Error(read.error)
    return encode(writeYaml(read.value))
  }
  const present = rendered(before)
  const same = { base: present, result: present }

  test('is offered where the difference is small and the base has every bundle', () => {
    const world = { source: basic(next, [pinned('a')]), result: before }
    expect(look(world).offers).toBeUndefined()
    const [offer] = look({ ...world, file: same }).offers ?? []
    expect(offer).toMatchObject({ path: `${catalog}/catalog.yaml`, template })
    expect(offer?.patch).toContain('+- name: foo.v2.0.0\n+  replaces: foo.v1.0.0\n')
  })
  test('never shows what only a registry told', () => {
    const world = { source: basic(next, [pinned('a'), pinned('b')]), result: before, file: same }
    const answers = { [pinned('b')]: renders('2.0.0') }
    const looked = look({ ...world, answers })
    expect(looked.said).toEqual(['catalog-differs-from-template warning'])
    expect(looked.offers).toBeUndefined()
  })
  test('is not offered where it is large, or would not survive being copied', () => {
    const many = Array.from({ length: 300 }, (_, index) => `foo.v${index}`)
    const large = basic([pkg('foo'), channel('stable', 'foo', many)], [pinned('a')])
    expect(look({ source: large, result: before, file: same }).offers).toBeUndefined()
    const hidden = basic([pkg('foo', 'stable', { description: 'a\u202eb' }), ...head.slice(1)], [pinned('a')])
    expect(look({ source: hidden, result: before, file: same })).toMatchObject({
      said: ['catalog-differs-from-template warning'],
      offers: undefined,
    })
  })
})

describe('the semver template', () => {
  const semver = `Schema: olm.semver\nStable: {Bundles: [{Image: "${pinned('a')}"}]}\n`
  const rendered = [
    pkg('foo', 'stable-v1.0', { description: 'Kept in the image alone' }),
    channel('stable-v1.0', 'foo', ['foo.v1.0.0']),
    blobOf('1.0.0', pinned('a')),
  ]
  test('is compared without the description that only the image of its head knows', () => {
    expect(look({ source: semver, result: rendered, known: rendered })).toMatchObject({ said: [], asked: [] })
  })
  test('is compared with it once that image was looked into', () => {
    const csv = { spec: { description: 'Another one' } }
    const world = { source: semver, result: rendered, known: [] }
    const looked = (more: object) => look({ ...world, answers: { [pinned('a')]: renders('1.0.0', more) } })
    expect(looked({ csv }).what).toContain('package foo differs (description)')
    expect(looked({}).what).not.toContain('description')
  })
})

test('a path is nothing but a name to the shell that the command is pasted into', () => {
  const odd = "operators/$(touch x)'s/catalog-templates/v4.20.yaml"
  const state = { template: odd, catalog, isStated: true, offer: 'none', known: [], source: encode('{}') }
  const input = {
    config: { rules: {}, images: { registries: [] }, opm: 'v1.73' },
    change: { paths: [], catalogs: [], references: [] },
    templates: [{ ...state, source: encode(basic(next, [])), result: catalogOf(before) }],
  } as unknown as CheckInput
  const [found] = validationCheck.judge(input, answersFrom(new Map())).findings
  expect(found?.fix).toContain(`render 'operators/$(touch x)'\\''s/catalog-templates/v4.20.yaml' -o`)
})

test('templates beyond what is read of one change are no pass, whatever is known of their catalogs', () => {
  for (const isStated of [true, false]) {
    const { said, what } = look({ source: 'too-many', isStated })
    expect(said).toEqual([`unrenderable-template ${isStated ? 'error' : 'warning'}`])
    expect(what).toContain('split it into several pull requests')
  }
})

describe('a template whose bundles are seen by rights of our own', () => {
  const secret = (more: object = {}) => ({
    [pinned('c')]: { ...renders('9.9.9'), isRestricted: true, ...more } as BundleAnswer,
  })
  const world = { source: basic(next, [pinned('a'), pinned('c')]), result: before }
  test('differs from its catalog without a word of what only the images say', () => {
    const { said, what } = look({ ...world, answers: secret() })
    expect(said).toEqual(['catalog-differs-from-template warning'])
    expect(what).toMatch(/2 things that it renders to are missing$/)
    expect(look({ ...world, answers: { [pinned('c')]: renders('9.9.9') } }).what).toContain('9.9.9')
  })
  test('does not render, and nothing in an image is told as the reason', () => {
    const refusal = { content: undefined, findings: [{ severity: 'error', what: 'secret' }] }
    const { said, what } = look({ ...world, answers: secret(refusal) })
    expect(said).toEqual(['unrenderable-template warning'])
    expect(what).not.toContain('secret')
    const semver = `schema: olm.semver\ngenerateMajorChannels: true\nstable:\n  bundles:\n    - image: ${pinned('c')}\n`
    const content = {
      name: 'foo.secret',
      package: 'foo',
      properties: [{ type: 'olm.package', value: { packageName: 'foo', version: 'secret' } }],
      relatedImages: [],
    }
    const unrendered = look({ source: semver, result: before, answers: secret({ content }) })
    expect(unrendered.said).toEqual(['unrenderable-template warning'])
    expect(unrendered.what).toContain('do not render')
    expect(unrendered.what).not.toContain('secret')
  })
})
