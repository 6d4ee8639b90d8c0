// `list packages|channels|bundles CATALOG`: prints the tables of `opm alpha list`.
import { tryParseJson } from '@catalog-bot/fbc/go/json/json'
import type { IndexedChannel, IndexedPackage } from '@catalog-bot/fbc/api/package-index'
import {
  buildServedCatalog,
  type ServedCatalog,
  parseServedCatalogFile,
} from '@catalog-bot/fbc/api/served-catalog'
import { assembleCatalog } from '@catalog-bot/fbc/facts/catalog'
import { validateAsOpm } from '@catalog-bot/fbc/model/validate-catalog'
import { escapeNonPrintableCharacters, formatTextTable } from '@catalog-bot/findings/printable'
import { quoteLikeGo } from '@catalog-bot/fbc/go/text'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { parseCatalogFile } from '@catalog-bot/fbc/load/parse-catalog-file'
import { readCatalogFiles, withRegistryClient } from './pulled-bundles.ts'
import { setExitCode, printToStdout, printJson, printToStderr } from './output.ts'
import { systemClock } from '../adapters/system-clock.ts'
import type { ImageLookupResult } from '../checks/lookups.ts'
import { listCatalogDirectoryFiles } from '../catalogs/catalog-directory.ts'
import {
  isReusableImageLookupResult,
  scanImages,
  type ImageScanProgress,
} from '../adapters/registry/scan-images.ts'

interface ImagesCommandOptions {
  readonly concurrency: number
  readonly output: 'text' | 'json'
  readonly resume?: string
  readonly insecureRegistry?: readonly string[]
}

export interface ListCommandOptions {
  readonly output: 'text' | 'json'
  readonly insecureRegistry?: readonly string[]
}

export type CatalogObjectKind = 'packages' | 'channels' | 'bundles'

export async function printCatalogObjects(
  kind: CatalogObjectKind,
  name: string,
  packageName: string | undefined,
  { output, insecureRegistry }: ListCommandOptions,
): Promise<void> {
  const files = (await readCatalogFiles(name, insecureRegistry)).map(({ path, bytes }) => ({
    path,
    file: parseServedCatalogFile(bytes()),
  }))
  const catalog = assembleCatalog(files.map(({ path, file }) => ({ path, facts: file.facts })))
  const rejection = catalog.loadErrors[0]?.message ?? validateAsOpm(catalog).message
  if (rejection !== undefined) return failWithOpmStyleError(rejection)
  const served = buildServedCatalog(files)
  if (!served.ok) return failWithOpmStyleError(served.error)
  const { index } = served.value
  if (packageName !== undefined && !index.has(packageName))
    return failWithOpmStyleError(`package ${quoteLikeGo(packageName)} not found`)
  const packages = [...index.values()].filter((one) => packageName === undefined || one.name === packageName)
  const rows = tableRowBuilderByObjectKind[kind](packages, served.value)
  if (output === 'json') printJson(rows)
  else
    printToStdout(
      formatTextTable(
        tableHeadingsByObjectKind[kind],
        rows.map((row) => Object.values(row).map(formatTableCell)),
      ),
    )
  setExitCode(0)
}

function failWithOpmStyleError(error: string): void {
  printToStderr(`Error: ${error}`)
  setExitCode(1)
}

const tableHeadingsByObjectKind: Readonly<Record<CatalogObjectKind, readonly string[]>> = {
  packages: ['NAME', 'DISPLAY NAME', 'DEFAULT CHANNEL'],
  channels: ['PACKAGE', 'CHANNEL', 'HEAD'],
  bundles: ['PACKAGE', 'CHANNEL', 'BUNDLE', 'REPLACES', 'SKIPS', 'SKIP RANGE', 'IMAGE'],
}

type ListTableRow = Readonly<Record<string, string | readonly string[]>>

const tableRowBuilderByObjectKind: Readonly<
  Record<
    CatalogObjectKind,
    (packages: readonly IndexedPackage[], served: ServedCatalog) => readonly ListTableRow[]
  >
> = {
  packages: (packages, served) =>
    packages.map((one) => ({
      name: one.name,
      displayName: getPackageDisplayName(one, served),
      defaultChannel: one.defaultChannel,
    })),
  channels: (packages) =>
    toChannelRows(packages, (one, channel) => [
      { package: one.name, channel: channel.name, head: channel.head },
    ]),
  bundles: (packages, served) =>
    toChannelRows(packages, (one, channel) =>
      [...channel.bundles.values()].map((bundle) => ({
        package: one.name,
        channel: channel.name,
        bundle: bundle.name,
        replaces: bundle.replaces,
        skips: bundle.skips,
        skipRange: bundle.skipRange,
        image: served.bundle(bundle)?.bundlePath ?? '',
      })),
    ),
}

