// Templates and their checked-in catalogs: which questions the check asks, and which findings the answers lead to.
import { describe, expect, test } from '@jest/globals'
import { type Catalog, assembleCatalog } from '../../../../packages/fbc/src/facts/catalog.ts'
import { parseCatalogFile } from '../../../../packages/fbc/src/load/parse-catalog-file.ts'
import type { LoadedTemplateCatalogPair } from '../../../../src/pull-request/layout/template-pairs.ts'
import type { CheckInput } from '../../../../src/checks/check.ts'
import {
  createLookupResults,
  toLookupKey,
  type BundleImageLookupResult,
  type ImageLookupResult,
} from '../../../../src/checks/lookups.ts'
import * as templateRules from '../../../../src/checks/validation/templates/rules.ts'
import { validationCheck } from '../../../../src/checks/validation/validation.ts'
import { parseConfig } from '../../../../src/config/config.ts'
import { parseWritableCatalog } from '../../../../packages/fbc/src/write/writable-catalog.ts'
import { formatCatalogYaml } from '../../../../packages/fbc/src/write/format-yaml.ts'
import {
  buildBundleBlob,
  buildChannelBlob,
  buildPackageBlob,
  formatCatalogFileText,
  type CatalogBlob,
} from '../../../pull-request/build-catalog.ts'

const templatePath = 'operators/foo/catalog-templates/v4.20.yaml'
const catalogRoot = 'catalogs/v4.20/foo'
const pinned = (letter: string) => `quay.io/foo/bundle@sha256:${letter.repeat(64)}`
const taggedImageReference = 'quay.io/foo/bundle:v2'
const encodeText = (text: string) => new TextEncoder().encode(text)

function buildCatalogFromBlobs(blobs: readonly CatalogBlob[], file = `${catalogRoot}/catalog.yaml`): Catalog {
  return assembleCatalog([{ path: file, facts: parseCatalogFile(encodeText(formatCatalogFileText(blobs))) }])
}
const createBundleBlob = (version: string, image: string, more: CatalogBlob = {}) =>
  buildBundleBlob(`foo.v${version}`, 'foo', version, { image, relatedImages: [{ name: '', image }], ...more })
const basicTemplate = (entries: readonly CatalogBlob[], images: readonly string[]) =>
  JSON.stringify({
    schema: 'olm.template.basic',
    entries: [...entries, ...images.map((image) => ({ schema: 'olm.bundle', image }))],
  })

const channelBeforeChange = [buildPackageBlob('foo'), buildChannelBlob('stable', 'foo', ['foo.v1.0.0'])]
const catalogBeforeChange = [...channelBeforeChange, createBundleBlob('1.0.0', pinned('a'))]
const channelAfterChange = [
  buildPackageBlob('foo'),
  buildChannelBlob('stable', 'foo', ['foo.v1.0.0', 'foo.v2.0.0 < foo.v1.0.0']),
]
const createCatalogAfterChange = (image: string) => [
  ...channelAfterChange,
  createBundleBlob('1.0.0', pinned('a')),
  createBundleBlob('2.0.0', image),
]

interface TemplateScenario {
  readonly source?: string
  readonly result?: readonly CatalogBlob[]
  readonly known?: readonly CatalogBlob[]
  readonly isStated?: boolean
  readonly config?: string
  readonly answers?: Readonly<Record<string, BundleImageLookupResult | ImageLookupResult>>
  readonly file?: { readonly base: Uint8Array; readonly result: Uint8Array }
}

