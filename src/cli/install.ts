// `install DIR --package NAME`: a package installed without a cluster, and with `--kubeconfig` on one after that. Exit 0 when it installs, 1 when it does not, 2 when
// that could not be found out, or when the command could not run.
import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import type { BundleBlob } from '../catalog/facts/catalog.ts'
import type { BundleContent } from '../checks/install/bundle-content.ts'
import { bundleFacts } from '../checks/install/bundle-facts.ts'
import type { ChannelInstall, InstallReport } from '../checks/install/install-report.ts'
import { hasInlineObjects, inlineBundle } from '../checks/install/inline-bundle.ts'
import { CatalogUnderTest, ownName, type OtherCatalog } from '../checks/install/resolutions.ts'
import { judgeInstall, planInstall, type InstallPlan } from '../checks/install/simulate-install.ts'
import { targetIds, targetNamed, type Target } from '../checks/install/targets.ts'
import { printable } from '../findings/printable.ts'
import { describeInstall } from '../messages/describe-install.ts'
import { describeTrials } from '../messages/describe-trials.ts'
import type { BundleFiles } from '../bundle/bundle-files.ts'
import { detectFormat } from '../bundle/bundle-format.ts'
import { eachOf } from '../examine/gather-answers.ts'
import { answerOf } from '../registry/answer-of.ts'
import { pullBundle } from '../registry/pull-bundle.ts'
import type { RegistryClient } from '../registry/registry-client.ts'
import { packedSize } from '../registry/unpack/packed-size.ts'
import { objectsOf, readInstallCatalog, runCatalog, type InstallCatalog } from './install-catalog.ts'
import {
  installOnCluster,
  type ClusterInstall,
  type ClusterOptions,
  type TriedCatalog,
} from './install-on-cluster.ts'
import { exitWith, print, printJson } from './output.ts'
import { filesBelow, withRegistry } from './pulled-bundles.ts'

export interface InstallOptions extends ClusterOptions {
  readonly package: string
  readonly channel?: readonly string[]
  readonly allChannels?: true
  readonly upgradeFrom?: string
  readonly bundle?: readonly string[]
  readonly beside?: readonly string[]
  readonly with?: readonly string[]
  readonly objects?: true
  readonly offline?: true
  readonly insecureRegistry?: readonly string[]
  readonly output: 'text' | 'json'
}

/** Each bundle is unpacked in a process of its own. */
const pulledAtOnce = 4

export async function install(dir: string, options: InstallOptions): Promise<void> {
  const wanted = (options.with ?? []).map(wantedTarget)
  const local = localBundles(options.bundle ?? [])
  const { insecureRegistry: insecure } = options
  const main = await readInstallCatalog(dir, insecure)
  const { catalog } = main
  const before =
    options.upgradeFrom === undefined ? undefined : await readInstallCatalog(options.upgradeFrom, insecure)
  const base = before?.catalog
  const others = await besideCatalogs(options.beside ?? [], insecure)
  const test = new CatalogUnderTest(catalog, base, { others })
  const channels = channelsFor(test, dir, options)
  const plan = planInstall({ catalog, base, package: options.package, channels }, test)
  const sources = [main, ...others]
  const contents = await open(plan, local, sources, options)
  const running = await runCatalog(main, options.package, process.env['OPM_PATH'])
  const report = judgeInstall(
    plan,
    (blob) => contents.get(blob) ?? { kind: 'unknown', reason: 'it was not opened' },
    {
      wanted,
      running,
      sha256: (text) => createHash('sha256').update(text).digest('hex'),
    },
  )
  const tried =
    options.kubeconfig === undefined || report.installs === 'no'
      ? undefined
      : await installOnCluster(
          {
            plan,
            test,
            main: triedCatalog(main, dir),
            base: before && triedCatalog(before, options.upgradeFrom ?? ''),
            contents,
            wanted,
            simulated: new Map(report.channels.map((one) => [one.channel, installable(one)])),
          },
          options,
        )
  printReport(report, tried, options)
  // The cluster's result overrides questions that the simulation left open.
  const installs = tried?.installs ?? report.installs
  exitWith(installs === 'yes' ? 0 : installs === 'no' ? 1 : 2)
}

function triedCatalog(catalog: InstallCatalog, name: string): TriedCatalog {
  return { catalog, ...(catalog.directory === undefined && { image: name }) }
}

function installable({ acceptance }: ChannelInstall): readonly Target[] {
  return acceptance
    .filter(({ installs }) => installs === 'yes' || installs === 'unknown')
    .map(({ target }) => target)
}

function printReport(
  report: InstallReport,
  tried: ClusterInstall | undefined,
  { output, objects }: InstallOptions,
): void {
  const withObjects = objects === true
  if (output === 'json') {
    const shown = report.channels.map((channel) => ({
      ...channel,
      objects: withObjects ? channel.objects.map(({ manifest }) => manifest) : undefined,
    }))
    return printJson({ ...report, channels: shown, cluster: tried })
  }
  print(describeInstall(report))
  if (tried) print(describeTrials(tried.trials, tried.notTried))
  if (!withObjects) return
  for (const { channel, objects: made } of report.channels)
    for (const { manifest, file } of made)
      print(
        `--- # channel ${printable(channel)}, from ${printable(file)}\n${JSON.stringify(manifest, undefined, 2)}`,
      )
}

