// `list packages|channels|bundles CATALOG`: the tables of `opm alpha list`. Exit 1 in opm's words where it would not load the
// catalog or knows no such package, 2 when the command could not run.
import type { ApiBundle } from '../catalog/api/api-types.ts'
import type { IndexedBundle, IndexedChannel, IndexedPackage } from '../catalog/api/package-index.ts'
import { servedCatalog, type ServedCatalog } from '../catalog/api/served-catalog.ts'
import { readServedFile } from '../catalog/api/served-file.ts'
import { assemble } from '../catalog/facts/assemble.ts'
import { validateAsOpm } from '../catalog/model/validate-as-opm.ts'
import { columns } from '../findings/columns.ts'
import { printable } from '../findings/printable.ts'
import { quote } from '../go/text.ts'
import { catalogFiles } from './catalog-source.ts'
import { exitWith, print, printJson, say } from './output.ts'

export interface ListOptions {
  readonly output: 'text' | 'json'
  readonly insecureRegistry?: readonly string[]
}

export type ListKind = 'packages' | 'channels' | 'bundles'

export async function list(
  kind: ListKind,
  name: string,
  packageName: string | undefined,
  { output, insecureRegistry }: ListOptions,
): Promise<void> {
  const files = (await catalogFiles(name, insecureRegistry)).map(({ path, bytes }) => ({
    path,
    file: readServedFile(bytes()),
  }))
  const catalog = assemble(files.map(({ path, file }) => ({ path, facts: file.facts })))
  const refusal = catalog.loadErrors[0]?.message ?? validateAsOpm(catalog).message
  if (refusal !== undefined) return refuse(refusal)
  const served = servedCatalog(files)
  if (!served.ok) return refuse(served.error)
  const { index } = served.value
  if (packageName !== undefined && !index.has(packageName))
    return refuse(`package ${quote(packageName)} not found`)
  const packages = [...index.values()].filter((one) => packageName === undefined || one.name === packageName)
  const rows = rowsOf[kind](packages, served.value)
  if (output === 'json') printJson(rows)
  else
    print(
      columns(
        headings[kind],
        rows.map((row) => Object.values(row).map(cell)),
      ),
    )
  exitWith(0)
}

function refuse(error: string): void {
  say(`Error: ${error.split('\n').map(printable).join('\n')}`)
  exitWith(1)
}

const headings: Readonly<Record<ListKind, readonly string[]>> = {
  packages: ['NAME', 'DISPLAY NAME', 'DEFAULT CHANNEL'],
  channels: ['PACKAGE', 'CHANNEL', 'HEAD'],
  bundles: ['PACKAGE', 'CHANNEL', 'BUNDLE', 'REPLACES', 'SKIPS', 'SKIP RANGE', 'IMAGE'],
}

type Row = Readonly<Record<string, string | readonly string[]>>

const rowsOf: Readonly<
  Record<ListKind, (packages: readonly IndexedPackage[], served: ServedCatalog) => readonly Row[]>
> = {
  packages: (packages, served) =>
    packages.map((one) => ({
      name: one.name,
      displayName: displayName(one, served),
      defaultChannel: one.defaultChannel,
    })),
  channels: (packages) =>
    eachChannel(packages, (one, channel) => [
      { package: one.name, channel: channel.name, head: channel.head },
    ]),
  bundles: (packages, served) =>
    eachChannel(packages, (one, channel) =>
      [...channel.bundles.values()].map((bundle) => ({
        package: one.name,
        channel: channel.name,
        bundle: bundle.name,
        replaces: bundle.replaces,
        skips: bundle.skips,
        skipRange: bundle.skipRange,
        image: read(served, bundle)?.bundlePath ?? '',
      })),
    ),
}

function eachChannel(
  packages: readonly IndexedPackage[],
  rows: (one: IndexedPackage, channel: IndexedChannel) => readonly Row[],
): readonly Row[] {
  return packages.flatMap((one) => [...one.channels.values()].flatMap((channel) => rows(one, channel)))
}

function read(served: ServedCatalog, { package: of, channel, name }: IndexedBundle): ApiBundle | undefined {
  return served.bundle({ package: of, channel, name })
}

/** What the head of the default channel calls itself. opm looks into manifests alone; olm.csv.metadata says it too. */
function displayName(one: IndexedPackage, served: ServedCatalog): string {
  const channel = one.channels.get(one.defaultChannel)
  const head = channel?.bundles.get(channel.head)
  const csv = head && read(served, head)?.csvJson
  try {
    const { spec } = JSON.parse(csv ?? '') as { spec?: { displayName?: unknown } }
    return typeof spec?.displayName === 'string' ? spec.displayName : ''
  } catch {
    return ''
  }
}

/** opm joins a list by commas. */
function cell(value: string | readonly string[]): string {
  return printable(typeof value === 'string' ? value : value.join(','))
}
