import { fileURLToPath } from 'node:url'
import { describe, expect, test } from '@jest/globals'
import type { AddedImageReference } from '../../../src/pull-request/change.ts'
import type { CheckInput } from '../../../src/checks/check.ts'
import { imagesCheck } from '../../../src/checks/images/images.ts'
import { findDefinedRules } from '../../../scripts/rule-lists.ts'
import * as imageRules from '../../../src/checks/images/rules.ts'
import { createLookupResults, toLookupKey, type ImageLookupResult } from '../../../src/checks/lookups.ts'
import { defaultConfig, type Config } from '../../../src/config/config.ts'

const imageDigest = `sha256:${'a'.repeat(64)}`
const secondImageDigest = `sha256:${'b'.repeat(64)}`
const pinnedImage = `quay.io/org/app@${imageDigest}`
const imageFound: ImageLookupResult = { kind: 'ok', digest: imageDigest }

function createImagesCheckInput(
  references: readonly (string | Partial<AddedImageReference>)[],
  images: Partial<Config['images']> = {},
) {
  return {
    config: { ...defaultConfig, images: { ...defaultConfig.images, ...images } },
    change: {
      paths: [],
      catalogs: [],
      references: references.map((given, index) => ({
        at: { file: 'c.yaml', line: index + 1, column: 1 },
        package: 'app',
        bundle: `app.v${index}`,
        role: 'related' as const,
        ...(typeof given === 'string' ? { reference: given } : { reference: pinnedImage, ...given }),
      })),
    },
  } as unknown as CheckInput
}
const createImageCheckLookupResults = (known: Record<string, ImageLookupResult> = {}) =>
  createLookupResults(
    new Map(
      Object.entries(known).flatMap(([reference, answer]) =>
        [true, false].map(
          (platforms) => [toLookupKey({ kind: 'image', reference, platforms }), answer] as const,
        ),
      ),
    ),
  )
const runImagesCheck = (given: CheckInput, known: Record<string, ImageLookupResult> = {}) =>
  imagesCheck.judge(given, createImageCheckLookupResults(known))
const formatImageFindings = (given: CheckInput, known: Record<string, ImageLookupResult> = {}) =>
  runImagesCheck(given, known).findings.map(({ rule, at }) => `${at?.line} ${rule}`)
const listQueriedImageReferences = (given: CheckInput) =>
  imagesCheck
    .ask(given, createImageCheckLookupResults())
    .map((question) => (question.kind === 'image' ? question.reference : ''))

type ImageReferences = Parameters<typeof createImagesCheckInput>[0]
const checkImages = (
  references: ImageReferences,
  known: Record<string, ImageLookupResult> = {},
  images: Partial<Config['images']> = {},
) => runImagesCheck(createImagesCheckInput(references, images), known)
const formatFindings = (...[references, known, images]: Parameters<typeof checkImages>) =>
  formatImageFindings(createImagesCheckInput(references, images), known)
const listQueriedImages = (...input: Parameters<typeof createImagesCheckInput>) =>
  listQueriedImageReferences(createImagesCheckInput(...input))

describe('a rule that is ignored for a package', () => {
  const missing: ImageLookupResult = { kind: 'missing', reason: '404' }
  const rulesWith = (ignore: readonly string[], references: readonly Partial<AddedImageReference>[]) => {
    const given = createImagesCheckInput(references)
    const rules = { 'image-missing': { ignore: [...ignore] } } as Config['rules']
    return formatImageFindings({ ...given, config: { ...given.config, rules } }, { [pinnedImage]: missing })
  }
  test('reports nothing about images that only this package references', () => {
    expect(rulesWith(['app'], [{}, {}])).toEqual([])
    expect(rulesWith(['other'], [{}])).toEqual(['1 image-missing'])
  })
  test('reports an image that another package also references, in any order', () => {
    expect(rulesWith(['app'], [{}, { package: 'other' }])).toEqual(['1 image-missing'])
    expect(rulesWith(['app'], [{ package: 'other' }, {}])).toEqual(['1 image-missing'])
    expect(rulesWith(['app', 'other'], [{ package: 'other' }, {}])).toEqual([])
  })
  test('reports an image that a file that is not ignored also references', () => {
    const file = { at: { file: 'd.yaml', line: 1, column: 1 } }
    expect(rulesWith(['c.yaml'], [{}])).toEqual([])
    expect(rulesWith(['c.yaml'], [{}, file])).toEqual(['1 image-missing'])
  })
})

