// A whole install without a cluster: what its steps say, with what it installs, and that nothing unknown is a pass.
import { describe, expect, test } from '@jest/globals'
import type { BundleContent } from '../../../src/checks/install/bundle-content.ts'
import { bundleFacts, type BundleFacts } from '../../../src/checks/install/bundle-facts.ts'
import { CatalogUnderTest } from '../../../src/checks/install/resolutions.ts'
import type { RunningCatalog } from '../../../src/checks/install/running-catalog.ts'
import type { BundleFiles } from '../../../src/bundle/bundle-files.ts'
import type { BundleBlob } from '../../../src/catalog/facts/catalog.ts'
import type { ChannelInstall } from '../../../src/checks/install/install-report.ts'
import { contentSteps } from '../../../src/checks/install/steps/content-steps.ts'
import { judgeInstall, planInstall } from '../../../src/checks/install/simulate-install.ts'
import type { Target } from '../../../src/checks/install/targets.ts'
import { unpackBundle, unpackName } from '../../../src/checks/install/unpack-bundle.ts'
import { describeInstall } from '../../../src/messages/describe-install.ts'
import { catalogOf } from './resolve-problem.ts'
import { smallBundle } from './small-bundle.ts'
import { writtenBlobs } from './written-catalog.ts'

const chain = ['foo/stable 1.1.0 replaces 1.0.0', 'foo/stable 1.0.0']
const unresolvable = ['foo/stable 1.0.0', 'foo 1.0.0 needs Red']
const tools = {
  packedSize: (bytes: Uint8Array) => bytes.length,
  sha256: (text: string) => text.padEnd(64, '0'),
}

