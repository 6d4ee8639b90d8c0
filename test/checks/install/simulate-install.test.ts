// An entire install without a cluster: what its steps report, what it installs with, and that unknown is never a pass.
import { describe, expect, test } from '@jest/globals'
import {
  analyzeBundleInstall,
  type BundleInstallAnalysis,
  type BundleContentForInstall,
  unpackBundle,
  computeUnpackConfigMapName,
} from '../../../src/checks/install/install-analysis.ts'
import { CatalogUnderTest } from '../../../src/checks/install/resolutions.ts'
import type { CatalogServerObservation } from '../../../src/checks/install/running-catalog.ts'
import type { BundleFiles } from '../../../packages/bundle/src/bundle-files.ts'
import type { BundleBlob } from '../../../packages/fbc/src/facts/catalog.ts'
import type { ChannelInstallResult, InstallTarget } from '../../../src/checks/install/install-report.ts'
import { createBundleContentSteps } from '../../../src/checks/install/steps/content-steps.ts'
import { evaluateInstall, planInstallSimulation } from '../../../src/checks/install/simulate-install.ts'
import { describeInstall } from '../../../src/report/describe-install.ts'
import { assembleCatalogFromBlobs } from './resolve-problem.ts'
import { createSmallBundle } from './small-bundle.ts'
import { parseCatalogBlobsFromLines } from './parse-catalog-lines.ts'

const upgradeChain = ['foo/stable 1.1.0 replaces 1.0.0', 'foo/stable 1.0.0']
const unresolvableCatalog = ['foo/stable 1.0.0', 'foo 1.0.0 needs Red']
const fakeSizeAndHashFunctions = {
  packedSize: (bytes: Uint8Array) => bytes.length,
  sha256: (text: string) => text.padEnd(64, '0'),
}