describe('the check queries', () => {
  test('each image once, even if it is referenced repeatedly', () => {
    expect(listQueriedImages([pinnedImage, pinnedImage, 'quay.io/org/b:1'])).toEqual([
      pinnedImage,
      'quay.io/org/b:1',
    ])
  })
  test('the tag next to a digest as well', () => {
    expect(listQueriedImages([`quay.io/org/app:v1@${imageDigest}`])).toEqual([
      `quay.io/org/app:v1@${imageDigest}`,
      'quay.io/org/app:v1',
    ])
  })
  test('images in a list of references, without platforms, because they do not run', () => {
    const listed = createImagesCheckInput([{ role: 'listed' }], { platforms: ['linux/s390x'] })
    expect(listQueriedImageReferences(listed)).toEqual([pinnedImage])
    expect(
      runImagesCheck(listed, { [pinnedImage]: { ...imageFound, platforms: ['linux/amd64'] } }),
    ).toMatchObject({ findings: [], unanswered: [] })
    expect(formatImageFindings(listed, { [pinnedImage]: { kind: 'missing', reason: 'gone' } })).toEqual([
      '1 image-missing',
    ])
  })
  test('nothing for malformed references and registries that are not allowed', () => {
    expect(
      listQueriedImages(['Docker://x', 'evil.example/a', pinnedImage], { registries: ['quay.io'] }),
    ).toEqual([pinnedImage])
  })
})

describe('the result for the author', () => {
  test('an existing image by digest has no findings', () => {
    expect(checkImages([pinnedImage], { [pinnedImage]: imageFound })).toEqual({
      check: 'images',
      findings: [],
      unanswered: [],
      waiting: [],
      summary: '1 image in 1 registry',
    })
  })
  test.each<[ImageLookupResult['kind'], string]>([
    ['missing', 'image-missing'],
    ['digest-mismatch', 'digest-mismatch'],
    ['unsupported', 'image-unsupported'],
    ['malformed', 'malformed-reference'],
    ['blocked', 'registry-blocked'],
  ])('the definite answer %s results in the error %s', (kind, rule) => {
    const outcome = checkImages([pinnedImage], {
      [pinnedImage]: { kind, reason: 'so it is' } as ImageLookupResult,
    })
    expect(outcome.findings).toMatchObject([{ rule, severity: 'error', at: { line: 1 } }])
    expect(outcome.findings[0]?.what).toContain('so it is')
    expect(outcome.unanswered).toEqual([])
  })
  test.each<Extract<ImageLookupResult, { kind: 'unknown' | 'missing-or-private' }>>([
    { kind: 'missing-or-private', reason: '401' },
    { kind: 'unknown', reason: 'quay.io answered 503', retryAfter: 7 },
  ])('$kind waits with its reason and without a finding', (answer) => {
    const outcome = checkImages([pinnedImage], { [pinnedImage]: answer })
    expect(outcome.findings).toEqual([])
    expect(outcome.unanswered).toMatchObject([
      { question: `whether ${pinnedImage} exists`, reason: expect.stringContaining(answer.reason) },
    ])
  })
  test('an unanswered question waits', () => {
    expect(checkImages([pinnedImage]).unanswered).toHaveLength(1)
  })
  test('malformed references are reported', () => {
    expect(formatFindings(['docker://quay.io/x', '$IMAGE', ''])).toEqual([
      '1 malformed-reference',
      '2 malformed-reference',
      '3 malformed-reference',
    ])
  })
  test('one image at several locations is one finding with related locations', () => {
    const outcome = checkImages([pinnedImage, pinnedImage, pinnedImage], {
      [pinnedImage]: { kind: 'missing', reason: '404' },
    })
    expect(outcome.findings).toHaveLength(1)
    expect(outcome.findings[0]?.related).toHaveLength(2)
  })
})

