// `install DIR --package NAME`: simulates an installation, and with `--kubeconfig` runs one on a cluster.
import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import pLimit from 'p-limit'
import type { BundleBlob } from '@catalog-bot/fbc/facts/catalog'
import { analyzeBundleInstall, type BundleContentForInstall } from '../checks/install/install-analysis.ts'
import {
  type ChannelInstallResult,
  type InstallReport,
  installTargetIds,
  parseInstallTargetId,
  type InstallTarget,
} from '../checks/install/install-report.ts'
import { hasBundleObjectProperties, readInlineBundle } from '../checks/install/served-bundles.ts'
import {
  CatalogUnderTest,
  testCatalogSourceName,
  type DependencyCatalog,
} from '../checks/install/resolutions.ts'
import {
  evaluateInstall,
  planInstallSimulation,
  type InstallSimulationPlan,
} from '../checks/install/simulate-install.ts'
import { escapeNonPrintableCharacters } from '@catalog-bot/findings/printable'
import { describeInstall } from '../report/describe-install.ts'
import { describeClusterTests } from '../report/cluster-test-check.ts'
import type { BundleFiles } from '@catalog-bot/bundle/bundle-files'
import { toImageLookupResult } from '../adapters/registry/registry-error.ts'
import { pullBundle } from '../adapters/registry/pull-bundle.ts'
import type { RegistryClient } from '../adapters/registry/registry-client.ts'
import { computeGzippedSize } from '../adapters/registry/unpack/read-bundle-files.ts'
import {
  listServedBundleObjects,
  readCatalogToInstall,
  queryCatalogServers,
  type LoadedCatalogToInstall,
} from './install-catalog.ts'
import type { ClusterInstallResult, ClusterInstallOptions, ClusterTestCatalog } from './install-on-cluster.ts'
import { setExitCode, printToStdout, printJson } from './output.ts'
import { readBundleDirectory, withRegistryClient } from './pulled-bundles.ts'

interface InstallCommandOptions extends ClusterInstallOptions {
  readonly package: string
  readonly channel?: readonly string[]
  readonly allChannels?: true
  readonly upgradeFrom?: string
  readonly bundle?: readonly string[]
  readonly beside?: readonly string[]
  readonly with?: readonly string[]
  readonly objects?: true
  readonly verbose?: boolean
  readonly offline?: true
  readonly insecureRegistry?: readonly string[]
  readonly output: 'text' | 'json'
}

/** Each bundle is unpacked in a separate process. */
const maxConcurrentImagePulls = 4

export async function runInstall(dir: string, options: InstallCommandOptions): Promise<void> {
  const wanted = (options.with ?? []).map(parseInstallTargetOption)
  const local = parseBundleDirectoryOptions(options.bundle ?? [])
  const { insecureRegistry: insecure } = options
  const main = await readCatalogToInstall(dir, insecure)
  const { catalog } = main
  const before =
    options.upgradeFrom === undefined ? undefined : await readCatalogToInstall(options.upgradeFrom, insecure)
  const base = before?.catalog
  const others = await loadDependencyCatalogs(options.beside ?? [], insecure)
  const test = new CatalogUnderTest(catalog, base, { others })
  const channels = selectRequestedChannels(test, dir, options)
  const plan = planInstallSimulation({ catalog, base, package: options.package, channels }, test)
  const sources = [main, ...others]
  const contents = await loadBundleContents(plan, local, sources, options)
  const running = await queryCatalogServers(main, options.package, {
    isRejected: plan.rejection !== undefined,
    opm: process.env['OPM_PATH'],
  })
  const report = evaluateInstall(
    plan,
    (blob) => contents.get(blob) ?? { kind: 'unknown', reason: 'the content of the bundle was not read' },
    { wanted, running, sha256: (text) => createHash('sha256').update(text).digest('hex') },
  )
  const clusterResult =
    options.kubeconfig === undefined || report.installs === 'no'
      ? undefined
      : await (
          await import('./install-on-cluster.ts')
        ).installOnCluster(
          {
            plan,
            test,
            main: toClusterTestCatalog(main, dir),
            base: before && toClusterTestCatalog(before, options.upgradeFrom ?? ''),
            contents,
            wanted,
            simulated: new Map(report.channels.map((one) => [one.channel, listPossibleInstallTargets(one)])),
          },
          options,
        )
  printInstallReport(report, clusterResult, options)
  // The cluster's result overrides questions that the simulation left open.
  const installs = clusterResult?.installs ?? report.installs
  setExitCode(installs === 'yes' ? 0 : installs === 'no' ? 1 : 2)
}