describe('a simulated install', () => {
  test('reports unpacking only for bundles in the format that OLM v0 supports', () => {
    const stepsOf = (format: Parameters<typeof createBundleContentSteps>[2]) =>
      createBundleContentSteps([], undefined, format, {}).map(({ id }) => id)
    expect(stepsOf('registry+v1')).toContain('unpacking')
    expect(stepsOf('plain+v0')).not.toContain('unpacking')
    expect(stepsOf('helm+v3')).not.toContain('unpacking')
  })

  test('is yes if every step is known to pass', () => {
    const install = simulate(upgradeChain)
    expect(getInstallStepOutcomes(install)).toEqual({
      catalog: 'passed',
      graph: 'passed',
      resolution: 'passed',
      head: 'passed',
      upgrades: 'passed',
      content: 'passed',
      unpacking: 'passed',
      validation: 'passed',
      rendering: 'passed',
      schemas: 'passed',
      crds: 'left out',
      running: 'left out',
    })
    expect(install.installs).toBe('yes')
    expect(getInstallAcceptanceByTarget(install)).toEqual({
      'OLM v0': 'yes',
      'OLM v1': 'yes',
      'RukPak plain': 'other format',
      'RukPak registry': 'yes',
      'RukPak helm': 'other format',
    })
    expect(install.objects.map(({ kind }) => kind)).toContain('Deployment')
  })

  test('is never yes if a bundle cannot be read', () => {
    const install = simulate(upgradeChain, { content: { kind: 'unknown', reason: 'the registry is away' } })
    expect(install.installs).toBe('unknown')
    expect(getInstallAcceptanceByTarget(install)).toMatchObject({ 'OLM v0': 'unknown', 'OLM v1': 'unknown' })
  })

  describe('is yes only for bundles that were opened', () => {
    test('RukPak installs the head, which is opened, if OLM resolves nothing', () => {
      const opened: string[] = []
      const install = simulate(unresolvableCatalog, { wanted: ['RukPak registry'], opened })
      expect(opened).toEqual(['foo.v1.0.0'])
      expect(install.installs).toBe('yes')
      expect(getInstallAcceptanceByTarget(install)).toMatchObject({
        'OLM v0': 'no',
        'OLM v1': 'no',
        'RukPak registry': 'yes',
      })
      const content = { kind: 'unknown', reason: 'the registry is away' } as const
      expect(simulate(unresolvableCatalog, { wanted: ['RukPak registry'], content }).installs).toBe('unknown')
      const onlyOwn = { installModes: [{ type: 'OwnNamespace', supported: true }] }
      const ownNamespaceOnly = createSmallBundleContent('foo.v1.0.0', 'foo', onlyOwn)
      expect(
        simulate(unresolvableCatalog, { wanted: ['RukPak registry'], content: ownNamespaceOnly }).installs,
      ).toBe('no')
    })

    test('OLM v1 installs the highest version, which is opened in addition to the head', () => {
      const lines = ['foo/stable 1.0.0 replaces 1.1.0', 'foo/stable 1.1.0']
      const opened: string[] = []
      const install = simulate(lines, {
        opened,
        contentOf: ({ name, package: its }) =>
          name === 'foo.v1.1.0' ? { kind: 'missing', reason: 'gone' } : createSmallBundleContent(name, its),
      })
      expect(opened).toEqual(['foo.v1.0.0', 'foo.v1.1.0'])
      expect(getInstallAcceptanceByTarget(install)).toMatchObject({
        'OLM v0': 'yes',
        'OLM v1': 'no',
        'RukPak registry': 'yes',
      })
    })

    test('a channel without a head does not install with RukPak', () => {
      const install = simulate(['foo/stable 1.1.0', 'foo/stable 1.0.0'], { wanted: ['RukPak registry'] })
      expect(getInstallAcceptanceByTarget(install)).toMatchObject({ 'OLM v0': 'no', 'RukPak registry': 'no' })
    })

    test.each<[string, BundleContentForInstall, InstallTarget]>([
      ['content that is not a bundle', createBundleContentFromText({}), 'OLM v1'],
      [
        'a bundle that was not unpacked',
        createBundleContentFromText(undefined, { unpacked: undefined }),
        'OLM v0',
      ],
    ])('the result is unknown for %s', (_which, given, target) => {
      expect(getInstallAcceptanceByTarget(simulate(upgradeChain, { content: given }))[target]).toBe('unknown')
    })

    test('an unreadable bundle can be of any format', () => {
      const given = { kind: 'unknown', reason: 'the registry is away' } as const
      expect(simulate(upgradeChain, { content: given, wanted: ['RukPak plain'] }).installs).toBe('unknown')
    })

    test('manifests in the catalog do not replace the image that it references', () => {
      const given = {
        ...createSmallBundleContent('foo.v1.1.0', 'foo'),
        from: 'catalog',
      } as BundleContentForInstall
      expect(simulate(upgradeChain, { content: given }).installs).toBe('unknown')
    })

    test('the result is unknown without a channel', () => {
      const plan = planInstallSimulation({
        catalog: assembleCatalogFromBlobs(parseCatalogBlobsFromLines(upgradeChain)),
        package: 'foo',
        channels: [],
      })
      expect(
        evaluateInstall(plan, () => createSmallBundleContent('foo.v1.1.0', 'foo'), { wanted: [] }).installs,
      ).toBe('unknown')
    })

    test('upgrades and OLM v0 are unknown if versions were left out', () => {
      const install = simulate(upgradeChain, { maxVersions: 1 })
      expect(getInstallStepOutcomes(install)['upgrades']).toBe('unknown')
      expect(getInstallAcceptanceByTarget(install)).toMatchObject({ 'OLM v0': 'unknown', 'OLM v1': 'yes' })
    })
  })

  describe('leaves out a step without input', () => {
    test.each<[string, string, readonly string[], InstallSimulationOptions]>([
      ['upgrades', 'no version before', unresolvableCatalog, {}],
      ['unpacking', 'OLM v0 installs none of the bundles', unresolvableCatalog, {}],
      [
        'unpacking',
        'manifests of the catalog',
        upgradeChain,
        { content: createBundleContentFromText(undefined, { unpacked: undefined }, 'catalog') },
      ],
      ['running', 'no server was asked', upgradeChain, { running: { responses: [], images: [] } }],
      ['crds', 'no CRD before', upgradeChain, { base: upgradeChain.slice(1) }],
    ])('%s: %s', (id, _why, lines, options) => {
      expect(getInstallStepOutcomes(simulate(lines, options))[id]).toBe('left out')
    })

    test('unpacking by OLM v0 is not a step for a bundle in another format', () => {
      const plain = createBundleContentFromText({
        'manifests/a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n',
      })
      const install = simulate(upgradeChain, { content: plain })
      expect(getInstallStepOutcomes(install)).not.toHaveProperty('unpacking')
      expect(getInstallStepOutcomes(install)).toMatchObject({ crds: 'left out' })
      expect(getInstallAcceptanceByTarget(install)).toMatchObject({
        'OLM v0': 'other format',
        'RukPak plain': 'yes',
      })
    })

    test('CRDs are unknown if an earlier version cannot be read', () => {
      const install = simulate(upgradeChain, {
        base: upgradeChain.slice(1),
        contentOf: ({ name, package: its }) =>
          name === 'foo.v1.0.0'
            ? createBundleContentFromText(undefined, { crds: undefined })
            : createSmallBundleContent(name, its),
      })
      expect(getInstallStepOutcomes(install)['crds']).toBe('unknown')
      expect(getInstallAcceptanceByTarget(install)).toMatchObject({ 'OLM v0': 'yes', 'OLM v1': 'unknown' })
    })
  })

  test('is no if the image does not exist', () => {
    expect(
      simulate(upgradeChain, { content: { kind: 'missing', reason: 'no such manifest' } }).installs,
    ).toBe('no')
  })

  test('summarizes a requirement that no catalog meets in one sentence, and keeps the chain as its detail', () => {
    const install = simulate([...upgradeChain, 'foo 1.1.0 needs Red', 'foo 1.0.0 needs Red'])
    expect(install.installs).toBe('no')
    expect(install.steps.find(({ id }) => id === 'resolution')?.remarks[0]).toMatchObject({
      says: 'No version of foo in channel stable can be installed from this catalog: all 2 versions (v1.0.0 to v1.1.0) need example.com/v1 Red, which nothing in the catalog provides.',
      detail: expect.stringContaining('bundle foo.v1.1.0 requires an operator providing an API'),
      hint: 'To add a catalog that contains the requirement, use --beside DIR.',
    })
  })

  test('lists the requirements of versions with different missing dependencies', () => {
    const install = simulate([...upgradeChain, 'foo 1.1.0 needs Red', 'foo 1.0.0 needs Blue'])
    expect(formatInstallStepNotes(install)).toContain(
      'v1.1.0 needs example.com/v1 Red, v1.0.0 needs example.com/v1 Blue. Nothing in the catalog satisfies these requirements.',
    )
  })

  test('prints the full chain only with --verbose, and no sentence twice', () => {
    const channels = [simulate([...upgradeChain, 'foo 1.1.0 needs Red', 'foo 1.0.0 needs Red'])]
    const report = { package: 'foo', installs: 'no' as const, channels }
    const chain = 'subscription foo requires at least one of'
    expect(describeInstall(report)).not.toContain(chain)
    expect(describeInstall(report, { verbose: true })).toContain(chain)
    const lines = describeInstall(report)
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line.length > 40)
    expect(lines.filter((line, at) => lines.indexOf(line) !== at)).toEqual([])
  })

  test('is no if OLM would silently install an older version', () => {
    const install = simulate([...upgradeChain, 'foo 1.1.0 needs Red'])
    expect(getInstallStepOutcomes(install)).toMatchObject({ resolution: 'failed', head: 'failed' })
    expect(install).toMatchObject({ installs: 'no', bundle: 'foo.v1.0.0' })
  })

  test('reports the bundles that are also installed, and why', () => {
    const lines = [
      ...upgradeChain,
      'foo 1.1.0 needs bar ">=1.0.0"',
      'foo 1.0.0 needs bar ">=1.0.0"',
      'bar/stable 1.0.0',
    ]
    const install = simulate(lines)
    expect(install.comesAlong).toEqual([
      {
        name: 'bar.v1.0.0',
        package: 'bar',
        channel: 'stable',
        because: [
          'bundle foo.v1.1.0 requires an operator with package: bar and with version in range: >=1.0.0',
        ],
      },
    ])
    expect(getInstallAcceptanceByTarget(install)['OLM v1']).toBe('no')
  })

  test('fails if a version of the base is stranded, and only warns if the base already stranded it', () => {
    const now = ['foo/stable 1.1.0']
    expect(simulate(now, { base: ['foo/stable 1.0.0'] }).installs).toBe('no')
    // 0.9.0 had no upgrade in the base either.
    const before = ['foo/stable 1.0.0 skips 0.9.5', 'foo/stable 0.9.5 replaces 0.9.0', 'foo/stable 0.9.0']
    const stuck = simulate(['foo/stable 1.1.0 replaces 1.0.0 skips 0.9.5', 'foo/stable 1.0.0'], {
      base: before,
    })
    expect(getInstallStepOutcomes(stuck)['upgrades']).toBe('warning')
    expect(stuck.installs).toBe('yes')
  })

  test('fails if opm would not serve the catalog', () => {
    const install = simulate(['foo/stable 1.1.0', 'foo/stable 1.0.0'])
    expect(getInstallStepOutcomes(install)).toMatchObject({ catalog: 'failed', graph: 'failed' })
    expect(install.installs).toBe('no')
  })

  test('warns if OLM v1 would install another version', () => {
    const install = simulate(['foo/stable 1.0.0 replaces 1.1.0', 'foo/stable 1.1.0'])
    expect(getInstallStepOutcomes(install)['graph']).toBe('warning')
  })

  test('fails if the bundle is not the one that the catalog declares', () => {
    const install = simulate(upgradeChain, { content: createSmallBundleContent('foo.v1.1.0', 'other') })
    expect(getInstallStepOutcomes(install)['content']).toBe('failed')
    expect(install.installs).toBe('no')
  })

  test('must install with all required targets', () => {
    const onlyOwn = createSmallBundleContent('foo.v1.1.0', 'foo', {
      installModes: [{ type: 'OwnNamespace', supported: true }],
    })
    expect(simulate(upgradeChain, { content: onlyOwn }).installs).toBe('yes')
    expect(simulate(upgradeChain, { content: onlyOwn, wanted: ['OLM v1'] }).installs).toBe('no')
    expect(simulate(upgradeChain, { wanted: ['OLM v0', 'RukPak helm'] }).installs).toBe('no')
  })

  test('can be formatted as text', () => {
    const text = describeInstall({ package: 'foo', installs: 'yes', channels: [simulate(upgradeChain)] })
    expect(text).toContain('foo, channel stable: foo.v1.1.0: installs (simulated)')
    expect(text).toContain('2 of 2 versions can be upgraded to the head')
    expect(text).toMatch(/OLM v0 +yes/)
  })
})

