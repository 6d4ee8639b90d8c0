// The check on a pull request: what it asks, what it says of each package, and that nothing unknown is a pass or a fault.
import { describe, expect, test } from '@jest/globals'
import type { Catalog } from '../../../src/catalog/facts/catalog.ts'
import type { Change, PackageChange } from '../../../src/change/change.ts'
import type { CheckInput, CheckOutcome } from '../../../src/checks/check.ts'
import { bundleFacts } from '../../../src/checks/install/bundle-facts.ts'
import { installCheck } from '../../../src/checks/install/install.ts'
import { answersFrom, questionKey, type AnswerTo, type Question } from '../../../src/checks/questions.ts'
import { defaultConfig, type Config } from '../../../src/config/config.ts'
import { describeTried } from '../../../src/messages/describe-tried.ts'
import { catalogOf } from './resolve-problem.ts'
import { smallBundle } from './small-bundle.ts'
import { writtenBlobs } from './written-catalog.ts'

const before = ['foo/stable 1.0.0', 'bar/stable 1.0.0']
const after = ['foo/stable 1.1.0 replaces 1.0.0', ...before]
/** Every image has another one. */
const digestOf = (image: string) =>
  `sha256:${Buffer.from(image).toString('hex').slice(-64).padStart(64, '0')}`

describe('the install check', () => {
  test('passes where the changed package installs, says with what, and leaves the others alone', () => {
    const outcome = judged({ after })
    expect(outcome).toMatchObject({ findings: [], unanswered: [] })
    expect(outcome.summary).toBe('1 package, simulated: OLM v0 yes, OLM v1 yes, RukPak registry yes')
    expect(outcome.tried?.map((one) => [one.package, one.bundle, one.installs])).toEqual([
      ['foo', 'foo.v1.1.0', 'yes'],
    ])
    const words = [...describeTried(outcome.tried ?? [])].join('\n')
    expect(words).toContain('| OLM v0 | ✅ yes |')
    expect(words).toContain('1 of 1 versions reach the head')
    expect(words).toContain('Left for a cluster')
  })

  test('says what a cluster would be asked to show, where the configuration wants that, and only of what installs', () => {
    const onlyOwn = { installModes: [{ type: 'OwnNamespace', supported: true }] }
    const onCluster = { install: { required: false, with: [], cluster: 'automatic' as const } }
    expect(judged({ after }).trials).toBeUndefined()
    const trials = judged({ after, config: onCluster }).trials ?? []
    expect(
      trials.map(({ trial: { target, isUpgrade, mode, steps } }) => [
        target,
        isUpgrade,
        mode,
        steps.map(({ root }) => root),
      ]),
    ).toEqual([
      ['OLM v0', false, 'AllNamespaces', ['foo.v1.1.0']],
      ['OLM v0', true, 'AllNamespaces', ['foo.v1.0.0', 'foo.v1.1.0']],
      ['OLM v1', false, 'AllNamespaces', ['foo.v1.1.0']],
      ['OLM v1', true, 'AllNamespaces', ['foo.v1.0.0', 'foo.v1.1.0']],
    ])
    expect(judged({ after, spec: onlyOwn, config: onCluster }).trials?.[0]?.trial.mode).toBe('OwnNamespace')
    const other = { install: { ...onCluster.install, with: ['rukpak-registry' as const] } }
    expect(judged({ after, spec: onlyOwn, config: other }).trials).toBeUndefined()
  })

  test('opens the new head and the old one, by the digests that the images have', () => {
    expect(asked({ after })).toEqual([
      'image registry.example/foo:1.1.0',
      `install registry.example/foo@${digestOf('registry.example/foo:1.1.0')}`,
      'image registry.example/foo:1.0.0',
      `install registry.example/foo@${digestOf('registry.example/foo:1.0.0')}`,
    ])
  })

  test('is optional unless the configuration requires it', () => {
    expect(judged({ after }).isOptional).toBe(true)
    expect(
      judged({ after, config: { install: { required: true, with: [], cluster: 'off' } } }).isOptional,
    ).toBeUndefined()
  })

  test('tells what is not resolved, at the package', () => {
    const outcome = judged({ after: [...after, 'foo 1.1.0 needs Red'] })
    expect(outcome.findings).toMatchObject([
      {
        rule: 'does-not-install',
        severity: 'error',
        at: { file: expect.stringContaining('catalogs/v1') },
        data: { package: 'foo', channel: 'stable', targets: ['OLM v0'] },
      },
    ])
    expect(outcome.findings[0]?.what).toContain('not its head foo.v1.1.0')
  })

  test.each<[string, AnswerTo['image']]>([
    ['a registry that is down', { kind: 'unknown', reason: '503', retryAfter: 20 }],
    ['an image that may be private', { kind: 'missing-or-private', reason: '401' }],
    ['a registry that the operator blocks', { kind: 'blocked', reason: 'internal' }],
  ])('%s is nobody’s fault and no pass', (_which, image) => {
    const outcome = judged({ after, image })
    expect(outcome.findings).toEqual([])
    expect(outcome.unanswered).toMatchObject([
      { question: 'whether package foo installs from channel stable', retryAfter: expect.any(Number) },
    ])
    expect(outcome.summary).toContain('OLM v0 unknown')
  })

  test('an image that is not there does not install', () => {
    const outcome = judged({ after, image: { kind: 'missing', reason: 'no such manifest' } })
    expect(outcome.findings).toMatchObject([{ rule: 'does-not-install' }])
  })

  test('wants what the configuration wants', () => {
    const onlyOwn = { installModes: [{ type: 'OwnNamespace', supported: true }] }
    const rukPak = {
      install: { required: false, with: ['rukpak-registry' as const], cluster: 'off' as const },
    }
    expect(judged({ after, spec: onlyOwn }).findings.map(({ rule }) => rule)).not.toContain(
      'does-not-install',
    )
    expect(judged({ after, spec: onlyOwn, config: rukPak }).findings.map(({ rule }) => rule)).toContain(
      'does-not-install',
    )
  })

  test('shows what a cluster does not take where the image is named, as the configuration weighs it', () => {
    const broken = { more: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: [1]}\n' }
    const [found] = judged({ after, ...broken }).findings.filter(
      ({ rule }) => rule === 'mistyped-manifest-field',
    )
    expect(found).toMatchObject({ severity: 'error', at: { file: expect.stringContaining('catalogs/v1') } })
    const rules = { 'mistyped-manifest-field': 'off' as const }
    expect(judged({ after, ...broken, config: { rules } }).findings).toEqual([])
  })

  test('says nothing that only a restricted image says', () => {
    const secret = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: hush}\ndata: {hush: [1]}\n'
    const outcome = judged({ after, more: secret, isRestricted: true })
    expect(outcome.findings).not.toEqual([])
    expect(JSON.stringify(outcome)).not.toContain('hush')
    expect(JSON.stringify(judged({ after, more: secret }))).toContain('hush')
  })

  test('counts catalogs that say the same once', () => {
    const outcome = judged({
      after: [...after, 'foo 1.1.0 needs Red'],
      roots: ['catalogs/v1', 'catalogs/v2'],
    })
    expect(outcome.tried).toMatchObject([{ catalogs: ['catalogs/v1', 'catalogs/v2'] }])
    expect(outcome.findings).toMatchObject([{ related: [{ at: { file: expect.stringContaining('v2') } }] }])
  })

  test('is no pass of more packages than are tried', () => {
    const many = Array.from({ length: 70 }, (_, index) => `p${index}/stable 1.0.0`)
    const outcome = judged({ after: many, changed: many.map((line) => line.split('/')[0] ?? '') })
    expect(outcome.unanswered).toContainEqual(
      expect.objectContaining({ question: 'whether 10 more packages install' }),
    )
  })
})