describe('a simulated install', () => {
  test('reports what OLM v0 unpacks of the bundles that OLM v0 takes, and of no others', () => {
    const stepsOf = (format: Parameters<typeof contentSteps>[2]) =>
      contentSteps([], undefined, format, {}).map(({ id }) => id)
    expect(stepsOf('registry+v1')).toContain('unpacking')
    expect(stepsOf('plain+v0')).not.toContain('unpacking')
    expect(stepsOf('helm+v3')).not.toContain('unpacking')
  })

  test('says yes where every step is known to pass', () => {
    const install = simulate(chain)
    expect(outcomes(install)).toEqual({
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
    expect(accepted(install)).toEqual({
      'OLM v0': 'yes',
      'OLM v1': 'yes',
      'RukPak plain': 'other format',
      'RukPak registry': 'yes',
      'RukPak helm': 'other format',
    })
    expect(install.objects.map(({ kind }) => kind)).toContain('Deployment')
  })

  test('never says yes where a bundle could not be read', () => {
    const install = simulate(chain, { content: { kind: 'unknown', reason: 'the registry is away' } })
    expect(install.installs).toBe('unknown')
    expect(accepted(install)).toMatchObject({ 'OLM v0': 'unknown', 'OLM v1': 'unknown' })
  })

  describe('says yes only of what was opened', () => {
    test('RukPak, where OLM resolves nothing, installs the head, and that is opened', () => {
      const opened: string[] = []
      const install = simulate(unresolvable, { wanted: ['RukPak registry'], opened })
      expect(opened).toEqual(['foo.v1.0.0'])
      expect(install.installs).toBe('yes')
      expect(accepted(install)).toMatchObject({ 'OLM v0': 'no', 'OLM v1': 'no', 'RukPak registry': 'yes' })
      const content = { kind: 'unknown', reason: 'the registry is away' } as const
      expect(simulate(unresolvable, { wanted: ['RukPak registry'], content }).installs).toBe('unknown')
      const onlyOwn = { installModes: [{ type: 'OwnNamespace', supported: true }] }
      const refused = files('foo.v1.0.0', 'foo', onlyOwn)
      expect(simulate(unresolvable, { wanted: ['RukPak registry'], content: refused }).installs).toBe('no')
    })

    test('OLM v1 installs the highest version, and that is opened beside the head', () => {
      const lines = ['foo/stable 1.0.0 replaces 1.1.0', 'foo/stable 1.1.0']
      const opened: string[] = []
      const install = simulate(lines, {
        opened,
        contentOf: ({ name, package: its }) =>
          name === 'foo.v1.1.0' ? { kind: 'missing', reason: 'gone' } : files(name, its),
      })
      expect(opened).toEqual(['foo.v1.0.0', 'foo.v1.1.0'])
      expect(accepted(install)).toMatchObject({ 'OLM v0': 'yes', 'OLM v1': 'no', 'RukPak registry': 'yes' })
    })

    test('a channel without a head has nothing for RukPak', () => {
      const install = simulate(['foo/stable 1.1.0', 'foo/stable 1.0.0'], { wanted: ['RukPak registry'] })
      expect(accepted(install)).toMatchObject({ 'OLM v0': 'no', 'RukPak registry': 'no' })
    })

    test.each<[string, BundleContent, Target]>([
      ['what is no bundle', content({}), 'OLM v1'],
      ['a bundle that was not unpacked', content(undefined, { unpacked: undefined }), 'OLM v0'],
    ])('not of %s', (_which, given, target) => {
      expect(accepted(simulate(chain, { content: given }))[target]).toBe('unknown')
    })

    test('an unreadable bundle may be of any format', () => {
      const given = { kind: 'unknown', reason: 'the registry is away' } as const
      expect(simulate(chain, { content: given, wanted: ['RukPak plain'] }).installs).toBe('unknown')
    })

    test('manifests of the catalog do not stand for the image that it names', () => {
      const given = { ...files('foo.v1.1.0', 'foo'), from: 'catalog' } as BundleContent
      expect(simulate(chain, { content: given }).installs).toBe('unknown')
    })

    test('no channel is no yes', () => {
      const plan = planInstall({ catalog: catalogOf(writtenBlobs(chain)), package: 'foo', channels: [] })
      expect(judgeInstall(plan, () => files('foo.v1.1.0', 'foo'), { wanted: [] }).installs).toBe('unknown')
    })

    test('versions that were left out are no yes', () => {
      const install = simulate(chain, { mostVersions: 1 })
      expect(outcomes(install)['upgrades']).toBe('unknown')
      expect(accepted(install)).toMatchObject({ 'OLM v0': 'unknown', 'OLM v1': 'yes' })
    })
  })

  describe('leaves a step out that had nothing to do', () => {
    test.each<[string, string, readonly string[], Simulation]>([
      ['upgrades', 'no version before', unresolvable, {}],
      ['unpacking', 'OLM v0 installs none of the bundles', unresolvable, {}],
      [
        'unpacking',
        'manifests of the catalog',
        chain,
        { content: content(undefined, { unpacked: undefined }, 'catalog') },
      ],
      ['running', 'no server was asked', chain, { running: { asked: [], images: [] } }],
      ['crds', 'no CRD before', chain, { base: chain.slice(1) }],
    ])('%s: %s', (id, _why, lines, options) => {
      expect(outcomes(simulate(lines, options))[id]).toBe('left out')
    })

    test('unpacking by OLM v0 is no step of a bundle in another format', () => {
      const plain = content({ 'manifests/a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n' })
      const install = simulate(chain, { content: plain })
      expect(outcomes(install)).not.toHaveProperty('unpacking')
      expect(outcomes(install)).toMatchObject({ crds: 'left out' })
      expect(accepted(install)).toMatchObject({ 'OLM v0': 'other format', 'RukPak plain': 'yes' })
    })

    test('CRDs are not compared with an unreadable earlier version', () => {
      const install = simulate(chain, {
        base: chain.slice(1),
        contentOf: ({ name, package: its }) =>
          name === 'foo.v1.0.0' ? content(undefined, { crds: undefined }) : files(name, its),
      })
      expect(outcomes(install)['crds']).toBe('unknown')
      expect(accepted(install)).toMatchObject({ 'OLM v0': 'yes', 'OLM v1': 'unknown' })
    })
  })

  test('says no where the image is not there', () => {
    expect(simulate(chain, { content: { kind: 'missing', reason: 'no such manifest' } }).installs).toBe('no')
  })

  test('says no where the bundle that comes along could not be resolved, and gives the chain', () => {
    const install = simulate([...chain, 'foo 1.1.0 needs Red', 'foo 1.0.0 needs Red'])
    expect(install.installs).toBe('no')
    expect(remarks(install)).toContain('bundle foo.v1.1.0 requires an operator providing an API')
  })

  test('says no where OLM would take an older version without a word', () => {
    const install = simulate([...chain, 'foo 1.1.0 needs Red'])
    expect(outcomes(install)).toMatchObject({ resolution: 'failed', head: 'failed' })
    expect(install).toMatchObject({ installs: 'no', bundle: 'foo.v1.0.0' })
  })

  test('tells what comes along, and why', () => {
    const lines = [
      ...chain,
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
    expect(accepted(install)['OLM v1']).toBe('no')
  })

  test('fails where a version of the base is left behind, and only warns where it was before', () => {
    const now = ['foo/stable 1.1.0']
    expect(simulate(now, { base: ['foo/stable 1.0.0'] }).installs).toBe('no')
    // 0.9.0 had no way on in the base either.
    const before = ['foo/stable 1.0.0 skips 0.9.5', 'foo/stable 0.9.5 replaces 0.9.0', 'foo/stable 0.9.0']
    const stuck = simulate(['foo/stable 1.1.0 replaces 1.0.0 skips 0.9.5', 'foo/stable 1.0.0'], {
      base: before,
    })
    expect(outcomes(stuck)['upgrades']).toBe('warning')
    expect(stuck.installs).toBe('yes')
  })

  test('fails where opm would not serve the catalog', () => {
    const install = simulate(['foo/stable 1.1.0', 'foo/stable 1.0.0'])
    expect(outcomes(install)).toMatchObject({ catalog: 'failed', graph: 'failed' })
    expect(install.installs).toBe('no')
  })

  test('warns where OLM v1 would install another version', () => {
    const install = simulate(['foo/stable 1.0.0 replaces 1.1.0', 'foo/stable 1.1.0'])
    expect(outcomes(install)['graph']).toBe('warning')
  })

  test('fails where the bundle is another one than the catalog says', () => {
    const install = simulate(chain, { content: files('foo.v1.1.0', 'other') })
    expect(outcomes(install)['content']).toBe('failed')
    expect(install.installs).toBe('no')
  })

  test('must install with what is wanted', () => {
    const onlyOwn = files('foo.v1.1.0', 'foo', { installModes: [{ type: 'OwnNamespace', supported: true }] })
    expect(simulate(chain, { content: onlyOwn }).installs).toBe('yes')
    expect(simulate(chain, { content: onlyOwn, wanted: ['OLM v1'] }).installs).toBe('no')
    expect(simulate(chain, { wanted: ['OLM v0', 'RukPak helm'] }).installs).toBe('no')
  })

  test('can be read', () => {
    const text = describeInstall({ package: 'foo', installs: 'yes', channels: [simulate(chain)] })
    expect(text).toContain('foo, channel stable: foo.v1.1.0: installs (simulated)')
    expect(text).toContain('2 of 2 versions reach the head')
    expect(text).toMatch(/OLM v0 +yes/)
  })
})

describe('unpacking', () => {
  const unpacked = (more: Record<string, string>, packedSize = tools.packedSize) => {
    const all = new Map(smallBundle('foo.v1.1.0', 'foo'))
    for (const [file, text] of Object.entries(more)) all.set(file, new TextEncoder().encode(text))
    return unpackBundle(all, packedSize)
  }

  test('names its objects by 63 digits of the reference', () => {
    expect(unpackName('registry.example/foo:1', tools.sha256)).toHaveLength(63)
    expect(unpacked({}).problems).toEqual([])
  })

  test('keeps annotations out of the data', () => {
    expect(unpacked({}).keys).toEqual(['csv.yaml'])
  })

  test('is told when two files become one key', () => {
    expect(unpacked({ 'manifests/a b.yaml': 'kind: A', 'manifests/a-b.yaml': 'kind: A' }).problems).toEqual([
      expect.stringContaining('become one key'),
    ])
  })

  test('does not go into directories', () => {
    expect(unpacked({ 'manifests/more/a.yaml': 'kind: A' }).problems).toEqual([
      expect.stringContaining('a directory'),
    ])
  })

  test('ends at 1 MiB of base64, and does not pretend to know it to the byte', () => {
    const ofSize = (bytes: number) => unpacked({}, () => bytes)
    expect(ofSize(760_000)).toMatchObject({ problems: [], open: [] })
    expect(ofSize(786_000)).toMatchObject({ problems: [], open: [expect.stringContaining('too close')] })
    expect(ofSize(810_000)).toMatchObject({ problems: [expect.stringContaining('1048576')], open: [] })
  })
})

interface Simulation {
  readonly base?: readonly string[]
  readonly content?: BundleContent
  readonly contentOf?: (blob: BundleBlob) => BundleContent
  readonly wanted?: readonly Target[]
  readonly running?: RunningCatalog
  readonly mostVersions?: number
  /** Receives the names of the bundles to open. */
  readonly opened?: string[]
}

function simulate(
  lines: readonly string[],
  { base: baseLines, content: given, contentOf, wanted = [], running, mostVersions, opened }: Simulation = {},
): ChannelInstall {
  const catalog = catalogOf(writtenBlobs(lines))
  const base = baseLines && catalogOf(writtenBlobs(baseLines))
  const test = new CatalogUnderTest(catalog, base, mostVersions === undefined ? {} : { mostVersions })
  const plan = planInstall({ catalog, base, package: 'foo', channels: ['stable'] }, test)
  opened?.push(...plan.toOpen.map(({ name }) => name))
  const its = contentOf ?? (({ name, package: of }: BundleBlob) => given ?? files(name, of))
  const report = judgeInstall(plan, its, { wanted, ...(running && { running }), ...tools })
  return report.channels[0] as ChannelInstall
}

function outcomes(install: ChannelInstall): Readonly<Record<string, string>> {
  return Object.fromEntries(install.steps.map(({ id, outcome }) => [id, outcome]))
}

function accepted(install: ChannelInstall): Readonly<Record<string, string>> {
  return Object.fromEntries(install.acceptance.map(({ target, installs }) => [target, installs]))
}

function remarks(install: ChannelInstall): string {
  return install.steps.flatMap((step) => step.remarks.map(({ says }) => says)).join('\n')
}

function files(...of: Parameters<typeof smallBundle>): BundleContent {
  return contentOfFiles(smallBundle(...of))
}

/** Some files, or a sound bundle, of which other facts are told than there are. */
function content(
  texts: Readonly<Record<string, string>> | undefined,
  facts: { readonly [Name in keyof BundleFacts]?: undefined } = {},
  from: 'image' | 'catalog' = 'image',
): BundleContent {
  const encoded = Object.entries(texts ?? {}).map(([path, text]): [string, Uint8Array] => [
    path,
    new TextEncoder().encode(text),
  ])
  const all = contentOfFiles(texts ? new Map(encoded) : smallBundle('foo.v1.1.0', 'foo'))
  return { ...all, from, facts: { ...all.facts, ...facts } as BundleFacts }
}

function contentOfFiles(bundle: BundleFiles): Extract<BundleContent, { readonly kind: 'bundle' }> {
  const { packedSize } = tools
  return {
    kind: 'bundle',
    from: 'image',
    files: bundle,
    facts: bundleFacts(bundle, { labels: {}, packedSize }),
  }
}