describe('unpacking', () => {
  const unpacked = (more: Record<string, string>, packedSize = fakeSizeAndHashFunctions.packedSize) => {
    const all = new Map(createSmallBundle('foo.v1.1.0', 'foo'))
    for (const [file, text] of Object.entries(more)) all.set(file, new TextEncoder().encode(text))
    return unpackBundle(all, packedSize)
  }

  test('names its objects with 63 characters', () => {
    expect(
      computeUnpackConfigMapName('registry.example/foo:1', fakeSizeAndHashFunctions.sha256),
    ).toHaveLength(63)
    expect(unpacked({}).problems).toEqual([])
  })

  test('excludes annotations from the data', () => {
    expect(unpacked({}).keys).toEqual(['csv.yaml'])
  })

  test('reports two files with the same key', () => {
    expect(unpacked({ 'manifests/a b.yaml': 'kind: A', 'manifests/a-b.yaml': 'kind: A' }).problems).toEqual([
      expect.stringContaining('have the same ConfigMap key'),
    ])
  })

  test('reports files in subdirectories', () => {
    expect(unpacked({ 'manifests/more/a.yaml': 'kind: A' }).problems).toEqual([
      expect.stringContaining('is in a subdirectory'),
    ])
  })

  test('is limited to 1 MiB of base64, and is inconclusive close to the limit', () => {
    const ofSize = (bytes: number) => unpacked({}, () => bytes)
    expect(ofSize(760_000)).toMatchObject({ problems: [], open: [] })
    expect(ofSize(786_000)).toMatchObject({
      problems: [],
      open: [expect.stringContaining('so close to the ConfigMap limit')],
    })
    expect(ofSize(810_000)).toMatchObject({ problems: [expect.stringContaining('1048576')], open: [] })
  })
})