function toClusterTestCatalog(catalog: LoadedCatalogToInstall, name: string): ClusterTestCatalog {
  return { catalog, ...(catalog.directory === undefined && { image: name }) }
}

function listPossibleInstallTargets({ acceptance }: ChannelInstallResult): readonly InstallTarget[] {
  return acceptance
    .filter(({ installs }) => installs === 'yes' || installs === 'unknown')
    .map(({ target }) => target)
}

function printInstallReport(
  report: InstallReport,
  clusterResult: ClusterInstallResult | undefined,
  { output, objects, verbose = false }: InstallCommandOptions,
): void {
  const withObjects = objects === true
  if (output === 'json') {
    const shown = report.channels.map((channel) => ({
      ...channel,
      objects: withObjects ? channel.objects.map(({ manifest }) => manifest) : undefined,
    }))
    return printJson({ ...report, channels: shown, cluster: clusterResult })
  }
  printToStdout(describeInstall(report, { verbose }))
  if (clusterResult) printToStdout(describeClusterTests(clusterResult.trials, clusterResult.notTried))
  if (!withObjects) return
  for (const { channel, objects: made } of report.channels)
    for (const { manifest, file } of made)
      printToStdout(
        `--- # channel ${escapeNonPrintableCharacters(channel)}, from ${escapeNonPrintableCharacters(file)}\n${JSON.stringify(manifest, undefined, 2)}`,
      )
}

function selectRequestedChannels(
  test: CatalogUnderTest,
  dir: string,
  options: InstallCommandOptions,
): readonly string[] {
  const channels = test.channelsOf(options.package)
  if (channels === undefined)
    throw new Error(`${dir} has no package "${escapeNonPrintableCharacters(options.package)}"`)
  const names = channels.map(({ name }) => name)
  if (options.allChannels) return names
  for (const named of options.channel ?? [])
    if (!names.includes(named))
      throw new Error(
        `package "${escapeNonPrintableCharacters(options.package)}" has no channel "${escapeNonPrintableCharacters(named)}"; its channels are ${names.map(escapeNonPrintableCharacters).join(', ')}`,
      )
  return options.channel ?? channels.filter(({ isDefault }) => isDefault).map(({ name }) => name)
}

async function loadBundleContents(
  { bundlesToOpen }: InstallSimulationPlan,
  local: ReadonlyMap<string, BundleContentForInstall>,
  sources: readonly LoadedCatalogToInstall[],
  { offline, insecureRegistry }: InstallCommandOptions,
): Promise<ReadonlyMap<BundleBlob, BundleContentForInstall>> {
  const contents = new Map<BundleBlob, BundleContentForInstall>()
  const toPull: BundleBlob[] = []
  for (const blob of bundlesToOpen) {
    const given = local.get(blob.name)
    const inline =
      given || (blob.image !== '' && !offline) ? undefined : findBundleContentInCatalog(blob, sources)
    if (given) contents.set(blob, given)
    else if (inline) contents.set(blob, inline)
    else if (blob.image === '')
      contents.set(blob, {
        kind: 'missing',
        reason:
          'the bundle has no image, and the catalog does not contain all of its manifests (olm.csv.metadata is not enough)',
      })
    else if (offline)
      contents.set(blob, { kind: 'unknown', reason: `${blob.image} was not looked up because of --offline` })
    else toPull.push(blob)
  }
  if (toPull.length > 0)
    await withRegistryClient(insecureRegistry, (registry, report) =>
      pLimit(maxConcurrentImagePulls).map(toPull, async (blob) => {
        report(`Pulling ${toPull.length} bundles: ${blob.image}`)
        contents.set(blob, await pullBundleContent(registry, blob.image))
      }),
    )
  return contents
}