describe('tags', () => {
  test('an image by tag results in a warning that names the digest', () => {
    expect(checkImages(['quay.io/org/app:v1'], { 'quay.io/org/app:v1': imageFound }).findings).toMatchObject([
      { rule: 'image-by-tag', severity: 'warning', data: { digest: imageDigest } },
    ])
    expect(formatFindings(['quay.io/org/app'], { 'quay.io/org/app': imageFound })).toEqual(['1 image-by-tag'])
  })
  test('a tag that moved away from its digest results in a warning, but an unknown tag does not', () => {
    const both = `quay.io/org/app:v1@${imageDigest}`
    const known = (tag: ImageLookupResult) => ({ [both]: imageFound, 'quay.io/org/app:v1': tag })
    expect(formatFindings([both], known({ ...imageFound, digest: secondImageDigest }))).toEqual([
      '1 tag-moved',
    ])
    expect(formatFindings([both], known(imageFound))).toEqual([])
    const unknown = checkImages([both], known({ kind: 'unknown', reason: '', retryAfter: 1 }))
    expect([unknown.findings, unknown.unanswered]).toEqual([[], []])
  })
})

describe('allowed registries', () => {
  test.each([
    ['quay.io', true],
    ['quay.io/org', true],
    ['quay.io/org/', true],
    ['QUAY.io/org', true],
    ['quay.io/org/app', true],
    ['quay.io/or', false],
    ['quay.io/organization', false],
    ['quay', false],
    ['io', false],
    ['quay.io:443', false],
    ['docker.io', false],
    ['quay.io/org/app/sub', false],
  ])('%s: %s', (entry, allowed) => {
    expect(formatFindings([pinnedImage], { [pinnedImage]: imageFound }, { registries: [entry] })).toEqual(
      allowed ? [] : ['1 registry-not-allowed'],
    )
  })
  test('a host that only starts with the name of an allowed one is not allowed', () => {
    const reference = `quay.io.evil.example/org/app@${imageDigest}`
    expect(formatFindings([reference], {}, { registries: ['quay.io'] })).toEqual(['1 registry-not-allowed'])
  })
})

describe('platforms', () => {
  const wanted = { platforms: ['linux/amd64', 'linux/arm64'] }
  test('a related image without a required platform is an error', () => {
    const outcome = checkImages(
      [pinnedImage],
      { [pinnedImage]: { ...imageFound, platforms: ['linux/amd64'] } },
      wanted,
    )
    expect(outcome.findings).toMatchObject([{ rule: 'platform-missing', data: { missing: ['linux/arm64'] } }])
  })
  test('a bundle image is not checked, because it only contains files', () => {
    expect(
      formatFindings([{ role: 'bundle' }], { [pinnedImage]: { ...imageFound, platforms: [] } }, wanted),
    ).toEqual([])
  })
  test('platforms that are not known yet leave the question unanswered', () => {
    expect(checkImages([pinnedImage], { [pinnedImage]: imageFound }, wanted).unanswered).toHaveLength(1)
  })
})

test('the rules are sorted, and each id is used once', () => {
  const projectRoot = fileURLToPath(new URL('../../../', import.meta.url))
  const ids = [...findDefinedRules(projectRoot)].flatMap(([id, file]) =>
    file === 'src/checks/images/rules.ts' ? [id] : [],
  )
  expect(ids).toEqual([...new Set(ids)].sort())
  expect(
    Object.values(imageRules)
      .map(({ id }) => id)
      .sort(),
  ).toEqual(ids)
})

test('platforms are queried only if the repository requires some, because a query costs a pull', () => {
  const listPlatformQueries = (platforms: string[]) =>
    imagesCheck.ask(createImagesCheckInput([pinnedImage], { platforms }), createImageCheckLookupResults())
  expect(listPlatformQueries([])).toEqual([{ kind: 'image', reference: pinnedImage }])
  expect(listPlatformQueries(['linux/arm64'])).toEqual([
    { kind: 'image', reference: pinnedImage, platforms: true },
  ])
})
