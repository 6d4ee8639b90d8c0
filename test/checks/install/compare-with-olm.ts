// Compares our resolver with OLM's on generated problems: how often they agree, and where they differ. Builds OLM's
// resolver from its Go module first, which takes some minutes, unless `--program PATH` names a built one.
// `node test/checks/install/compare-with-olm.ts [--problems N] [--from SEED] [--program PATH]` exits with 1 if they
// differ.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { NamespaceResolution } from '../../../src/checks/install/resolve/resolve-namespace.ts'
import { findGoCommand } from '../../go-readers/go-readers.ts'
import { createRandomResolutionProblem, type ResolutionProblem } from './random-problem.ts'
import { resolverCases } from './resolver-cases.ts'
import { solveResolutionProblem } from './resolve-problem.ts'
import { parseResolutionProblem } from './parse-catalog-lines.ts'

interface OlmResolverOutput {
  readonly refused?: string
  readonly error?: string
  readonly set?: readonly {
    readonly name: string
    readonly package: string
    readonly channel: string
    readonly catalog: string
    readonly replaces: string
  }[]
}

const { values } = parseArgs({
  options: {
    problems: { type: 'string', default: '2000' },
    from: { type: 'string', default: '1' },
    program: { type: 'string' },
    show: { type: 'string', default: '5' },
  },
})

const olmResolverBuildDirectory =
  values.program === undefined ? mkdtempSync(join(tmpdir(), 'olm-resolver-')) : undefined
const olmResolverProcess = spawn(
  values.program ?? buildOlmResolver(join(olmResolverBuildDirectory ?? '', 'olm-resolver')),
  { stdio: ['pipe', 'pipe', 'inherit'] },
)
let matchingResolverCaseCount = 0
const pendingOlmResponseHandlers: ((answer: OlmResolverOutput) => void)[] = []
createInterface({ input: olmResolverProcess.stdout }).on('line', (line) =>
  pendingOlmResponseHandlers.shift()?.(JSON.parse(line) as OlmResolverOutput),
)

for (const { claim, catalog, subscriptions, gives } of resolverCases) {
  const { refused, error, set } = await resolveWithOlm(parseResolutionProblem(catalog, subscriptions))
  const names = (set ?? []).map(({ name }) => name).sort()
  // A chain that can be cut in several ways can have other wording, but the kind of result is the same.
  const isSame =
    typeof gives === 'string' ? error !== undefined : error === undefined && names.join() === gives.join()
  if (!isSame)
    console.log(`case "${claim}": we say ${String(gives)}, OLM ${refused ?? error ?? names.join()}`)
  if (isSame) matchingResolverCaseCount++
}
console.log(
  `${matchingResolverCaseCount} of the ${resolverCases.length} cases of resolver-cases.yaml are as OLM has them`,
)
const resolutionCountByOutcome = new Map<string, number>()
let printedDifferenceCount = 0
for (let seed = Number(values.from), end = seed + Number(values.problems); seed < end; seed++) {
  const problem = createRandomResolutionProblem(seed)
  const theirs = await resolveWithOlm(problem)
  const ours = solveResolutionProblem(problem)
  let kind = compareResolutionWithOlm(problem, ours, theirs)
  // OLM passes mandatory items to its solver in the order of a Go map, so with more than one its result can change.
  const mandatory =
    problem.subscriptions.length + problem.installed.filter((one) => one.subscription === '').length
  for (let again = 0; again < 30 && kind.startsWith('differ') && mandatory > 1; again++)
    if (!compareResolutionWithOlm(problem, ours, await resolveWithOlm(problem)).startsWith('differ'))
      kind = "agree: with one of OLM's answers, which change from run to run"
  resolutionCountByOutcome.set(kind, (resolutionCountByOutcome.get(kind) ?? 0) + 1)
  if (!kind.startsWith('differ') || printedDifferenceCount++ >= Number(values.show)) continue
  console.log(
    `seed ${seed}: ${kind}\n  ours:   ${JSON.stringify(summarizeResolution(ours))}\n  theirs: ${JSON.stringify(theirs)}`,
  )
}
olmResolverProcess.stdin.end()
if (olmResolverBuildDirectory !== undefined) rmSync(olmResolverBuildDirectory, { recursive: true })
for (const [kind, count] of [...resolutionCountByOutcome].sort())
  console.log(`${String(count).padStart(7)}  ${kind}`)