function evaluate({
  source,
  result,
  known = catalogBeforeChange,
  isStated = false,
  config = '',
  answers = {},
  file,
}: TemplateScenario) {
  const parsed = parseConfig(config)
  if (parsed.kind !== 'config') throw new Error('broken configuration')
  const state: LoadedTemplateCatalogPair = {
    template: templatePath,
    catalog: catalogRoot,
    isStated,
    offer: file ? 'patch' : 'none',
    ...(file && { file: { path: `${catalogRoot}/catalog.yaml`, ...file } }),
    known: [buildCatalogFromBlobs(known)],
    ...(source !== undefined && {
      source: source === 'too-large' || source === 'too-many' ? source : encodeText(source),
    }),
    ...(result && { result: buildCatalogFromBlobs(result) }),
  }
  const input = {
    config: parsed.config,
    change: { paths: [], catalogs: [], references: [] },
    templates: [state],
  } as unknown as CheckInput
  const known_ = createLookupResults(
    new Map(
      Object.entries(answers).map(([reference, answer]) => [
        toLookupKey({ kind: answer.kind === 'ok' ? 'image' : 'bundle', reference }),
        answer,
      ]),
    ),
  )
  const outcome = validationCheck.judge(input, known_)
  return {
    asked: validationCheck.ask(input, known_).map((question) => toLookupKey(question).split(' ')[1]),
    rules: outcome.findings.map(({ rule, severity }) => `${rule} ${severity}`),
    what: outcome.findings.map((found) => found.what).join('\n'),
    fix: outcome.findings.map((found) => found.fix).join('\n'),
    at: outcome.findings[0]?.at,
    unanswered: outcome.unanswered,
    summary: outcome.summary,
    offers: outcome.suggestedPatches,
  }
}
const createBundleResult = (version: string, more: object = {}): BundleImageLookupResult => ({
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
const createSuccessfulImageLookup = (letter: string): ImageLookupResult => ({
  kind: 'ok',
  digest: `sha256:${letter.repeat(64)}`,
})

describe('a template and its catalog', () => {
  test('that agree pass without a registry question, by digest and by tag', () => {
    for (const image of [pinned('b'), taggedImageReference])
      expect(
        evaluate({
          source: basicTemplate(channelAfterChange, [pinned('a'), image]),
          result: createCatalogAfterChange(image),
          known: createCatalogAfterChange(image),
        }),
      ).toMatchObject({
        asked: [],
        rules: [],
        unanswered: [],
        summary: expect.stringMatching(/, 1 template$/),
      })
  })
  test('that differ after a template-only change get a finding with names, location, and command', () => {
    const { asked, rules, what, fix, at } = evaluate({
      source: basicTemplate(channelAfterChange, [pinned('a')]),
      result: catalogBeforeChange,
    })
    expect(asked).toEqual([])
    expect(rules).toEqual(['catalog-differs-from-template warning'])
    expect(what).toBe(
      `${catalogRoot} does not match the output of ${templatePath}: entry foo.v2.0.0 of channel stable is missing`,
    )
    expect(fix).toContain(`catalog-bot render ${templatePath} -o yaml > ${catalogRoot}/catalog.yaml`)
    expect(at).toEqual({ file: `${catalogRoot}/catalog.yaml`, line: 2, column: 1 })
  })
  test('that differ after a catalog-only change get a finding, too', () => {
    const edited = [
      ...channelBeforeChange,
      createBundleBlob('1.0.0', pinned('a'), { relatedImages: [{ name: '', image: 'x.io/y' }] }),
    ]
    expect(
      evaluate({ source: basicTemplate(channelBeforeChange, [pinned('a')]), result: edited }).what,
    ).toContain('bundle foo.v1.0.0 differs (related images)')
  })
  test('that differ are an error if the configuration declares them, and its rules can turn that off', () => {
    const scenario = {
      source: basicTemplate(channelAfterChange, [pinned('a')]),
      result: catalogBeforeChange,
      isStated: true,
    }
    expect(evaluate(scenario).rules).toEqual(['catalog-differs-from-template error'])
    expect(evaluate({ ...scenario, config: 'rules: {catalog-differs-from-template: off}' }).rules).toEqual([])
  })
  test('that differ in many names show a few and count the rest', () => {
    const entries = Array.from({ length: 12 }, (_, index) => `foo.v${index}`)
    const { what } = evaluate({
      source: basicTemplate(
        [buildPackageBlob('foo'), buildChannelBlob('stable', 'foo', entries)],
        [pinned('a')],
      ),
      result: catalogBeforeChange,
    })
    expect(what).toMatch(/; and 5 more$/)
  })
  test('get a render command that keeps the metadata kind and format of the catalog', () => {
    const metadata = { type: 'olm.csv.metadata', value: {} }
    const migrated = [
      ...channelBeforeChange,
      createBundleBlob('1.0.0', pinned('a'), { properties: [metadata] }),
    ]
    expect(
      evaluate({
        source: basicTemplate(channelAfterChange, [pinned('a')]),
        result: migrated,
        known: migrated,
      }).fix,
    ).toContain('-o yaml --migrate-level bundle-object-to-csv-metadata >')
  })
})

describe('a bundle that the base does not have', () => {
  const scenario = {
    source: basicTemplate(channelAfterChange, [pinned('a'), pinned('b')]),
    result: createCatalogAfterChange(pinned('b')),
  }
  test('is requested, and compared with the bundle rendered from its image', () => {
    expect(evaluate(scenario).asked).toEqual([pinned('b')])
    const answers = { [pinned('b')]: createBundleResult('2.0.0') }
    expect(evaluate({ ...scenario, answers })).toMatchObject({ rules: [], unanswered: [] })
    expect(evaluate({ ...scenario, answers: { [pinned('b')]: createBundleResult('2.0.1') } }).what).toMatch(
      /bundle foo\.v2\.0\.1 is missing; .*bundle foo\.v2\.0\.0 is not in the template/,
    )
  })
  test('waits without a finding while the registry does not answer', () => {
    const unknown: BundleImageLookupResult = {
      kind: 'unknown',
      reason: 'quay.io answered 503',
      retryAfter: 60,
    }
    expect(evaluate({ ...scenario, answers: { [pinned('b')]: unknown } })).toMatchObject({
      rules: [],
      unanswered: [{ reason: 'quay.io answered 503', retryAfter: 60 }],
    })
    expect(evaluate(scenario).unanswered).toHaveLength(1)
  })
  test('that may be private keeps a configured pair waiting, and is a warning for a detected pair', () => {
    const answer: BundleImageLookupResult = { kind: 'missing-or-private', reason: 'quay.io answered 401' }
    const answers = { [pinned('b')]: answer }
    expect(evaluate({ ...scenario, answers })).toMatchObject({
      rules: ['unrenderable-template warning'],
      unanswered: [],
    })
    expect(evaluate({ ...scenario, answers, isStated: true })).toMatchObject({
      rules: [],
      unanswered: [{ retryAfter: 900 }],
    })
  })
  test('is requested unless every template rule is off', () => {
    const [first, ...others] = Object.values(templateRules).map(({ id }) => id)
    const off = `rules: {${first}: {severity: off}, ${others.map((id) => `${id}: off`).join(', ')}}`
    expect(evaluate({ ...scenario, config: off })).toMatchObject({ asked: [], rules: [], unanswered: [] })
    expect(evaluate({ ...scenario, config: 'rules: {unrenderable-template: off}' }).asked).toHaveLength(1)
  })
  test('leaves the template unrenderable if its image is definitely missing', () => {
    const answer: BundleImageLookupResult = { kind: 'missing', reason: 'quay.io has no such manifest' }
    const { rules, what } = evaluate({ ...scenario, answers: { [pinned('b')]: answer } })
    expect(rules).toEqual(['unrenderable-template warning'])
    expect(what).toContain('quay.io has no such manifest')
  })
  test('is never requested from a registry that the repository does not allow', () => {
    const rejected = evaluate({ ...scenario, config: 'images: {registries: [example.com]}' })
    expect(rejected.asked).toEqual([])
    expect(rejected.what).toContain('does not allow')
    expect(
      evaluate({ ...scenario, source: basicTemplate(channelAfterChange, ['Not An Image']) }).what,
    ).toContain('is not a valid image reference')
  })
  test('by tag is requested again if the change edits its blob', () => {
    const known = createCatalogAfterChange(taggedImageReference)
    const edited = [
      ...createCatalogAfterChange(taggedImageReference).slice(0, 3),
      createBundleBlob('2.0.0', taggedImageReference, { relatedImages: [], properties: [] }),
    ]
    const source = basicTemplate(channelAfterChange, [pinned('a'), taggedImageReference])
    expect(evaluate({ source, result: edited, known }).asked).toEqual([taggedImageReference])
    expect(evaluate({ source, result: known, known }).asked).toEqual([])
    // The digest of the tag first, then the bundle behind that digest.
    const answers: Record<string, BundleImageLookupResult | ImageLookupResult> = {
      [taggedImageReference]: createSuccessfulImageLookup('c'),
    }
    expect(evaluate({ source, result: edited, known, answers }).asked).toEqual([pinned('c')])
    answers[pinned('c')] = createBundleResult('2.0.0')
    expect(evaluate({ source, result: edited, known, answers }).what).toContain(
      'bundle foo.v2.0.0 differs (properties, related images)',
    )
    expect(
      evaluate({
        source,
        result: createCatalogAfterChange(taggedImageReference),
        known: catalogBeforeChange,
        answers,
      }).rules,
    ).toEqual([])
  })
  test('leaves the template unrenderable when opm cannot read it', () => {
    const answers = { [pinned('b')]: { kind: 'bundle', digest: '', findings: [] } as BundleImageLookupResult }
    expect(evaluate({ ...scenario, answers }).what).toContain('the image is not a bundle that opm can read')
  })
})

describe('a template that opm rejects', () => {
  test('is reported with the message of opm, as an error if the configuration declares it', () => {
    const source = JSON.stringify({
      schema: 'olm.template.basic',
      entries: [{ schema: 'olm.bundle', image: pinned('a'), package: 'foo' }],
    })
    const { rules, what, at } = evaluate({ source, result: catalogBeforeChange, isStated: true })
    expect(rules).toEqual(['unrenderable-template error'])
    expect(what).toContain('unexpected fields present in basic template bundle')
    expect(at).toEqual({ file: templatePath, line: 1, column: 1 })
    expect(evaluate({ source: 'schema: [', result: catalogBeforeChange }).rules).toEqual([
      'unrenderable-template warning',
    ])
    expect(evaluate({ source: 'too-large', result: catalogBeforeChange }).rules).toEqual([
      'unrenderable-template warning',
    ])
  })
  test('is ignored if only its file name suggests a template, unless the configuration declares it', () => {
    for (const source of ['references: []', 'schema: mine', '# later', undefined]) {
      const scenario = { ...(source !== undefined && { source }), result: catalogBeforeChange }
      expect(evaluate(scenario).rules).toEqual([])
      expect(evaluate({ ...scenario, isStated: true }).rules).toEqual(['unrenderable-template error'])
    }
  })
  test('has no finding once both the template and the catalog are removed', () => {
    expect(evaluate({ isStated: true }).rules).toEqual([])
  })
})

describe('a patch', () => {
  const rendered = (blobs: readonly CatalogBlob[]) => {
    const read = parseWritableCatalog([encodeText(formatCatalogFileText(blobs))])
    if (!read.ok) throw new Error(read.error)
    return encodeText(formatCatalogYaml(read.value))
  }
  const present = rendered(catalogBeforeChange)
  const same = { base: present, result: present }

  test('is offered if the difference is small and the base has every bundle', () => {
    const scenario = { source: basicTemplate(channelAfterChange, [pinned('a')]), result: catalogBeforeChange }
    expect(evaluate(scenario).offers).toBeUndefined()
    const [offer] = evaluate({ ...scenario, file: same }).offers ?? []
    expect(offer).toMatchObject({ path: `${catalogRoot}/catalog.yaml`, template: templatePath })
    expect(offer?.patch).toContain('+- name: foo.v2.0.0\n+  replaces: foo.v1.0.0\n')
  })
  test('is not offered if it would show data that only a registry returned', () => {
    const scenario = {
      source: basicTemplate(channelAfterChange, [pinned('a'), pinned('b')]),
      result: catalogBeforeChange,
      file: same,
    }
    const answers = { [pinned('b')]: createBundleResult('2.0.0') }
    const evaluation = evaluate({ ...scenario, answers })
    expect(evaluation.rules).toEqual(['catalog-differs-from-template warning'])
    expect(evaluation.offers).toBeUndefined()
  })
  test('is not offered if it is large or contains characters that copying could lose', () => {
    const many = Array.from({ length: 300 }, (_, index) => `foo.v${index}`)
    const large = basicTemplate(
      [buildPackageBlob('foo'), buildChannelBlob('stable', 'foo', many)],
      [pinned('a')],
    )
    expect(evaluate({ source: large, result: catalogBeforeChange, file: same }).offers).toBeUndefined()
    const hidden = basicTemplate(
      [buildPackageBlob('foo', 'stable', { description: 'a\u202eb' }), ...channelBeforeChange.slice(1)],
      [pinned('a')],
    )
    expect(evaluate({ source: hidden, result: catalogBeforeChange, file: same })).toMatchObject({
      rules: ['catalog-differs-from-template warning'],
      offers: undefined,
    })
  })
})

describe('the semver template', () => {
  const semver = `Schema: olm.semver\nStable: {Bundles: [{Image: "${pinned('a')}"}]}\n`
  const rendered = [
    buildPackageBlob('foo', 'stable-v1.0', { description: 'Kept in the image alone' }),
    buildChannelBlob('stable-v1.0', 'foo', ['foo.v1.0.0']),
    createBundleBlob('1.0.0', pinned('a')),
  ]
  test('is compared without the description, which only its head image contains', () => {
    expect(evaluate({ source: semver, result: rendered, known: rendered })).toMatchObject({
      rules: [],
      asked: [],
    })
  })
  test('is compared with the description once that image was read', () => {
    const csv = { spec: { description: 'Another one' } }
    const scenario = { source: semver, result: rendered, known: [] }
    const evaluateWith = (more: object) =>
      evaluate({ ...scenario, answers: { [pinned('a')]: createBundleResult('1.0.0', more) } })
    expect(evaluateWith({ csv }).what).toContain('package foo differs (description)')
    expect(evaluateWith({}).what).not.toContain('description')
  })
})

test('a path in the suggested command is quoted for the shell', () => {
  const quotedPath = "operators/$(touch x)'s/catalog-templates/v4.20.yaml"
  const state = {
    template: quotedPath,
    catalog: catalogRoot,
    isStated: true,
    offer: 'none',
    known: [],
    source: encodeText('{}'),
  }
  const input = {
    config: { rules: {}, images: { registries: [] }, opm: 'v1.73' },
    change: { paths: [], catalogs: [], references: [] },
    templates: [
      {
        ...state,
        source: encodeText(basicTemplate(channelAfterChange, [])),
        result: buildCatalogFromBlobs(catalogBeforeChange),
      },
    ],
  } as unknown as CheckInput
  const [found] = validationCheck.judge(input, createLookupResults(new Map())).findings
  expect(found?.fix).toContain(`render 'operators/$(touch x)'\\''s/catalog-templates/v4.20.yaml' -o`)
})

test('templates beyond the limit per change get a finding that suggests to split the pull request', () => {
  for (const isStated of [true, false]) {
    const { rules, what } = evaluate({ source: 'too-many', isStated })
    expect(rules).toEqual([`unrenderable-template ${isStated ? 'error' : 'warning'}`])
    expect(what).toContain('split it into several pull requests')
  }
})

describe('a template with bundles that only the credentials of catalog-bot can read', () => {
  const secret = (more: object = {}) => ({
    [pinned('c')]: { ...createBundleResult('9.9.9'), isRestricted: true, ...more } as BundleImageLookupResult,
  })
  const scenario = {
    source: basicTemplate(channelAfterChange, [pinned('a'), pinned('c')]),
    result: catalogBeforeChange,
  }
  test('is reported as different from its catalog without data that only the images contain', () => {
    const { rules, what } = evaluate({ ...scenario, answers: secret() })
    expect(rules).toEqual(['catalog-differs-from-template warning'])
    expect(what).toMatch(/2 rendered items are missing from the catalog$/)
    expect(evaluate({ ...scenario, answers: { [pinned('c')]: createBundleResult('9.9.9') } }).what).toContain(
      '9.9.9',
    )
  })
  test('is reported as unrenderable without data from an image', () => {
    const rejection = { content: undefined, findings: [{ severity: 'error', what: 'secret' }] }
    const { rules, what } = evaluate({ ...scenario, answers: secret(rejection) })
    expect(rules).toEqual(['unrenderable-template warning'])
    expect(what).not.toContain('secret')
    const semver = `schema: olm.semver\ngenerateMajorChannels: true\nstable:\n  bundles:\n    - image: ${pinned('c')}\n`
    const content = {
      name: 'foo.secret',
      package: 'foo',
      properties: [{ type: 'olm.package', value: { packageName: 'foo', version: 'secret' } }],
      relatedImages: [],
    }
    const unrendered = evaluate({ source: semver, result: catalogBeforeChange, answers: secret({ content }) })
    expect(unrendered.rules).toEqual(['unrenderable-template warning'])
    expect(unrendered.what).toContain('cannot be rendered')
    expect(unrendered.what).not.toContain('secret')
  })
})
