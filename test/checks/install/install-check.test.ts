// The check on a pull request: what it queries, what it reports for each package, and that an unknown result is neither
// a pass nor a fault.
import { describe, expect, test } from '@jest/globals'
import type { Catalog } from '../../../packages/fbc/src/facts/catalog.ts'
import type { PullRequestChange, PackageChange } from '../../../src/pull-request/change.ts'
import type { CheckInput, CheckOutcome } from '../../../src/checks/check.ts'
import { analyzeBundleInstall } from '../../../src/checks/install/install-analysis.ts'
import { type ChannelInstallResult, summarizeInstall } from '../../../src/checks/install/install-report.ts'
import { installCheck } from '../../../src/checks/install/install.ts'
import {
  createLookupResults,
  toLookupKey,
  type LookupResultByKind,
  type LookupRequest,
} from '../../../src/checks/lookups.ts'
import { defaultConfig, type Config } from '../../../src/config/config.ts'
import { describeSimulatedInstalls } from '../../../src/report/check-runs.ts'
import { assembleCatalogFromBlobs } from './resolve-problem.ts'
import { createSmallBundle } from './small-bundle.ts'
import { parseCatalogBlobsFromLines } from './parse-catalog-lines.ts'

const catalogLinesBeforeChange = ['foo/stable 1.0.0', 'bar/stable 1.0.0']
const linesAfter = ['foo/stable 1.1.0 replaces 1.0.0', ...catalogLinesBeforeChange]
/** Returns a different digest for each image. */
const createFakeImageDigest = (image: string) =>
  `sha256:${Buffer.from(image).toString('hex').slice(-64).padStart(64, '0')}`

