// Counts the packages and channels of entire catalogs that OLM v0 and OLM v1 resolve, and why the others fail. Opens no
// bundles and sends no requests.
// `node test/checks/install/live-catalogs.ts [-v] DIR...`; exits with 1 if a result is unknown.
import { parseArgs } from 'node:util'
import { CatalogUnderTest } from '../../../src/checks/install/resolutions.ts'
import { readCatalogDirectory } from '../../../src/catalogs/read-catalog-directory.ts'

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { verbose: { type: 'boolean', short: 'v', default: false } },
})
const countByResolutionOutcome = new Map<string, number>()
const countResolutionOutcome = (outcome: string) =>
  countByResolutionOutcome.set(outcome, (countByResolutionOutcome.get(outcome) ?? 0) + 1)
for (const dir of positionals) {
  const read = readCatalogDirectory(dir)
  if (read.kind !== 'catalog') throw new Error(`${dir}: ${read.message}`)
  const test = new CatalogUnderTest(read.catalog)
  const started = performance.now()
  for (const name of test.packages()) {
    countResolutionOutcome('packages')
    const resolved = (test.channelsOf(name) ?? []).map((channel) => {
      const resolution = test.resolveChannel(name, channel.name)
      countResolution(`${dir} ${name}/${channel.name}`, resolution)
      return { isDefault: channel.isDefault, resolution }
    })
    if (resolved.some(({ isDefault, resolution }) => isDefault && resolution.fresh.kind === 'installs'))
      countResolutionOutcome('packages whose default channel OLM v0 installs')
    if (resolved.some(({ isDefault, resolution }) => isDefault && resolution.v1.kind === 'resolved'))
      countResolutionOutcome('packages whose default channel OLM v1 resolves')
  }
  console.log(`${dir}: ${test.packages().length} packages in ${(performance.now() - started).toFixed(0)} ms`)
}
for (const [outcome, number] of [...countByResolutionOutcome].sort())
  console.log(`${String(number).padStart(7)}  ${outcome}`)
process.exitCode = [...countByResolutionOutcome.keys()].some((what) => what.includes('unknown')) ? 1 : 0

function countResolution(
  where: string,
  { head, fresh, upgrades, unreachable, v1 }: ReturnType<CatalogUnderTest['resolveChannel']>,
) {
  countResolutionOutcome('channels')
  countResolutionOutcome(`channels: OLM v0 ${fresh.kind}`)
  if (fresh.kind === 'not satisfiable') reportFailure(where, fresh.chain.join('; '))
  if (fresh.kind === 'error') reportFailure(where, fresh.message)
  if (fresh.kind === 'unknown') reportFailure(where, fresh.reason)
  if (fresh.kind === 'installs' && fresh.root.name !== head) {
    countResolutionOutcome('channels: not the head')
    reportFailure(where, `${fresh.root.name} instead of ${head}`)
  }
  if (fresh.kind === 'installs' && fresh.companions.length > 0)
    countResolutionOutcome('channels: others come along')
  if (unreachable.length > 0) countResolutionOutcome('channels: with versions that cannot be installed')
  for (const path of upgrades) {
    const arrives = path.end.kind === 'settled' && path.end.at === head
    countResolutionOutcome(
      `upgrades: ${arrives ? 'reach the head' : path.end.kind === 'settled' ? 'stay below it' : path.end.kind}`,
    )
    if (!arrives) reportFailure(where, `from ${path.from}: ${JSON.stringify(path.end).slice(0, 300)}`)
  }
  countResolutionOutcome(
    `channels: OLM v1 ${v1.kind === 'resolved' ? 'resolves' : v1.message.replaceAll(/"[^"]*"/g, '...')}`,
  )
}

function reportFailure(where: string, message: string) {
  if (values.verbose) console.log(`${where}: ${message}`)
}