async function pullBundleContent(registry: RegistryClient, image: string): Promise<BundleContentForInstall> {
  try {
    const { files, labels } = await pullBundle(registry, image)
    return toBundleContentForInstall(files, labels, 'image')
  } catch (error) {
    const answer = toImageLookupResult(error)
    if (answer.kind === 'ok') throw error
    // A private and a missing image look alike, and a blocked registry proves nothing.
    const isOpen = ['unknown', 'missing-or-private', 'blocked'].includes(answer.kind)
    return { kind: isOpen ? 'unknown' : 'missing', reason: answer.reason }
  }
}

/** The part of the bundle that the catalog contains: the whole bundle, or nothing that can be installed. */
function findBundleContentInCatalog(
  blob: BundleBlob,
  sources: readonly LoadedCatalogToInstall[],
): BundleContentForInstall | undefined {
  const source = sources.find(({ catalog }) => catalog.bundles.includes(blob))
  if (!source || !hasBundleObjectProperties(blob)) return undefined
  const files = readInlineBundle(source.catalog, blob, listServedBundleObjects(source, blob))
  return (
    files && { kind: 'bundle', from: 'catalog', files, facts: analyzeBundleInstall(files, { labels: {} }) }
  )
}

/** `[NAME[:PRIORITY]=]DIR|IMAGE`: other CatalogSources of the cluster. */
async function loadDependencyCatalogs(
  named: readonly string[],
  insecure: readonly string[] | undefined,
): Promise<readonly (LoadedCatalogToInstall & DependencyCatalog)[]> {
  const found: (LoadedCatalogToInstall & DependencyCatalog)[] = []
  for (const [index, text] of named.entries()) {
    const match = /^(?:(?<name>[a-z0-9][a-z0-9.-]*)(?::(?<priority>-?\d{1,9}))?=)?(?<place>.+)$/.exec(text)
    if (!match?.groups)
      throw new Error(
        `--beside must have the form [NAME[:PRIORITY]=]DIR, but is "${escapeNonPrintableCharacters(text)}"`,
      )
    const { name = `beside-${index + 1}`, priority = '0', place = '' } = match.groups
    if (name === testCatalogSourceName || found.some((one) => one.name === name))
      throw new Error(`--beside: two catalogs are named "${name}"`)
    found.push({ ...(await readCatalogToInstall(place, insecure)), name, priority: Number(priority) })
  }
  return found
}

function toBundleContentForInstall(
  files: BundleFiles,
  labels: Readonly<Record<string, string>>,
  from: 'image' | 'directory',
): BundleContentForInstall {
  const facts = analyzeBundleInstall(files, { labels, packedSize: computeGzippedSize })
  return { kind: 'bundle', from, files, facts }
}

/** `NAME=DIR`: a bundle's content from a directory. */
function parseBundleDirectoryOptions(named: readonly string[]): ReadonlyMap<string, BundleContentForInstall> {
  return new Map(
    named.map((text): [string, BundleContentForInstall] => {
      const at = text.indexOf('=')
      const directory = text.slice(at + 1)
      if (at < 1)
        throw new Error(
          `--bundle must have the form NAME=DIR, but is "${escapeNonPrintableCharacters(text)}"`,
        )
      if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true)
        throw new Error(`${directory} is not a directory`)
      return [text.slice(0, at), toBundleContentForInstall(readBundleDirectory(directory), {}, 'directory')]
    }),
  )
}

function parseInstallTargetOption(text: string): InstallTarget {
  const found = parseInstallTargetId(text)
  if (found === undefined) throw new Error(`--with accepts only ${installTargetIds.join(', ')}`)
  return found
}