interface InstallSimulationOptions {
  readonly base?: readonly string[]
  readonly content?: BundleContentForInstall
  readonly contentOf?: (blob: BundleBlob) => BundleContentForInstall
  readonly wanted?: readonly InstallTarget[]
  readonly running?: CatalogServerObservation
  readonly maxVersions?: number
  /** Receives the names of the bundles to open. */
  readonly opened?: string[]
}

function simulate(
  lines: readonly string[],
  {
    base: baseLines,
    content: given,
    contentOf,
    wanted = [],
    running,
    maxVersions,
    opened,
  }: InstallSimulationOptions = {},
): ChannelInstallResult {
  const catalog = assembleCatalogFromBlobs(parseCatalogBlobsFromLines(lines))
  const base = baseLines && assembleCatalogFromBlobs(parseCatalogBlobsFromLines(baseLines))
  const test = new CatalogUnderTest(catalog, base, maxVersions === undefined ? {} : { maxVersions })
  const plan = planInstallSimulation({ catalog, base, package: 'foo', channels: ['stable'] }, test)
  opened?.push(...plan.bundlesToOpen.map(({ name }) => name))
  const its =
    contentOf ?? (({ name, package: of }: BundleBlob) => given ?? createSmallBundleContent(name, of))
  const report = evaluateInstall(plan, its, {
    wanted,
    ...(running && { running }),
    ...fakeSizeAndHashFunctions,
  })
  return report.channels[0] as ChannelInstallResult
}

