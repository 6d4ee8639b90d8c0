// Counts the packages and channels of entire catalogs that OLM v0 and OLM v1 resolve, and why the others fail. Opens no
// bundles and sends no requests.
// `node test/checks/install/live-catalogs.ts [-v] DIR...`; exits with 1 if a result is unknown.
import { parseArgs } from 'node:util'
import { CatalogUnderTest } from '../../../src/checks/install/resolutions.ts'
import { readCatalogDirectory } from '../../../src/catalogs/catalog-directory.ts'

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { verbose: { type: 'boolean', short: 'v', default: false } },
})
const resolutionCountByOutcome = new Map<string, number>()
const incrementResolutionOutcomeCount = (outcome: string) =>
  resolutionCountByOutcome.set(outcome, (resolutionCountByOutcome.get(outcome) ?? 0) + 1)
for (const dir of positionals) {
  const read = readCatalogDirectory(dir)
  if (read.kind !== 'catalog') throw new Error(`${dir}: ${read.message}`)
  const test = new CatalogUnderTest(read.catalog)
  const started = performance.now()
  for (const name of test.packages()) {
    incrementResolutionOutcomeCount('packages')
    const resolved = (test.channelsOf(name) ?? []).map((channel) => {
      const resolution = test.resolveChannel(name, channel.name)
      countChannelResolutions(`${dir} ${name}/${channel.name}`, resolution)
      return { isDefault: channel.isDefault, resolution }
    })
    if (resolved.some(({ isDefault, resolution }) => isDefault && resolution.fresh.kind === 'installs'))
      incrementResolutionOutcomeCount('packages whose default channel OLM v0 installs')
    if (resolved.some(({ isDefault, resolution }) => isDefault && resolution.v1.kind === 'resolved'))
      incrementResolutionOutcomeCount('packages whose default channel OLM v1 resolves')
  }
  console.log(`${dir}: ${test.packages().length} packages in ${(performance.now() - started).toFixed(0)} ms`)
}
for (const [outcome, number] of [...resolutionCountByOutcome].sort())
  console.log(`${String(number).padStart(7)}  ${outcome}`)
process.exitCode = [...resolutionCountByOutcome.keys()].some((what) => what.includes('unknown')) ? 1 : 0

function countChannelResolutions(
  where: string,
  { head, fresh, upgrades, unreachable, v1 }: ReturnType<CatalogUnderTest['resolveChannel']>,
) {
  incrementResolutionOutcomeCount('channels')
  incrementResolutionOutcomeCount(`channels: OLM v0 ${fresh.kind}`)
  if (fresh.kind === 'not satisfiable') logResolutionFailure(where, fresh.chain.join('; '))
  if (fresh.kind === 'error') logResolutionFailure(where, fresh.message)
  if (fresh.kind === 'unknown') logResolutionFailure(where, fresh.reason)
  if (fresh.kind === 'installs' && fresh.root.name !== head) {
    incrementResolutionOutcomeCount('channels: not the head')
    logResolutionFailure(where, `${fresh.root.name} instead of ${head}`)
  }
  if (fresh.kind === 'installs' && fresh.companions.length > 0)
    incrementResolutionOutcomeCount('channels: others come along')
  if (unreachable.length > 0)
    incrementResolutionOutcomeCount('channels: with versions that cannot be installed')
  for (const path of upgrades) {
    const arrives = path.end.kind === 'settled' && path.end.at === head
    incrementResolutionOutcomeCount(
      `upgrades: ${arrives ? 'reach the head' : path.end.kind === 'settled' ? 'stay below it' : path.end.kind}`,
    )
    if (!arrives) logResolutionFailure(where, `from ${path.from}: ${JSON.stringify(path.end).slice(0, 300)}`)
  }
  incrementResolutionOutcomeCount(
    `channels: OLM v1 ${v1.kind === 'resolved' ? 'resolves' : v1.message.replaceAll(/"[^"]*"/g, '...')}`,
  )
}

function logResolutionFailure(where: string, message: string) {
  if (values.verbose) console.log(`${where}: ${message}`)
}