interface World {
  readonly after: readonly string[]
  readonly changed?: readonly string[]
  readonly roots?: readonly string[]
  readonly config?: Partial<Config>
  readonly image?: AnswerTo['image']
  readonly spec?: Parameters<typeof smallBundle>[2]
  /** One more manifest. */
  readonly more?: string
  readonly isRestricted?: boolean
}

const there = (image: string): AnswerTo['image'] => ({
  kind: 'ok',
  digest: digestOf(image),
  mediaType: '',
  size: 1,
})

function inputOf({ after: lines, changed = ['foo'], roots = ['catalogs/v1'], config }: World): CheckInput {
  const [base, result] = [catalogOf(writtenBlobs(before)), catalogOf(writtenBlobs(lines))]
  const catalogs = roots.map((root) => ({
    root,
    base,
    result,
    packages: changed.map((name) => packageChange(name, base, result)),
  }))
  const change: Change = { paths: [], references: [], catalogs }
  return { change, config: { ...defaultConfig, ...config } } as CheckInput
}

function packageChange(name: string, base: Catalog, result: Catalog): PackageChange {
  const known = new Set(base.bundles.map((bundle) => bundle.name))
  const added = result.bundles.filter((bundle) => bundle.package === name && !known.has(bundle.name))
  return {
    name,
    kind: 'changed',
    directories: [],
    bundles: {
      added: added.map((bundle) => ({ name: bundle.name, version: '', place: bundle.place })),
      removed: [],
      changed: [],
    },
    channels: { added: [], removed: [], changed: [] },
    metadata: [],
    deprecations: { added: [], removed: [], changed: [] },
    others: 0,
  }
}

function judged(world: World): CheckOutcome {
  return installCheck.judge(inputOf(world), answersFrom(answersIn(world)))
}

/** Everything that is asked for, round by round. */
function asked(world: World): readonly string[] {
  const input = inputOf(world)
  const known = new Map<string, AnswerTo[Question['kind']]>()
  for (const question of installCheck.ask(input, answersFrom(known)))
    if (question.kind === 'image') known.set(questionKey(question), there(question.reference))
  return installCheck.ask(input, answersFrom(known)).map(questionKey)
}

function answersIn(world: World): ReadonlyMap<string, AnswerTo[Question['kind']]> {
  const { image, spec, more, isRestricted } = world
  const known = new Map<string, AnswerTo[Question['kind']]>()
  for (const bundle of inputOf(world).change.catalogs.flatMap(({ result }) => result?.bundles ?? [])) {
    const own = `${bundle.image.split(':')[0]}@${digestOf(bundle.image)}`
    const files = new Map(smallBundle(bundle.name, bundle.package, spec))
    if (more !== undefined) files.set('manifests/more.yaml', new TextEncoder().encode(more))
    const facts = bundleFacts(files, { labels: {}, packedSize: (bytes) => bytes.length })
    known.set(`image ${bundle.image}`, image ?? there(bundle.image))
    known.set(`install ${own}`, {
      kind: 'bundle',
      digest: digestOf(bundle.image),
      findings: [],
      install: facts,
      ...(isRestricted && { isRestricted }),
    })
  }
  return known
}