describe('the install check', () => {
  test('passes if the changed package installs, reports the targets, and ignores the other packages', () => {
    const outcome = runCheck({ after: linesAfter })
    expect(outcome).toMatchObject({ findings: [], unanswered: [] })
    expect(outcome.summary).toBe('1 package, simulated: OLM v0 yes, OLM v1 yes, RukPak registry yes')
    expect(outcome.installSummaries?.map((one) => [one.package, one.bundle, one.installs])).toEqual([
      ['foo', 'foo.v1.1.0', 'yes'],
    ])
    const message = [...describeSimulatedInstalls(outcome.installSummaries ?? [])].join('\n')
    expect(message).toContain('| OLM v0 | ✅ yes |')
    expect(message).toContain('1 of 1 versions can be upgraded to the head')
    expect(message).toContain('The simulation does not show whether the Operator runs')
  })

  test('requests cluster tests if they are configured, and only for targets that install', () => {
    const onlyOwn = { installModes: [{ type: 'OwnNamespace', supported: true }] }
    const onCluster = { install: { required: false, with: [], cluster: 'automatic' as const } }
    expect(runCheck({ after: linesAfter }).clusterTests).toBeUndefined()
    const clusterTests = runCheck({ after: linesAfter, config: onCluster }).clusterTests ?? []
    expect(
      clusterTests.map(({ trial: { target, isUpgrade, mode, steps } }) => [
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
    expect(
      runCheck({ after: linesAfter, spec: onlyOwn, config: onCluster }).clusterTests?.[0]?.trial.mode,
    ).toBe('OwnNamespace')
    const other = { install: { ...onCluster.install, with: ['rukpak-registry' as const] } }
    expect(runCheck({ after: linesAfter, spec: onlyOwn, config: other }).clusterTests).toBeUndefined()
  })

  test('opens the new head and the old one, by the digests of their images', () => {
    expect(listInstallCheckLookups({ after: linesAfter })).toEqual([
      'image registry.example/foo:1.1.0',
      `install registry.example/foo@${createFakeImageDigest('registry.example/foo:1.1.0')}`,
      'image registry.example/foo:1.0.0',
      `install registry.example/foo@${createFakeImageDigest('registry.example/foo:1.0.0')}`,
    ])
  })

  test('is optional unless the configuration requires it', () => {
    expect(runCheck({ after: linesAfter }).isOptional).toBe(true)
    expect(
      runCheck({ after: linesAfter, config: { install: { required: true, with: [], cluster: 'off' } } })
        .isOptional,
    ).toBeUndefined()
  })

  test('reports a head that is not resolved at its package', () => {
    const outcome = runCheck({ after: [...linesAfter, 'foo 1.1.0 needs Red'] })
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

  test.each<[string, LookupResultByKind['image']]>([
    ['a registry that is down', { kind: 'unknown', reason: '503', retryAfter: 20 }],
    ['an image that may be private', { kind: 'missing-or-private', reason: '401' }],
    ['a registry that the operator blocks', { kind: 'blocked', reason: 'internal' }],
  ])('%s is neither a finding nor a pass', (_which, image) => {
    const outcome = runCheck({ after: linesAfter, image })
    expect(outcome.findings).toEqual([])
    expect(outcome.unanswered).toMatchObject([
      {
        question: 'whether package foo can be installed from channel stable',
        retryAfter: expect.any(Number),
      },
    ])
    expect(outcome.summary).toContain('OLM v0 unknown')
  })

  test('the summary for the check run omits detail and hint of a remark, and shortens its text', () => {
    const long = 'constraint not satisfiable; '.repeat(100)
    const channel: ChannelInstallResult = {
      channel: 'stable',
      installs: 'no',
      comesAlong: [],
      acceptance: [],
      wanted: [],
      provisioner: [],
      objects: [],
      steps: [
        {
          id: 'resolution',
          title: 'Resolution',
          outcome: 'failed',
          facts: [],
          remarks: [{ kind: 'refused', says: long, detail: long, hint: long, targets: [] }],
        },
      ],
    }
    const [shown] = summarizeInstall('foo', 'catalogs/v1', channel).steps[0]?.remarks ?? []
    expect(Object.keys(shown ?? {})).toEqual(['kind', 'says', 'targets'])
    expect(shown?.says.length).toBeLessThanOrEqual(601)
  })

  test('an image that does not exist does not install', () => {
    const outcome = runCheck({ after: linesAfter, image: { kind: 'missing', reason: 'no such manifest' } })
    expect(outcome.findings).toMatchObject([{ rule: 'does-not-install' }])
  })

  test('requires the targets that the configuration requires', () => {
    const onlyOwn = { installModes: [{ type: 'OwnNamespace', supported: true }] }
    const rukPak = {
      install: { required: false, with: ['rukpak-registry' as const], cluster: 'off' as const },
    }
    expect(runCheck({ after: linesAfter, spec: onlyOwn }).findings.map(({ rule }) => rule)).not.toContain(
      'does-not-install',
    )
    expect(
      runCheck({ after: linesAfter, spec: onlyOwn, config: rukPak }).findings.map(({ rule }) => rule),
    ).toContain('does-not-install')
  })

  test('reports what a cluster rejects at the image reference, with the configured severity', () => {
    const broken = { more: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: [1]}\n' }
    const [found] = runCheck({ after: linesAfter, ...broken }).findings.filter(
      ({ rule }) => rule === 'mistyped-manifest-field',
    )
    expect(found).toMatchObject({ severity: 'error', at: { file: expect.stringContaining('catalogs/v1') } })
    const rules = { 'mistyped-manifest-field': 'off' as const }
    expect(runCheck({ after: linesAfter, ...broken, config: { rules } }).findings).toEqual([])
  })

  test('does not disclose the content of a restricted image', () => {
    const secret = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: hush}\ndata: {hush: [1]}\n'
    const outcome = runCheck({ after: linesAfter, more: secret, isRestricted: true })
    expect(outcome.findings).not.toEqual([])
    expect(JSON.stringify(outcome)).not.toContain('hush')
    expect(JSON.stringify(runCheck({ after: linesAfter, more: secret }))).toContain('hush')
  })

  test('combines catalogs with the same result', () => {
    const outcome = runCheck({
      after: [...linesAfter, 'foo 1.1.0 needs Red'],
      roots: ['catalogs/v1', 'catalogs/v2'],
    })
    expect(outcome.installSummaries).toMatchObject([{ catalogs: ['catalogs/v1', 'catalogs/v2'] }])
    expect(outcome.findings).toMatchObject([{ related: [{ at: { file: expect.stringContaining('v2') } }] }])
  })

  test('does not pass if there are more packages than it simulates', () => {
    const many = Array.from({ length: 70 }, (_, index) => `p${index}/stable 1.0.0`)
    const outcome = runCheck({ after: many, changed: many.map((line) => line.split('/')[0] ?? '') })
    expect(outcome.unanswered).toContainEqual(
      expect.objectContaining({ question: 'whether 10 more packages can be installed' }),
    )
  })
})

interface InstallScenario {
  readonly after: readonly string[]
  readonly changed?: readonly string[]
  readonly roots?: readonly string[]
  readonly config?: Partial<Config>
  readonly image?: LookupResultByKind['image']
  readonly spec?: Parameters<typeof createSmallBundle>[2]
  /** An additional manifest. */
  readonly more?: string
  readonly isRestricted?: boolean
}

const createSuccessfulImageLookup = (image: string): LookupResultByKind['image'] => ({
  kind: 'ok',
  digest: createFakeImageDigest(image),
})

function createInstallCheckInput({
  after: lines,
  changed = ['foo'],
  roots = ['catalogs/v1'],
  config,
}: InstallScenario): CheckInput {
  const [base, result] = [
    assembleCatalogFromBlobs(parseCatalogBlobsFromLines(catalogLinesBeforeChange)),
    assembleCatalogFromBlobs(parseCatalogBlobsFromLines(lines)),
  ]
  const catalogs = roots.map((root) => ({
    root,
    base,
    result,
    packages: changed.map((name) => createPackageChange(name, base, result)),
  }))
  const change: PullRequestChange = { paths: [], references: [], catalogs }
  return { change, config: { ...defaultConfig, ...config } } as CheckInput
}

function createPackageChange(name: string, base: Catalog, result: Catalog): PackageChange {
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

function runCheck(scenario: InstallScenario): CheckOutcome {
  return installCheck.judge(
    createInstallCheckInput(scenario),
    createLookupResults(resolveInstallCheckLookups(scenario)),
  )
}

/** All questions of the check, round by round. */
function listInstallCheckLookups(scenario: InstallScenario): readonly string[] {
  const input = createInstallCheckInput(scenario)
  const known = new Map<string, LookupResultByKind[LookupRequest['kind']]>()
  for (const question of installCheck.ask(input, createLookupResults(known)))
    if (question.kind === 'image')
      known.set(toLookupKey(question), createSuccessfulImageLookup(question.reference))
  return installCheck.ask(input, createLookupResults(known)).map(toLookupKey)
}

function resolveInstallCheckLookups(
  scenario: InstallScenario,
): ReadonlyMap<string, LookupResultByKind[LookupRequest['kind']]> {
  const { image, spec, more, isRestricted } = scenario
  const known = new Map<string, LookupResultByKind[LookupRequest['kind']]>()
  for (const bundle of createInstallCheckInput(scenario).change.catalogs.flatMap(
    ({ result }) => result?.bundles ?? [],
  )) {
    const own = `${bundle.image.split(':')[0]}@${createFakeImageDigest(bundle.image)}`
    const files = new Map(createSmallBundle(bundle.name, bundle.package, spec))
    if (more !== undefined) files.set('manifests/more.yaml', new TextEncoder().encode(more))
    const facts = analyzeBundleInstall(files, { labels: {}, packedSize: (bytes) => bytes.length })
    known.set(`image ${bundle.image}`, image ?? createSuccessfulImageLookup(bundle.image))
    known.set(`install ${own}`, {
      kind: 'bundle',
      digest: createFakeImageDigest(bundle.image),
      findings: [],
      install: facts,
      ...(isRestricted && { isRestricted }),
    })
  }
  return known
}