const hasResolverDifferences = [...resolutionCountByOutcome.keys()].some((kind) => kind.startsWith('differ'))
process.exitCode = hasResolverDifferences || matchingResolverCaseCount < resolverCases.length ? 1 : 0

function compareResolutionWithOlm(
  problem: ResolutionProblem,
  ours: NamespaceResolution,
  { refused, error, set }: OlmResolverOutput,
): string {
  if (refused !== undefined) return 'left out: opm refuses the catalog'
  if (ours.kind === 'unknown') return 'left out: we do not know'
  if (error !== undefined) {
    const isUnsatisfiable = error.startsWith('constraints not satisfiable')
    if (ours.kind === 'resolved') return 'differ: they fail, we do not'
    if (isUnsatisfiable !== (ours.kind === 'not satisfiable')) return 'differ: in the kind of failure'
    if (!isUnsatisfiable)
      return ours.message === error ? 'agree: same error' : 'agree: an error in other words'
    return ours.message === error ? 'agree: same constraints' : 'agree: not satisfiable, other constraints'
  }
  if (ours.kind !== 'resolved') return 'differ: we fail, they do not'
  // Without a channel, OLM takes any entry of a bundle that is in several channels, so the entry changes between runs.
  const anyChannel = problem.subscriptions.some(({ channel }) => channel === '')
  const shownSet = (set ?? []).map(({ name, channel, catalog, replaces }) =>
    [catalog, name, ...(anyChannel ? [] : [replaces, channel])].join(' '),
  )
  const ourSet = ours.bundles.map(({ entry, replaces }) =>
    [
      entry.catalog,
      entry.name,
      ...(anyChannel ? [] : [replaces === '' ? entry.replaces : replaces, entry.channel]),
    ].join(' '),
  )
  if (shownSet.toSorted().join('\n') !== ourSet.toSorted().join('\n')) {
    const names = ours.bundles.map(({ entry }) => `${entry.catalog} ${entry.name}`)
    const theirNames = (set ?? []).map(({ catalog, name }) => `${catalog} ${name}`)
    // A choice that OLM's search has backtracked over stays at the end, so that no candidate is preferred anymore.
    return names.toSorted().join() === theirNames.toSorted().join()
      ? 'explained: the same bundles, of a channel that OLM forgot to prefer'
      : 'differ: in the set'
  }
  return shownSet.length === 0
    ? 'agree: nothing new'
    : `agree: the same set of ${Math.min(shownSet.length, 4)}`
}

function summarizeResolution(resolution: NamespaceResolution) {
  if (resolution.kind !== 'resolved') return resolution
  return resolution.bundles.map(
    ({ entry, replaces }) => `${entry.catalog}/${entry.channel}/${entry.name} ${replaces}`,
  )
}

function resolveWithOlm({
  catalogs,
  installed,
  subscriptions,
}: ResolutionProblem): Promise<OlmResolverOutput> {
  const query = {
    Catalogs: catalogs.map(({ name, priority, blobs }) => ({ Name: name, Priority: priority, Blobs: blobs })),
    Installed: installed.map((one) => ({
      Name: one.name,
      Version: one.version,
      Package: one.package,
      Properties: one.properties,
      Subscription: one.subscription,
    })),
    Subscriptions: subscriptions.map((one) => ({
      Name: one.name,
      Package: one.package,
      Channel: one.channel,
      Catalog: one.catalog,
      StartingCSV: one.startingCsv,
      InstalledCSV: one.installedCsv,
    })),
  }
  return new Promise((resolve) => {
    pendingOlmResponseHandlers.push(resolve)
    olmResolverProcess.stdin.write(`${JSON.stringify(query)}\n`)
  })
}

function buildOlmResolver(program: string): string {
  const go = findGoCommand()
  if (go === undefined) throw new Error('there is no go here; name a built program with --program')
  const tags = ['-p', '1', '-tags', 'json1,containers_image_openpgp', '-gcflags=all=-dwarf=false']
  const { status, stderr } = spawnSync(go, ['build', ...tags, '-o', program, '.'], {
    cwd: fileURLToPath(new URL('../../olm-resolver/', import.meta.url)),
    encoding: 'utf8',
    env: { ...process.env, GOTOOLCHAIN: 'local', CGO_ENABLED: '0', GOFLAGS: '' },
  })
  if (status !== 0) throw new Error(`OLM's resolver could not be built: ${stderr}`)
  return program
}