function channelsFor(test: CatalogUnderTest, dir: string, options: InstallOptions): readonly string[] {
  const channels = test.channelsOf(options.package)
  if (channels === undefined) throw new Error(`${dir} has no package "${printable(options.package)}"`)
  const names = channels.map(({ name }) => name)
  if (options.allChannels) return names
  for (const named of options.channel ?? [])
    if (!names.includes(named))
      throw new Error(
        `package "${printable(options.package)}" has no channel "${printable(named)}"; it has ${names.map(printable).join(', ')}`,
      )
  return options.channel ?? channels.filter(({ isDefault }) => isDefault).map(({ name }) => name)
}

async function open(
  { toOpen }: InstallPlan,
  local: ReadonlyMap<string, BundleContent>,
  sources: readonly InstallCatalog[],
  { offline, insecureRegistry }: InstallOptions,
): Promise<ReadonlyMap<BundleBlob, BundleContent>> {
  const contents = new Map<BundleBlob, BundleContent>()
  const toPull: BundleBlob[] = []
  for (const blob of toOpen) {
    const given = local.get(blob.name)
    const inline = given || (blob.image !== '' && !offline) ? undefined : contentInCatalog(blob, sources)
    if (given) contents.set(blob, given)
    else if (inline) contents.set(blob, inline)
    else if (blob.image === '')
      contents.set(blob, {
        kind: 'missing',
        reason:
          'it has no image, and the catalog does not hold all of its manifests; olm.csv.metadata is no substitute',
      })
    else if (offline)
      contents.set(blob, { kind: 'unknown', reason: `no registry was asked for ${blob.image}` })
    else toPull.push(blob)
  }
  if (toPull.length > 0)
    await withRegistry(insecureRegistry, (registry) =>
      eachOf(toPull, pulledAtOnce, async (blob) => void contents.set(blob, await pull(registry, blob.image))),
    )
  return contents
}

async function pull(registry: RegistryClient, image: string): Promise<BundleContent> {
  try {
    const { files, labels } = await pullBundle(registry, image)
    if (detectFormat(files) !== undefined) return contentOf(files, labels, 'image')
    // Charts may be anywhere in an image.
    const whole = await pullBundle(registry, image, { directories: [''] })
    return contentOf(whole.files, labels, 'image')
  } catch (error) {
    const answer = answerOf(error)
    if (answer.kind === 'ok') throw error
    // A private and a missing image look alike, and a blocked registry proves nothing.
    const isOpen = ['unknown', 'missing-or-private', 'blocked'].includes(answer.kind)
    return { kind: isOpen ? 'unknown' : 'missing', reason: answer.reason }
  }
}

/** What the catalog itself holds of it: the whole bundle, or nothing that could be installed. */
function contentInCatalog(blob: BundleBlob, sources: readonly InstallCatalog[]): BundleContent | undefined {
  const source = sources.find(({ catalog }) => catalog.bundles.includes(blob))
  if (!source || !hasInlineObjects(blob)) return undefined
  const files = inlineBundle(source.catalog, blob, objectsOf(source, blob))
  // Nothing of it is unpacked, so nobody packs it.
  return files && { kind: 'bundle', from: 'catalog', files, facts: bundleFacts(files, { labels: {} }) }
}

/** `[NAME[:PRIORITY]=]DIR|IMAGE`: other CatalogSources of the cluster. */
async function besideCatalogs(
  named: readonly string[],
  insecure: readonly string[] | undefined,
): Promise<readonly (InstallCatalog & OtherCatalog)[]> {
  const found: (InstallCatalog & OtherCatalog)[] = []
  for (const [index, text] of named.entries()) {
    const match = /^(?:(?<name>[a-z0-9][a-z0-9.-]*)(?::(?<priority>-?\d{1,9}))?=)?(?<place>.+)$/.exec(text)
    if (!match?.groups) throw new Error(`--beside takes [NAME[:PRIORITY]=]DIR, not "${printable(text)}"`)
    const { name = `beside-${index + 1}`, priority = '0', place = '' } = match.groups
    if (name === ownName || found.some((one) => one.name === name))
      throw new Error(`--beside: two catalogs are named "${name}"`)
    found.push({ ...(await readInstallCatalog(place, insecure)), name, priority: Number(priority) })
  }
  return found
}

function contentOf(
  files: BundleFiles,
  labels: Readonly<Record<string, string>>,
  from: 'image' | 'directory',
): BundleContent {
  const facts = bundleFacts(files, { labels, packedSize })
  return { kind: 'bundle', from, files, facts }
}

/** `NAME=DIR`: a bundle's content from a directory. */
function localBundles(named: readonly string[]): ReadonlyMap<string, BundleContent> {
  return new Map(
    named.map((text): [string, BundleContent] => {
      const at = text.indexOf('=')
      const directory = text.slice(at + 1)
      if (at < 1) throw new Error(`--bundle takes NAME=DIR, not "${printable(text)}"`)
      if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true)
        throw new Error(`${directory} is not a directory`)
      return [text.slice(0, at), contentOf(filesBelow(directory), {}, 'directory')]
    }),
  )
}

function wantedTarget(text: string): Target {
  const found = targetNamed(text)
  if (found === undefined) throw new Error(`--with takes ${targetIds.join(', ')}`)
  return found
}