function getInstallStepOutcomes(install: ChannelInstallResult): Readonly<Record<string, string>> {
  return Object.fromEntries(install.steps.map(({ id, outcome }) => [id, outcome]))
}

function getInstallAcceptanceByTarget(install: ChannelInstallResult): Readonly<Record<string, string>> {
  return Object.fromEntries(install.acceptance.map(({ target, installs }) => [target, installs]))
}

function formatInstallStepNotes(install: ChannelInstallResult): string {
  return install.steps.flatMap((step) => step.remarks.map(({ says }) => says)).join('\n')
}

function createSmallBundleContent(...of: Parameters<typeof createSmallBundle>): BundleContentForInstall {
  return toBundleContent(createSmallBundle(...of))
}

/** These files, or a valid bundle, with some of their facts replaced. */
function createBundleContentFromText(
  textByPath: Readonly<Record<string, string>> | undefined,
  facts: { readonly [Name in keyof BundleInstallAnalysis]?: undefined } = {},
  from: 'image' | 'catalog' = 'image',
): BundleContentForInstall {
  const encoded = Object.entries(textByPath ?? {}).map(([path, text]): [string, Uint8Array] => [
    path,
    new TextEncoder().encode(text),
  ])
  const all = toBundleContent(textByPath ? new Map(encoded) : createSmallBundle('foo.v1.1.0', 'foo'))
  return { ...all, from, facts: { ...all.facts, ...facts } as BundleInstallAnalysis }
}

function toBundleContent(bundle: BundleFiles): Extract<BundleContentForInstall, { readonly kind: 'bundle' }> {
  const { packedSize } = fakeSizeAndHashFunctions
  return {
    kind: 'bundle',
    from: 'image',
    files: bundle,
    facts: analyzeBundleInstall(bundle, { labels: {}, packedSize }),
  }
}
