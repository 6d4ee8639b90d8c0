// Every package of whole catalogs, every channel: how many OLM v0 and OLM v1 resolve, and why not the others. Opens no
// bundle and asks nobody. `node test/checks/install/live-catalogs.ts [-v] DIR...`; exit 1 where something is not known.
import { parseArgs } from 'node:util'
import { CatalogUnderTest } from '../../../src/checks/install/resolutions.ts'
import { readCatalogDirectory } from '../../../src/examine/catalogs/read-catalog.ts'

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { verbose: { type: 'boolean', short: 'v', default: false } },
})
const totals = new Map<string, number>()
const count = (what: string) => totals.set(what, (totals.get(what) ?? 0) + 1)
for (const dir of positionals) {
  const read = readCatalogDirectory(dir)
  if (read.kind !== 'catalog') throw new Error(`${dir}: ${read.message}`)
  const test = new CatalogUnderTest(read.catalog)
  const started = performance.now()
  for (const name of test.packages()) {
    count('packages')
    const resolved = (test.channelsOf(name) ?? []).map((channel) => {
      const resolution = test.resolveChannel(name, channel.name)
      look(`${dir} ${name}/${channel.name}`, resolution)
      return { isDefault: channel.isDefault, resolution }
    })
    if (resolved.some(({ isDefault, resolution }) => isDefault && resolution.fresh.kind === 'installs'))
      count('packages whose default channel OLM v0 installs')
    if (resolved.some(({ isDefault, resolution }) => isDefault && resolution.v1.kind === 'resolved'))
      count('packages whose default channel OLM v1 resolves')
  }
  console.log(`${dir}: ${test.packages().length} packages in ${(performance.now() - started).toFixed(0)} ms`)
}
for (const [what, number] of [...totals].sort()) console.log(`${String(number).padStart(7)}  ${what}`)
process.exitCode = [...totals.keys()].some((what) => what.includes('unknown')) ? 1 : 0

function look(
  where: string,
  { head, fresh, upgrades, unreachable, v1 }: ReturnType<CatalogUnderTest['resolveChannel']>,
) {
  count('channels')
  count(`channels: OLM v0 ${fresh.kind}`)
  if (fresh.kind === 'not satisfiable') tell(where, fresh.chain.join('; '))
  if (fresh.kind === 'error') tell(where, fresh.message)
  if (fresh.kind === 'unknown') tell(where, fresh.reason)
  if (fresh.kind === 'installs' && fresh.root.name !== head) {
    count('channels: not the head')
    tell(where, `${fresh.root.name} instead of ${head}`)
  }
  if (fresh.kind === 'installs' && fresh.companions.length > 0) count('channels: others come along')
  if (unreachable.length > 0) count('channels: with versions that cannot be installed')
  for (const path of upgrades) {
    const arrives = path.end.kind === 'settled' && path.end.at === head
    count(
      `upgrades: ${arrives ? 'reach the head' : path.end.kind === 'settled' ? 'stay below it' : path.end.kind}`,
    )
    if (!arrives) tell(where, `from ${path.from}: ${JSON.stringify(path.end).slice(0, 300)}`)
  }
  count(`channels: OLM v1 ${v1.kind === 'resolved' ? 'resolves' : v1.message.replaceAll(/"[^"]*"/g, '...')}`)
}

function tell(where: string, what: string) {
  if (values.verbose) console.log(`${where}: ${what}`)
}