function toChannelRows(
  packages: readonly IndexedPackage[],
  rows: (one: IndexedPackage, channel: IndexedChannel) => readonly ListTableRow[],
): readonly ListTableRow[] {
  return packages.flatMap((one) => [...one.channels.values()].flatMap((channel) => rows(one, channel)))
}

/** The display name of the default channel's head. opm reads only manifests, but olm.csv.metadata contains the name too. */
function getPackageDisplayName(one: IndexedPackage, served: ServedCatalog): string {
  const channel = one.channels.get(one.defaultChannel)
  const head = channel?.bundles.get(channel.head)
  const csv = head && served.bundle(head)?.csvJson
  const read = tryParseJson(csv ?? '') as { spec?: { displayName?: unknown } | null } | null | undefined
  const name = read?.spec?.displayName
  return typeof name === 'string' ? name : ''
}

/** Joins lists with commas, like opm. */
function formatTableCell(value: string | readonly string[]): string {
  return escapeNonPrintableCharacters(typeof value === 'string' ? value : value.join(','))
}

/**
 * `images DIR`: looks up every image that a catalog references in its registry. Exit code 0: all exist; 1: some
 * definitely don't exist; 2: the result is inconclusive for some images, or the command could not run.
 */
export async function checkCatalogImages(dir: string, options: ImagesCommandOptions): Promise<void> {
  const references = findCatalogImageReferences(dir)
  const { concurrency, resume } = options
  const scan = await withRegistryClient(options.insecureRegistry, (registry, report) =>
    scanImages(registry, references, {
      clock: systemClock,
      concurrency,
      ...(resume !== undefined && {
        earlier: readSavedImageLookups(resume),
        onAnswer: (reference: string, answer: ImageLookupResult) =>
          appendFileSync(resume, `${JSON.stringify({ reference, answer })}\n`),
      }),
      onProgress: (progress) => report(formatImageScanProgress(progress)),
    }),
  )
  if (options.output === 'json')
    for (const [reference, answer] of scan.answers) printJson({ reference, ...answer })
  else {
    for (const [reference, answer] of scan.answers)
      if (answer.kind !== 'ok')
        printToStdout(escapeNonPrintableCharacters(`${answer.kind}: ${reference}: ${answer.reason}`))
    for (const { host, total, byKind } of scan.registries)
      printToStdout(
        `${host === '' ? '(no registry)' : host}: ${total} (${Object.entries(byKind)
          .map(([kind, count]) => `${count} ${kind}`)
          .join(', ')})`,
      )
  }
  const absent = [...scan.answers.values()].filter(({ kind }) => kind !== 'ok')
  setExitCode(absent.some(isReusableImageLookupResult) ? 1 : absent.length > 0 ? 2 : 0)
}

function findCatalogImageReferences(dir: string): ReadonlySet<string> {
  const directory = listCatalogDirectoryFiles(dir)
  if (directory.kind !== 'files') throw new Error(directory.message)
  const references = new Set<string>()
  for (const file of directory.files) {
    const bytes = file.read()
    if ('error' in bytes) throw new Error(bytes.error)
    for (const { image, relatedImages } of parseCatalogFile(bytes).bundles)
      for (const reference of [image, ...relatedImages.map((related) => related.image)])
        if (reference !== '') references.add(reference)
  }
  return references
}

/** Skips an incomplete last line, so that its reference is looked up again. */
function readSavedImageLookups(file: string): ReadonlyMap<string, ImageLookupResult> {
  const earlier = new Map<string, ImageLookupResult>()
  if (!existsSync(file)) return earlier
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const saved = tryParseJson(line) as { reference: string; answer: ImageLookupResult } | null | undefined
    if (saved) earlier.set(saved.reference, saved.answer)
  }
  return earlier
}

function formatImageScanProgress({ done, total, rate, remaining }: ImageScanProgress): string {
  const left = remaining === undefined ? '' : `, ${Math.ceil(remaining)} s left`
  return `Looking up images: ${done} of ${total}, ${rate.toFixed(0)}/s${left}`
}
